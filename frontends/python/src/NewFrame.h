//===- NewFrame.h - a call of a Python function about to run ----*- C++ -*-===//
//
// As Frames.h, of the interpreter's own layout: frames that a hook evaluates.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

struct _PyInterpreterFrame;

namespace tess::python {

/// A frame before its first instruction.
struct NewFrame {
  PyThreadState *thread;
  _PyInterpreterFrame *frame;
  int throwFlag;

  /// The function that it runs; null: none, or a generator's. Not owned.
  PyObject *function() const;
  /// Parameters, those of `*args` and `**kwargs` behind the others.
  int numParameters() const;
  PyObject *parameter(int number) const;
  void setParameter(int number, PyObject *value) const;
  /// Runs it; a new reference, or null with an exception.
  PyObject *run() const;
};

using FrameHook = PyObject *(*)(const NewFrame &frame);

/// Has `hook` evaluate every frame of the interpreter from now on; null: nobody does, or who did before.
void setFrameHook(FrameHook hook);

} // namespace tess::python
