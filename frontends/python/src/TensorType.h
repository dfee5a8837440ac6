//===- TensorType.h - the type of Tensor objects ----------------*- C++ -*-===//
#pragma once

#include "frontends/python/src/TensorObject.h"

namespace tess::python {

/// Slots and methods that other files give to the Tensor type.
extern PyType_Slot numberSlots[];
extern unsigned numNumberSlots;
PyObject *tensorGetItem(PyObject *self, PyObject *key);
int tensorSetItem(PyObject *self, PyObject *key, PyObject *value);
PyObject *tensorDlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tensorDlpackDevice(PyObject *self, PyObject *);
PyObject *tensorFromDlpack(PyObject *cls, PyObject *args, PyObject *kwargs);
int tensorGetBuffer(PyObject *self, Py_buffer *view, int flags);
void tensorReleaseBuffer(PyObject *self, Py_buffer *view);
/// Sets an attribute; an AttributeError for one that would do nothing, with what does.
int tensorSetAttribute(PyObject *self, PyObject *name, PyObject *value);
/// Gives the type an attribute for each name of PyTorch's that tensors do not have: to read it is an AttributeError
/// that names its counterpart.
bool addRefusals(PyTypeObject *type);
PyObject *tensorCompare(PyObject *a, PyObject *b, int operation);

} // namespace tess::python
