//===- NewFrame.cpp - a call of a Python function about to run ------------===//
#include "frontends/python/src/NewFrame.h"

#define Py_BUILD_CORE 1
#include <frameobject.h>
#include <internal/pycore_frame.h>

namespace tess::python {

static FrameHook hooked = nullptr;
static _PyFrameEvalFunction before = nullptr;

static PyCodeObject *codeOf(const NewFrame &of) {
#if PY_VERSION_HEX >= 0x030d0000
  return _PyFrame_GetCode(of.frame);
#else
  return of.frame->f_code;
#endif
}

PyObject *NewFrame::function() const {
#if PY_VERSION_HEX >= 0x030c0000
  PyObject *function = frame->f_funcobj;
#else
  auto *function = reinterpret_cast<PyObject *>(frame->f_func);
#endif
  constexpr int kOther = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  bool isPlain = function && PyFunction_Check(function) && !throwFlag && !(codeOf(*this)->co_flags & kOther);
  return isPlain ? function : nullptr;
}

int NewFrame::numParameters() const {
  PyCodeObject *code = codeOf(*this);
  return code->co_argcount + code->co_kwonlyargcount + bool(code->co_flags & CO_VARARGS) +
         bool(code->co_flags & CO_VARKEYWORDS);
}

PyObject *NewFrame::parameter(int number) const { return frame->localsplus[number]; }

void NewFrame::setParameter(int number, PyObject *value) const {
  Py_XSETREF(frame->localsplus[number], Py_NewRef(value));
}

PyObject *NewFrame::run() const {
  return before ? before(thread, frame, throwFlag) : _PyEval_EvalFrameDefault(thread, frame, throwFlag);
}

static PyObject *evaluate(PyThreadState *thread, _PyInterpreterFrame *frame, int throwFlag) {
  NewFrame made{thread, frame, throwFlag};
  return hooked ? hooked(made) : made.run();
}

void setFrameHook(FrameHook hook) {
  PyInterpreterState *interpreter = PyInterpreterState_Get();
  hooked = hook;
  _PyFrameEvalFunction present = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  if (hook && present != evaluate) {
    before = present == _PyEval_EvalFrameDefault ? nullptr : present;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
  } else if (!hook && present == evaluate) {
    _PyInterpreterState_SetEvalFrameFunc(interpreter, before ? before : _PyEval_EvalFrameDefault);
  }
}

} // namespace tess::python
