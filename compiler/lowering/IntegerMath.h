//===- IntegerMath.h - integer functions without traps ----------*- C++ -*-===//
//
// Division by zero gives 0, the lowest number divided by -1 wraps, a shift by
// the width or more shifts everything out (arithmetic right shifts keep the
// sign), a negative exponent gives the truncated power.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/LaneBuilder.h"

namespace tess::compiler::intmath {

V floorDiv(V n, V d, bool isUnsigned);
/// Python's modulus: the sign of the divisor.
V mod(V n, V d, bool isUnsigned);
V pow(V base, V exponent, bool isUnsigned);
V shiftLeft(V x, V amount);
V shiftRight(V x, V amount, bool isUnsigned);
V sign(V x, bool isUnsigned);
V max(V a, V b, bool isUnsigned);
V min(V a, V b, bool isUnsigned);

} // namespace tess::compiler::intmath
