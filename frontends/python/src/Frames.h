//===- Frames.h - a look into frames of Python ------------------*- C++ -*-===//
//
// The operands of the next instruction, which Python does not tell: the layout is
// the interpreter's own (its internal headers), and changes with its version.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

namespace tess::python {

/// The stack of a frame, which has `depth` values (StackDepths.h).
struct FrameStack {
  PyFrameObject *frame;
  int depth;

  /// The value `below` the top, 0 being the top; null: none there. Not owned.
  PyObject *value(int below) const;
};
/// A variable of the frame by its number, closures behind locals; null: not set. Not owned.
PyObject *localValue(PyFrameObject *frame, int number);
/// The function that the frame runs; null: none. Not owned.
PyObject *functionOf(PyFrameObject *frame);

/// An instruction, its argument with those of EXTENDED_ARG before it.
struct Instruction {
  int op = 0, arg = 0;
};
/// The one at `offset` bytes in code (PyCode_GetCode).
Instruction instructionAt(PyObject *bytes, int offset);

/// A call about to run: its callable, and its arguments with `self`, as far as the stack tells them.
struct FrameCall {
  PyObject *callable = nullptr;
  PyObject *self = nullptr;
  int numArgs = 0;                             // on the stack, without self
  int above = 0;                               // values above these: the names of keywords
  PyObject *args = nullptr, *kwargs = nullptr; // of CALL_FUNCTION_EX
};
/// Reads the call into `call`; false where the instruction is none.
bool callAt(const FrameStack &stack, Instruction instruction, FrameCall &call);

} // namespace tess::python
