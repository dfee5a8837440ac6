//===- Quantized.h - quantized dtypes and NumPy's ---------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "ops/DType.h"
#include "llvm/Support/Error.h"

namespace tess::python {

/// The quantized dtype that is in the metadata of a dtype object of NumPy; one without parameters where there is none.
llvm::Expected<DType> quantizedFrom(PyObject *dtype);
/// NumPy's dtype of the stored integers, with this metadata.
nanobind::object quantizedNumpyDType(DType dtype);

} // namespace tess::python
