//===- CallWatch.h - calls of this thread, told to who records ---*- C++ -*-===//
//
// A module that is recorded at the level of calls needs to know of calls of the
// package's functions, and to give them other arguments and results. Operators
// ask here before they run; frames of functions in Python are evaluated by
// evaluateFrame() while any watch is at work (PEP 523), so that nothing is put
// in a function's place, and no call pays for it otherwise.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/python/src/NewFrame.h"

#include "llvm/Support/Compiler.h"

namespace tess::python {

namespace nb = nanobind;

/// Tells `listener` of calls on the thread that starts it, unless it is muted.
///
/// `listener.call(callable, args, kwargs)` stands for the call of an operator or a class, and
/// `listener.call_method(tensor, name, args, kwargs)` for that of an operator of Python's. For a frame
/// `listener.enter(function, values)` gets the values of the parameters, and returns None for a call that does not
/// concern it, or (token, values, muted): the function then runs with these values, muted or not, and
/// `leave(token, result)` gives what the caller sees, or `fail(token)` is told of an exception.
class CallWatch {
public:
  CallWatch(nb::dict functions, nb::object listener) : functions(std::move(functions)), listener(std::move(listener)) {}

  void start();
  void stop();
  /// Returns whether it was before.
  bool setMuted(bool value) { return std::exchange(isMuted, value); }

  /// Whether a call of this thread is to be told.
  static bool listens() { return LLVM_UNLIKELY(numAtWork) && isListening(); }
  static PyObject *call(PyObject *callable, PyObject *args, PyObject *kwargs);
  static PyObject *call(PyObject *callable, PyObject *const *args, size_t count, PyObject *names);
  /// Stands for a call of the method `name` of a tensor.
  static PyObject *callMethod(PyObject *self, const char *name, std::initializer_list<PyObject *> args);

private:
  static bool isListening();
  static PyObject *evaluateFrame(const NewFrame &frame);
  PyObject *evaluate(const NewFrame &frame, PyObject *function);
  PyObject *run(const NewFrame &frame, const nb::tuple &entered);

  inline static int numAtWork = 0;
  nb::dict functions; // those whose frames count, as keys
  nb::object listener;
  bool isMuted = false;
};

} // namespace tess::python
