//===- NumpyConversion.h - tensors from Python data, and back ---*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/tensor/Tensor.h"

#include <optional>

namespace tess::python {

/// A new tensor of Python data by the rules of Tensor(data, dtype).
llvm::Expected<eager::TensorRef> tensorFromData(PyObject *data, std::optional<DType> dtype);
/// A NumPy array with the tensor's value. ImportError in the name of `tool`: NumPy lacks the dtype, and there is no
/// package that has it.
PyObject *toNumpy(eager::TensorImpl &tensor, const char *tool);
/// A NumPy array too, in float32 where NumPy lacks the dtype: for text and numbers of Python.
PyObject *toWideNumpy(eager::TensorImpl &tensor);
/// The bits as unsigned integers where NumPy lacks the dtype, else the array.
PyObject *toStoredNumpy(eager::TensorImpl &tensor);
/// A number of the only element.
PyObject *toNumber(eager::TensorImpl &tensor);

} // namespace tess::python
