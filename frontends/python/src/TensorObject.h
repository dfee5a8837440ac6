//===- TensorObject.h - the Tensor object -----------------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/stack/Apply.h"

namespace tess::python {

namespace nb = nanobind;

/// The layout of every Tensor object; subclasses made in Python add a dict.
struct PyTensor {
  PyObject_HEAD eager::TensorImpl *impl; // owned
  PyObject *weakrefs;
};

/// tessera.Tensor; set by initTensorType.
extern PyTypeObject *tensorType;
/// The subclass for values of networks (Network.cpp); null until Python gives it.
extern PyTypeObject *varNodeType;

inline bool isTensor(PyObject *object) {
  return Py_TYPE(object) == tensorType || PyType_IsSubtype(Py_TYPE(object), tensorType);
}
inline eager::TensorImpl &implOf(PyObject *object) { return *reinterpret_cast<PyTensor *>(object)->impl; }

/// The object of a tensor: the one that exists, or a new one of `type` (default: Tensor).
PyObject *wrap(eager::TensorRef tensor, PyTypeObject *type = nullptr);
/// One object, or a tuple of `numVisible` when `asTuple`. Takes the results.
PyObject *wrapResults(eager::Tensors &results, unsigned numVisible, bool asTuple);

/// The object that stands for a device: one of device.py's class of names (DeviceNames.cpp).
PyObject *deviceObject(runtime::Device &device);

/// A tuple of Python ints.
PyObject *shapeTuple(llvm::ArrayRef<int64_t> shape);

} // namespace tess::python
