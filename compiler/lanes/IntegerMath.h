//===- IntegerMath.h - integer functions without traps ----------*- C++ -*-===//
//
// Division by zero gives 0, the lowest number divided by -1 wraps, a shift by
// the width or more shifts everything out (arithmetic right shifts keep the
// sign), a negative exponent gives the truncated power.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lanes/LaneBuilder.h"

namespace tess::compiler::intmath {

// `isUnsigned`: of the operands, which have one element type. Results wrap at its width.
/// The quotient rounded towards minus infinity; 0 for a divisor of 0.
V floorDiv(V n, V d, bool isUnsigned);
/// Python's modulus, which has the sign of the divisor; 0 for a divisor of 0.
V mod(V n, V d, bool isUnsigned);
/// The power; for a negative exponent 1 / base**-exponent rounded towards 0, and 0 for a base of 0.
V pow(V base, V exponent, bool isUnsigned);
/// Shifts by any amount: beyond the width (negative amounts count as large) the result is 0, or -1 for a negative
/// signed `x` that is shifted right.
V shiftLeft(V x, V amount);
V shiftRight(V x, V amount, bool isUnsigned);
/// -1, 0 or 1.
V sign(V x, bool isUnsigned);
/// The larger, the smaller of two.
V max(V a, V b, bool isUnsigned);
V min(V a, V b, bool isUnsigned);

} // namespace tess::compiler::intmath
