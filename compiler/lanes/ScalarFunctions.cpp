//===- ScalarFunctions.cpp - the expansion of every ScalarFn -------------===//
#include "compiler/lanes/ScalarFunctions.h"

#include "compiler/lanes/IntegerMath.h"
#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/VectorMath.h"

#include <limits>

namespace tess::compiler {

using Cmp = LaneBuilder::Cmp;

V combine(ReduceKind kind, V acc, V value, bool isUnsigned) {
  bool real = isFloat(acc.elem());
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return acc + value;
  case ReduceKind::Prod:
    return acc * value;
  case ReduceKind::Max:
    // The NaN test is on `value` so that the chain through `acc` stays short.
    if (real)
      return select(isNan(value), value, select(gt(value, acc), value, acc));
    return intmath::max(acc, value, isUnsigned);
  case ReduceKind::Min:
    if (real)
      return select(isNan(value), value, select(lt(value, acc), value, acc));
    return intmath::min(acc, value, isUnsigned);
  default:
    llvm_unreachable("pairs are combined elsewhere");
  }
}

V neutralOf(LaneBuilder &b, ScalarFn fn, DType dtype, Elem elem, bool vector) {
  if (fn == ScalarFn::Add)
    return b.constant(elem, vector, isFloat(elem) ? -0.0 : 0.0);
  if (fn == ScalarFn::Mul)
    return b.constant(elem, vector, 1);
  bool lowest = fn != ScalarFn::Min;
  if (isFloat(elem))
    return b.constant(elem, vector, std::numeric_limits<double>::infinity() * (lowest ? -1 : 1));
  if (isUnsigned(dtype))
    return b.constantBits(elem, vector, lowest ? 0 : (isBool(dtype) ? 1 : ~uint64_t(0)));
  uint64_t least = uint64_t(1) << (bitWidth(elem) - 1);
  return b.constantBits(elem, vector, lowest ? least : least - 1);
}

// Bool arithmetic is logic.
static V emitBool(ScalarFn fn, V a, V b) {
  switch (fn) {
  case ScalarFn::Add:
  case ScalarFn::Max:
  case ScalarFn::BitOr:
  case ScalarFn::Or:
    return a | b;
  case ScalarFn::Mul:
  case ScalarFn::Min:
  case ScalarFn::BitAnd:
  case ScalarFn::And:
  case ScalarFn::FloorDiv:
    return a & b;
  case ScalarFn::Mod:
    return a & (b ^ b);
  case ScalarFn::Pow:
    return a | bitNot(b);
  case ScalarFn::Shl:
  case ScalarFn::Shr:
    return a & bitNot(b);
  default: // Sub, Xor, BitXor
    return a ^ b;
  }
}

static V emitBinary(ScalarFn fn, V a, V b, bool isUnsigned) {
  const bool isReal = isFloat(a.elem());
  switch (fn) {
  case ScalarFn::Add:
    return a + b;
  case ScalarFn::Sub:
    return a - b;
  case ScalarFn::Mul:
    return a * b;
  case ScalarFn::Max:
  case ScalarFn::Min:
    return combine(fn == ScalarFn::Max ? ReduceKind::Max : ReduceKind::Min, a, b, isUnsigned);
  case ScalarFn::Div:
    return isReal ? a / b : intmath::floorDiv(a, b, isUnsigned);
  case ScalarFn::FloorDiv:
    return isReal ? vmath::floorDiv(a, b) : intmath::floorDiv(a, b, isUnsigned);
  case ScalarFn::Mod:
    return isReal ? vmath::mod(a, b) : intmath::mod(a, b, isUnsigned);
  case ScalarFn::Pow:
    return isReal ? vmath::pow(a, b) : intmath::pow(a, b, isUnsigned);
  case ScalarFn::Atan2:
    return vmath::atan2(a, b);
  case ScalarFn::LogAddExp:
    return vmath::logAddExp(a, b);
  case ScalarFn::Shl:
    return intmath::shiftLeft(a, b);
  case ScalarFn::Shr:
    return intmath::shiftRight(a, b, isUnsigned);
  case ScalarFn::BitAnd:
    return a & b;
  case ScalarFn::BitOr:
    return a | b;
  case ScalarFn::BitXor:
    return a ^ b;
  default:
    llvm_unreachable("not a function of two arguments");
  }
}

static V emitFloatUnary(ScalarFn fn, V x) {
  switch (fn) {
  case ScalarFn::Neg:
    return -x;
  case ScalarFn::Abs:
    return fabs(x);
  case ScalarFn::Sign:
    return select(gt(x, 0.0), 1.0, select(lt(x, 0.0), -1.0, select(eq(x, 0.0), 0.0, x)));
  case ScalarFn::Square:
    return x * x;
  case ScalarFn::Sqrt:
    return sqrt(x);
  case ScalarFn::Floor:
    return floor(x);
  case ScalarFn::Ceil:
    return ceil(x);
  case ScalarFn::Round:
    return roundEven(x);
  case ScalarFn::Trunc:
    return trunc(x);
#define TESS_EXPANSION(ENUMERATOR, NAME)                                                                               \
  case ScalarFn::ENUMERATOR:                                                                                           \
    return vmath::NAME(x);
    TESS_EXPANSIONS(TESS_EXPANSION)
#undef TESS_EXPANSION
  default:
    llvm_unreachable("not a float function of one argument");
  }
}

