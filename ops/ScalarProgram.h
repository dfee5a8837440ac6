//===- ScalarProgram.h - the body of an elementwise operator ----*- C++ -*-===//
//
// A record's `scalar` dag, as a constexpr table of nodes in evaluation order.
// `results` names the node of every result.
//
// Types. The compute type is the dtype that the operands of the dtype rule's mask
// agree on, else that of its operand (Same), else that of the result. Operand has
// its operand's own dtype, Index and DimIndex are i64, a runtime Attr of kind I64
// is i64, of kind F64 the compute type. A Const takes the type of the other
// arguments, else the compute type. An integer that meets an i64 is widened, an
// i64 that meets a float becomes one. The value of a result is converted to its
// dtype. Attr of a static attribute (bool: i1, i64) is a constant of the kernel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tess {

/// One function of one element. Comparison and logic give i1; Select takes an i1 first.
/// The list is closed: the kernel emitter has one expansion for each.
enum class ScalarFn : uint8_t {
  // clang-format off
  // leaves
  Operand,  // a = operand index
  Attr,     // a = attribute index, a runtime operand of the kernel (a constant when the attribute is static)
  Const,    // constant, converted to the compute type
  Index,    // the linear row-major index of the element in the result (i64)
  DimIndex, // a = axis counted from the last (0 = innermost): index along it (i64)
  // arithmetic (float and int unless said)
  Add, Sub, Mul, Div /*float*/, FloorDiv, Mod /*Python's sign*/, Neg, Abs, Max /*NaN wins*/, Min /*NaN wins*/,
  Pow, Sign, Square, Sqrt, Rsqrt, Floor, Ceil, Round /*half to even*/, Trunc,
  // math (float)
  Exp, Expm1, Log, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Erfc,
  LogAddExp, Sigmoid,
  // bits and logic
  Shl, Shr, BitAnd, BitOr, BitXor, BitNot, And, Or, Xor, Not,
  // comparison
  Eq, Ne, Lt, Le, Gt, Ge, IsNan, IsInf, IsFinite,
  Select,
  // conversion: to the result's dtype
  Cast,
  // random: Philox4x32-10 of (seed a, counter b); uniform in [0, 1) / standard normal, float32 or float64
  PhiloxUniform, PhiloxNormal,
  // clang-format on
};

struct ScalarNode {
  ScalarFn fn;
  /// Node indices (or operand/attribute index for the leaves).
  int16_t a = -1, b = -1, c = -1;
  double constant = 0;
};

struct ScalarProgram {
  llvm::ArrayRef<ScalarNode> nodes;
  /// Node index for every result.
  llvm::ArrayRef<int16_t> results;
};

/// "add", "logaddexp": the name used in .td (`s_add`) and in kernel text.
const char *scalarFnName(ScalarFn fn);

} // namespace tess
