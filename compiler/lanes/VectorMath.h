//===- VectorMath.h - our own elementary functions --------------*- C++ -*-===//
//
// Expansions of every float function in plain arithmetic, for float32 and
// float64, scalar or 16 lanes, with the same bits on every machine. Bounds are
// those of ops/records/Scalar.td; edge cases as C99 Annex F.
// fma appears inside an expansion only. No function is ever a library call. The
// fitted numbers are those of VectorMathConstants.h; polynomials/ says whence.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lanes/LaneBuilder.h"
#include "ops/operator/ScalarProgram.h"

#include <limits>

namespace tess::compiler::vmath {

/// Infinity and the quiet NaN without a payload.
inline constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

/// The functions of one argument that ops/records/Scalar.td lists, each in the file of its family.
#define TESS_EXPANSION(ENUMERATOR, NAME) V NAME(V x);
TESS_EXPANSIONS(TESS_EXPANSION)
#undef TESS_EXPANSION

// Exponentials: VectorMathExp.cpp
/// e^(hi + lo) for |lo| <= ulp(hi), float64: the last step of pow.
V expSum(V hi, V lo);

/// e^x where the result is a normal number; elsewhere wrong.
V expNormal(V x);
/// Sigmoid and tanh of float32 within 2.5 units in the last place, in 5/8 of the time; sigmoid below -87 within 2^-126.
V shortSigmoid(V x);
V shortTanh(V x);
/// e^x in float64 with 28 bits, where the result is a normal number: what float32 needs.
V exp28(V x);

// Logarithms: VectorMathLog.cpp
/// log x of a positive normal number; elsewhere wrong.
V logNormal(V x);
/// log x in float64 with 37 bits, of a positive normal number: what float32 needs, and its powers.
V log37(V x);
/// log(e^a + e^b); the error is relative to the larger operand where the result is near 0.
V logAddExp(V a, V b);

// Trigonometry: VectorMathTrig.cpp, VectorMathArc.cpp
/// cos(2 pi x) for x in [0, 1].
V cosTurn(V x);
V atan2(V y, V x);

// Powers and remainders: VectorMathPow.cpp
V pow(V base, V exponent);
/// Python's modulus, exact before its one rounding; sign of the divisor.
V mod(V x, V y);
V floorDiv(V x, V y);

// Random numbers: VectorMathRandom.cpp. Philox4x32-10, key `seed`, counter `counter`, both i64.
V philoxUniform(V seed, V counter, Elem elem);
V philoxNormal(V seed, V counter, Elem elem);

// Pieces that families share.
/// x as float64 and back.
inline V toF64(V x) { return x.b().convert(x, Elem::F64); }
inline V toF32(V x) { return x.b().convert(x, Elem::F32); }
/// Each lane between the bounds; NaN stays.
V clampTo(V x, double low, double high);

} // namespace tess::compiler::vmath
