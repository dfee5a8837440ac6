//===- LaneConversion.h - types in memory and in computation ----*- C++ -*-===//
//
// float16, bfloat16, float32 and float8 compute in float32; bool computes as i1
// and is a byte in memory; a complex number is the bits of its two parts in one
// integer, of 64 or 128 bits, in memory and in registers. Float to integer
// truncates towards zero and saturates, NaN gives 0; float to bool is "differs
// from 0"; integers wrap.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lanes/LaneBuilder.h"
#include "ops/vocabulary/DType.h"

namespace tess::compiler {

/// The element type that values of `dtype` have in registers.
Elem computeElem(DType dtype);
/// The element type in memory; bfloat16 is I16, bool is I1 (a byte).
Elem storedElem(DType dtype);
/// Converts a loaded value to the compute type of `dtype`.
V widen(V stored, DType dtype);
/// Converts a compute value to the type in memory; narrow floats round to nearest even.
V narrow(V value, DType dtype);
/// The element type in registers straight after a load, where bool is a byte; such a value from and to the compute
/// type.
Elem rawElem(DType dtype);
V fromRaw(V raw, DType dtype);
V toRaw(V value, DType dtype);
/// Rounds a compute value to a value of the narrow float `dtype`, still in float32; other dtypes change nothing.
V roundTo(V value, DType dtype);
/// Converts a value of `from` to `to`, rounding once. A complex value gives its real part to a real dtype.
V castValue(V value, DType from, DType to);
/// The real and the imaginary part of a complex value, and the value that has these parts, floats of one type.
V realPart(V value);
V imagPart(V value);
V complexOf(V real, V imag);
/// A number of `dtype`, a scalar in its compute type.
V numberOf(LaneBuilder &b, double number, DType dtype);
/// Whether compute values of `dtype` are unsigned integers.
inline bool isUnsigned(DType dtype) { return isUnsignedInt(storageOf(dtype)) || isBool(dtype); }

} // namespace tess::compiler
