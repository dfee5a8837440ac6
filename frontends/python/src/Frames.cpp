//===- Frames.cpp - a look into frames of Python --------------------------===//
#include "frontends/python/src/Frames.h"

#define Py_BUILD_CORE 1
#include <frameobject.h>
#include <internal/pycore_frame.h>
#include <opcode.h>

namespace tess::python {

int stackDepth(PyFrameObject *frame) {
  auto *inner = frame->f_frame;
#if PY_VERSION_HEX >= 0x030d0000
  return int(inner->stacktop - _PyFrame_GetCode(inner)->co_nlocalsplus);
#else
  return inner->stacktop - inner->f_code->co_nlocalsplus;
#endif
}

PyObject *stackValue(PyFrameObject *frame, int depth) {
  return depth < stackDepth(frame) ? frame->f_frame->localsplus[frame->f_frame->stacktop - 1 - depth] : nullptr;
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

bool callAt(PyFrameObject *frame, Instruction instruction, FrameCall &call) {
  if (instruction.op == CALL_FUNCTION_EX) {
    int flag = instruction.arg & 1;
    call = {stackValue(frame, 1 + flag), nullptr, 0, stackValue(frame, flag), flag ? stackValue(frame, 0) : nullptr};
    return call.callable;
  }
  int above = 0;
#ifdef CALL_KW
  if (instruction.op == CALL_KW)
    above = 1; // the names of keywords
  else
#endif
      if (instruction.op != CALL)
    return false;
  call.numArgs = instruction.arg;
  PyObject *upper = stackValue(frame, above + call.numArgs), *lower = stackValue(frame, above + call.numArgs + 1);
#if PY_VERSION_HEX >= 0x030d0000
  call.callable = lower, call.self = upper;
#else
  call.callable = lower ? lower : upper, call.self = lower ? upper : nullptr;
#endif
  return call.callable;
}

} // namespace tess::python
