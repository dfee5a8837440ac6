//===- CallWatch.cpp - calls of this thread, told to who records ----------===//
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/Module.h"

namespace tess::python {

static thread_local CallWatch *current = nullptr;

bool CallWatch::isListening() { return current && !current->isMuted; }

void CallWatch::start() {
  current = this;
  if (numAtWork++ == 0)
    setFrameHook(&CallWatch::evaluateFrame);
}

void CallWatch::stop() {
  current = nullptr;
  if (--numAtWork == 0)
    setFrameHook(nullptr);
}

PyObject *CallWatch::call(PyObject *callable, PyObject *args, PyObject *kwargs) {
  nb::object named = kwargs ? nb::borrow(kwargs) : nb::steal(PyDict_New());
  nb::object method = nb::borrow(current->listener).attr("call");
  return PyObject_CallFunctionObjArgs(method.ptr(), callable, args, named.ptr(), nullptr);
}

PyObject *CallWatch::call(PyObject *callable, PyObject *const *args, size_t count, PyObject *names) {
  nb::object positional = nb::steal(PyTuple_New(count));
  for (size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(positional.ptr(), i, Py_NewRef(args[i]));
  nb::object named = nb::steal(PyDict_New());
  for (Py_ssize_t k = 0, n = names ? PyTuple_GET_SIZE(names) : 0; k < n; ++k)
    if (PyDict_SetItem(named.ptr(), PyTuple_GET_ITEM(names, k), args[count + k]))
      return nullptr;
  return call(callable, positional.ptr(), named.ptr());
}

PyObject *CallWatch::callMethod(PyObject *self, const char *name, std::initializer_list<PyObject *> args) {
  nb::object positional = nb::steal(PyTuple_New(args.size()));
  Py_ssize_t i = 0;
  for (PyObject *arg : args)
    PyTuple_SET_ITEM(positional.ptr(), i++, Py_NewRef(arg));
  nb::object method = nb::borrow(current->listener).attr("call_method");
  nb::str text(name);
  return PyObject_CallFunctionObjArgs(method.ptr(), self, text.ptr(), positional.ptr(), nb::dict().ptr(), nullptr);
}

PyObject *CallWatch::evaluateFrame(const NewFrame &frame) {
  if (!isListening())
    return frame.run();
  PyObject *function = frame.function();
  if (!function || !PyDict_Contains(current->functions.ptr(), function))
    return frame.run();
  return current->evaluate(frame, function);
}

/// A frame that is not to run must still be evaluated, which gives its memory back: it raises what is set.
static PyObject *abandon(const NewFrame &frame) {
  NewFrame raising = frame;
  raising.throwFlag = 1;
  return raising.run();
}

PyObject *CallWatch::evaluate(const NewFrame &frame, PyObject *function) {
  nb::list values;
  for (int i = 0; i < frame.numParameters(); ++i)
    values.append(nb::handle(frame.parameter(i)));
  nb::object entered = nb::steal(
      PyObject_CallFunctionObjArgs(nb::object(listener.attr("enter")).ptr(), function, values.ptr(), nullptr));
  if (!entered)
    return abandon(frame);
  return entered.is_none() ? frame.run() : run(frame, nb::borrow<nb::tuple>(entered));
}

PyObject *CallWatch::run(const NewFrame &frame, const nb::tuple &entered) {
  nb::list values = nb::borrow<nb::list>(entered[1]);
  for (int i = 0; i < frame.numParameters(); ++i)
    frame.setParameter(i, nb::object(values[i]).ptr());
  nb::object token = entered[0], kept = listener; // whatever the function does
  bool before = setMuted(PyObject_IsTrue(nb::object(entered[2]).ptr()));
  nb::object result = nb::steal(frame.run());
  setMuted(before);
  if (result)
    return PyObject_CallFunctionObjArgs(nb::object(kept.attr("leave")).ptr(), token.ptr(), result.ptr(), nullptr);
  nb::python_error raised;
  nb::steal(PyObject_CallFunctionObjArgs(nb::object(kept.attr("fail")).ptr(), token.ptr(), nullptr));
  PyErr_Clear();
  raised.restore();
  return nullptr;
}

void initCallWatch(nb::module_ &module) {
  nb::class_<CallWatch>(module, "CallWatch", "Calls on this thread, told to a listener.")
      .def(nb::init<nb::dict, nb::object>(), nb::arg("functions"), nb::arg("listener"))
      .def("start", &CallWatch::start)
      .def("stop", &CallWatch::stop)
      .def("set_muted", &CallWatch::setMuted, nb::arg("value"), "Whether calls are not told; returns what it was.");
}

} // namespace tess::python
