//===- NumpyConversion.h - tensors from Python data, and back ---*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/tensor/Tensor.h"

#include <optional>

namespace tess::python {

/// A new tensor of Python data by the rules of Tensor(data, dtype).
llvm::Expected<eager::TensorRef> tensorFromData(PyObject *data, std::optional<DType> dtype);
/// A NumPy array with the tensor's value.
PyObject *toNumpy(eager::TensorImpl &tensor);
/// A number of the only element.
PyObject *toNumber(eager::TensorImpl &tensor);

} // namespace tess::python
