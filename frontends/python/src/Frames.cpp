//===- Frames.cpp - a look into frames of Python --------------------------===//
#include "frontends/python/src/Frames.h"

#define Py_BUILD_CORE 1
#include <frameobject.h>
#include <internal/pycore_frame.h>
#include <opcode.h>

namespace tess::python {

PyObject *FrameStack::value(int below) const {
  auto *inner = frame->f_frame;
#if PY_VERSION_HEX >= 0x030d0000
  PyCodeObject *code = _PyFrame_GetCode(inner);
#else
  PyCodeObject *code = inner->f_code;
#endif
  return below < depth ? inner->localsplus[code->co_nlocalsplus + depth - 1 - below] : nullptr;
}

PyObject *localValue(PyFrameObject *frame, int number) { return frame->f_frame->localsplus[number]; }

PyObject *functionOf(PyFrameObject *frame) {
#if PY_VERSION_HEX >= 0x030c0000
  PyObject *function = frame->f_frame->f_funcobj;
#else
  auto *function = reinterpret_cast<PyObject *>(frame->f_frame->f_func);
#endif
  return function && PyFunction_Check(function) ? function : nullptr;
}

Instruction instructionAt(PyObject *bytes, int offset) {
  const auto *code = reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(bytes));
  int first = offset;
  while (first >= 2 && code[first - 2] == EXTENDED_ARG)
    first -= 2;
  Instruction result;
  for (int at = first; at + 1 < PyBytes_GET_SIZE(bytes); at += 2) {
    result = {code[at], result.arg << 8 | code[at + 1]};
    if (result.op != EXTENDED_ARG)
      break;
  }
  return result;
}

bool callAt(const FrameStack &stack, Instruction instruction, FrameCall &call) {
  if (instruction.op == CALL_FUNCTION_EX) {
    int flag = instruction.arg & 1;
    int callable = flag + (PY_VERSION_HEX >= 0x030d0000 ? 2 : 1); // an empty place lies above it from then on
    call = {stack.value(callable), nullptr, 0, 0, stack.value(flag), flag ? stack.value(0) : nullptr};
    return call.callable;
  }
#ifdef CALL_KW
  if (instruction.op == CALL_KW)
    call.above = 1;
  else
#endif
      if (instruction.op != CALL)
    return false;
  call.numArgs = instruction.arg;
  PyObject *upper = stack.value(call.above + call.numArgs), *lower = stack.value(call.above + call.numArgs + 1);
#if PY_VERSION_HEX >= 0x030d0000
  call.callable = lower, call.self = upper;
#else
  call.callable = lower ? lower : upper, call.self = lower ? upper : nullptr;
#endif
  return call.callable;
}

} // namespace tess::python