static V emitIntUnary(ScalarFn fn, V x, bool isUnsigned) {
  switch (fn) {
  case ScalarFn::Neg:
    return x.elem() == Elem::I1 ? x : -x;
  case ScalarFn::Abs:
    return isUnsigned ? x : fabs(x);
  case ScalarFn::Sign:
    return x.elem() == Elem::I1 ? x : intmath::sign(x, isUnsigned);
  case ScalarFn::Square:
    return x.elem() == Elem::I1 ? x : x * x;
  case ScalarFn::BitNot:
    return bitNot(x);
  default: // Floor, Ceil, Round, Trunc
    return x;
  }
}

static V emitComparison(ScalarFn fn, V a, V b, bool isUnsigned) {
  auto compare = [&](Cmp ofSigned, Cmp ofUnsigned) { return a.b().compare(isUnsigned ? ofUnsigned : ofSigned, a, b); };
  switch (fn) {
  case ScalarFn::Eq:
    return compare(Cmp::Eq, Cmp::Eq);
  case ScalarFn::Ne:
    return compare(Cmp::Ne, Cmp::Ne);
  case ScalarFn::Lt:
    return compare(Cmp::Lt, Cmp::ULt);
  case ScalarFn::Le:
    return compare(Cmp::Le, Cmp::ULe);
  case ScalarFn::Gt:
    return compare(Cmp::Gt, Cmp::UGt);
  case ScalarFn::Ge:
    return compare(Cmp::Ge, Cmp::UGe);
  default:
    llvm_unreachable("not a comparison");
  }
}

static V emitSignBit(V x, bool isUnsigned) {
  V bits = isFloat(x.elem()) ? toBits(x) : x;
  if (isUnsigned || x.elem() == Elem::I1)
    return x.b().constantBits(Elem::I1, x.isVector(), 0);
  return x.b().compare(LaneBuilder::Cmp::Lt, bits, bits.ci(0));
}

static V emitClass(ScalarFn fn, V x, bool isUnsigned) {
  if (fn == ScalarFn::SignBit)
    return emitSignBit(x, isUnsigned);
  constexpr double inf = std::numeric_limits<double>::infinity();
  V yes = x.b().constantBits(Elem::I1, x.isVector(), 1), no = x.b().constantBits(Elem::I1, x.isVector(), 0);
  if (!isFloat(x.elem()))
    return fn == ScalarFn::IsFinite ? yes : no;
  if (fn == ScalarFn::IsNan)
    return isNan(x);
  return fn == ScalarFn::IsInf ? eq(fabs(x), inf) : lt(fabs(x), inf);
}

V emitShorterForm(ScalarFn fn, V x) { return fn == ScalarFn::Tanh ? vmath::shortTanh(x) : vmath::shortSigmoid(x); }

V emitScalarFn(ScalarFn fn, DType result, llvm::ArrayRef<V> args, llvm::ArrayRef<DType> types) {
  if (fn == ScalarFn::Cast)
    return castValue(args[0], types[0], result);
  if (fn == ScalarFn::Select)
    return select(castValue(args[0], types[0], DType::Bool), castValue(args[1], types[1], result),
                  castValue(args[2], types[2], result));
  const ScalarFnInfo &info = infoOf(fn);
  if (info.args == ScalarArgs::Bool) {
    V a = castValue(args[0], types[0], DType::Bool);
    return fn == ScalarFn::Not ? bitNot(a) : emitBool(fn, a, castValue(args[1], types[1], DType::Bool));
  }
  if (info.type == ScalarType::Bool)
    return info.arity == 1 ? emitClass(fn, args[0], isUnsigned(types[0]))
                           : emitComparison(fn, args[0], args[1], isUnsigned(types[0]));
  if (fn == ScalarFn::Real || fn == ScalarFn::Imag)
    return fn == ScalarFn::Real ? realPart(args[0]) : imagPart(args[0]);
  if (fn == ScalarFn::Complex)
    return complexOf(args[0], args[1]);
  if (fn == ScalarFn::PhiloxUniform || fn == ScalarFn::PhiloxNormal) {
    V seed = castValue(args[0], types[0], DType::Int64), counter = castValue(args[1], types[1], DType::Int64);
    return (fn == ScalarFn::PhiloxUniform ? vmath::philoxUniform : vmath::philoxNormal)(seed, counter,
                                                                                        computeElem(result));
  }
  bool unary = info.arity == 1, isU = isUnsigned(result);
  if (unary)
    return isFloat(result) ? emitFloatUnary(fn, args[0]) : emitIntUnary(fn, args[0], isU);
  return isBool(result) ? emitBool(fn, args[0], args[1]) : emitBinary(fn, args[0], args[1], isU);
}

} // namespace tess::compiler
