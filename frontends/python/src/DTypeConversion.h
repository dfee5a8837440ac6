//===- DTypeConversion.h - dtypes from Python objects, and back -*- C++ -*-===//
//
// NumPy knows of a quantized or low-bit dtype only the integers that are stored.
// What they stand for is metadata of the dtype object, which arrays keep but
// NumPy does not compare: our own text, and of quantized dtypes what MegEngine
// writes there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include "ops/vocabulary/Quantization.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tess::python {

/// "float32", np.float32, np.dtype, a dtype object with a `name`; TypeError otherwise. None is nullopt.
llvm::Expected<std::optional<DType>> toDType(PyObject *object);
/// NumPy's dtype of that name, of ml_dtypes for bfloat16 and float8 (borrowed), or without that package an object that
/// has the name (_foreign_dtypes.py); null with an exception.
PyObject *numpyDType(DType dtype);

/// The quantized or low-bit dtype that is in the metadata of a dtype object of NumPy; nullopt where there is none.
llvm::Expected<std::optional<DType>> describedBy(PyObject *dtype);
/// Whether NumPy's dtype of `dtype` is that of the stored integers, with metadata.
inline bool isDescribed(DType dtype) { return isQuantized(dtype) || isLowBit(dtype); }
/// NumPy's dtype of the stored integers, with this metadata.
nanobind::object describedNumpyDType(DType dtype);
/// Scales, and zero points, of a dtype: a list, or one number for the whole tensor.
nanobind::object scaleOf(const Quantization &parameters);
nanobind::object zeroPointOf(const Quantization &parameters);

/// Whether NumPy's dtype comes from ml_dtypes; such an array goes by its bits.
bool isForeign(DType dtype);
/// NumPy's function `name`, which is looked up once.
nanobind::handle numpyFunction(const char *name);
/// "int 3", for messages.
std::string describeObject(PyObject *object);

} // namespace tess::python
