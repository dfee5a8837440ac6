//===- Quantized.h - dtypes that NumPy has with metadata --------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "ops/DType.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tess::python {

/// The quantized or low-bit dtype that is in the metadata of a dtype object of NumPy; nullopt where there is none.
llvm::Expected<std::optional<DType>> describedBy(PyObject *dtype);
/// Whether NumPy's dtype of `dtype` is that of the stored integers, with metadata.
inline bool isDescribed(DType dtype) { return isQuantized(dtype) || isLowBit(dtype); }
/// NumPy's dtype of the stored integers, with this metadata.
nanobind::object describedNumpyDType(DType dtype);

} // namespace tess::python
