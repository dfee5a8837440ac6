//===- PythonState.cpp - comparison of Python's state with a recording's -===//
//
// At each call a traced function checks the values that its recording may have
// read from dicts, lists and variables. Most of them are still the very same
// objects.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/PythonState.h"
#include "frontends/python/src/Module.h"

namespace tess::python {

namespace {

bool isSame(PyObject *a, PyObject *b);

bool areSame(PyObject *const *a, PyObject *const *b, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i)
    if (a[i] != b[i] && !isSame(a[i], b[i]))
      return false;
  return true;
}

bool isSameSequence(PyObject *a, PyObject *b) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(a);
  return count == PySequence_Fast_GET_SIZE(b) && areSame(PySequence_Fast_ITEMS(a), PySequence_Fast_ITEMS(b), count);
}

bool areEqual(PyObject *a, PyObject *b) {
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0)
    PyErr_Clear();
  return equal > 0;
}

bool isSameNumber(double a, double b) {
  return __builtin_bit_cast(int64_t, a) == __builtin_bit_cast(int64_t, b) || (a != a && b != b);
}

/// Compares values of plain types and tuples by type and bits, and any other objects by identity.
bool isSame(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (Py_TYPE(a) != Py_TYPE(b))
    return false;
  if (PyFloat_Check(a))
    return isSameNumber(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
  if (PyComplex_CheckExact(a)) {
    Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return isSameNumber(x.real, y.real) && isSameNumber(x.imag, y.imag);
  }
  if (PyTuple_Check(a))
    return isSameSequence(a, b);
  return (PyLong_Check(a) || PyUnicode_CheckExact(a) || PyBytes_CheckExact(a)) && areEqual(a, b);
}

/// Whether the dict holds the values under the names; with `isWhole`, also whether it holds no others.
bool holdsDict(PyObject *dict, PyObject *names, PyObject *values, bool isWhole) {
  Py_ssize_t count = PyTuple_GET_SIZE(names), position = 0, i = 0;
  if (isWhole && PyDict_GET_SIZE(dict) != count)
    return false;
  PyObject *name, *value;
  if (isWhole)
    while (PyDict_Next(dict, &position, &name, &value) && name == PyTuple_GET_ITEM(names, i) &&
           value == PyTuple_GET_ITEM(values, i))
      ++i;
  for (; i < count; ++i) {
    value = PyDict_GetItemWithError(dict, PyTuple_GET_ITEM(names, i)); // borrowed
    if (!value) {
      PyErr_Clear();
      return false;
    }
    if (!isSame(value, PyTuple_GET_ITEM(values, i)))
      return false;
  }
  return true;
}

/// Whether one node of jit/python_state.py, (container, names, values, is whole), still holds.
bool holdsNode(PyObject *node) {
  PyObject *container = PyTuple_GET_ITEM(node, 0), *values = PyTuple_GET_ITEM(node, 2);
  if (PyDict_Check(container))
    return holdsDict(container, PyTuple_GET_ITEM(node, 1), values, PyTuple_GET_ITEM(node, 3) == Py_True);
  if (PyList_Check(container))
    return isSameSequence(container, values);
  if (PyCell_Check(container)) {
    PyObject *value = PyCell_GET(container);
    return value && isSame(value, PyTuple_GET_ITEM(values, 0));
  }
  if (PyAnySet_Check(container))
    return areEqual(container, PyTuple_GET_ITEM(values, 0));
  nb::object bytes = nb::steal(PyObject_CallMethod(container, "tobytes", nullptr)); // an array
  if (!bytes.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return areEqual(bytes.ptr(), PyTuple_GET_ITEM(values, 0));
}

} // namespace

bool holdsState(const nb::list &nodes) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(nodes.ptr()); ++i)
    if (!holdsNode(PyList_GET_ITEM(nodes.ptr(), i)))
      return false;
  return true;
}

void initPythonState(nb::module_ &module) {
  module.def("holds_state", &holdsState, nb::arg("nodes"),
             "Whether each (container, names, values, is whole) holds what it did.");
  module.def(
      "same_value", [](nb::handle a, nb::handle b) { return isSame(a.ptr(), b.ptr()); }, nb::arg("a").none(),
      nb::arg("b").none(), "Plain values and tuples by type and bits, other objects by identity.");
}

} // namespace tess::python
