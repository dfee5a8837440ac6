//===- Promotion.cpp - the one promotion table ---------------------------===//
//
// Between tensors of one kind the wider dtype wins; unsigned with signed gives
// the narrowest signed dtype that holds both, and uint64 with a signed one
// nothing, because there is none; bool gives way to everything. float16 and
// bfloat16 stay only among their own dtype: with the other half type or any
// integer the result is float32. Complex with real gives the complex dtype whose
// parts hold both. A float8, a quantized or a low-bit dtype has a common dtype with itself only. Weak numbers
// never widen within their kind, and a weak complex one makes a float complex.
//
//===----------------------------------------------------------------------===//
#include "ops/inference/Promotion.h"
#include "ops/vocabulary/Error.h"

namespace tess {

/// The signed integer of so many bytes; nullopt for more than 8.
static std::optional<DType> signedOf(int64_t bytes) {
  for (DType d : {DType::Int8, DType::Int16, DType::Int32, DType::Int64})
    if (byteWidth(d) == bytes)
      return d;
  return std::nullopt;
}

static std::optional<DType> promoteInts(DType a, DType b) {
  DType wide = byteWidth(a) >= byteWidth(b) ? a : b;
  if (isUnsignedInt(a) == isUnsignedInt(b))
    return wide;
  int64_t ofUnsigned = byteWidth(isUnsignedInt(a) ? a : b), ofSigned = byteWidth(isUnsignedInt(a) ? b : a);
  return signedOf(std::max(ofSigned, 2 * ofUnsigned));
}

/// Whether a dtype has a common one with itself only, bool included.
static bool isAlone(DType d) { return isQuantized(d) || isLowBit(d); }

static std::optional<DType> promotePair(DType a, DType b) {
  if (a == b)
    return a;
  if (isAlone(a) || isAlone(b))
    return std::nullopt;
  if (isBool(a) || isBool(b))
    return isBool(b) ? a : b;
  if (isFloat8(a) || isFloat8(b))
    return std::nullopt;
  if (isInt(a) && isInt(b))
    return promoteInts(a, b);
  if (isComplex(a) || isComplex(b))
    return complexOf(*promotePair(partOf(a), partOf(b)));
  if (a == DType::Float64 || b == DType::Float64)
    return DType::Float64;
  return DType::Float32; // two half types, a half and a float32, or a float up to float32 and an integer
}

/// The dtype for a tensor of dtype `d` beside a Python number whose kind is that of `weak`.
static DType promoteWeak(DType d, DType weak) {
  if (isBool(weak) || isFloat8(d) || isComplex(d))
    return d;
  if (isComplex(weak))
    return complexOf(d);
  if (isFloat(d))
    return d;
  if (isBool(d) || isFloat(weak))
    return DType::Float32; // a bool with a number, or an integer with a float
  return d;
}

static DType defaultOf(DType weak) {
  if (isComplex(weak))
    return DType::Complex64;
  return isFloat(weak) ? DType::Float32 : isInt(weak) ? DType::Int32 : DType::Bool;
}

std::optional<DType> promote(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak) {
  std::optional<DType> strong, weak;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    bool isNumber = i < isWeak.size() && isWeak[i];
    DType d = isNumber ? defaultOf(dtypes[i]) : dtypes[i];
    std::optional<DType> &side = isNumber ? weak : strong;
    std::optional<DType> common = side ? promotePair(*side, d) : d;
    if (!common)
      return std::nullopt;
    side = common;
  }
  if (strong && weak && isAlone(*strong))
    return std::nullopt; // a number is no stored integer
  if (strong && weak)
    return promoteWeak(*strong, *weak);
  return strong ? strong : weak;
}

std::optional<DType> promoteFloat(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak) {
  std::optional<DType> d = promote(dtypes, isWeak);
  return d && (isInt(*d) || isBool(*d)) ? DType::Float32 : d; // an operator of floats refuses the others
}

static llvm::Error noCommonDType(const OpInfo &info, llvm::ArrayRef<DType> dtypes) {
  std::string names;
  for (DType d : dtypes)
    names += (names.empty() ? "" : " and ") + shortName(d).str();
  return makeError(ErrorCode::TypeMismatch,
                   llvm::Twine(info.name) + ": operands must have a common dtype, got " + names);
}

/// The dtype of all operands where the tensors are of one float dtype and the numbers real; most calls with numbers are
/// such, and need no list of operands.
static std::optional<DType> floatOfAll(const OpInfo &info, llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak) {
  bool promotes = info.dtypes.kind == DTypeRuleKind::Promote || info.dtypes.kind == DTypeRuleKind::PromoteFloat;
  if (!promotes || !info.simple || info.dtypes.operandMask + 1u != 1u << info.operands.size())
    return std::nullopt;
  std::optional<DType> common;
  for (auto [dtype, weak] : llvm::zip_equal(dtypes, isWeak)) {
    if (weak ? isComplex(dtype) : !isFloat(dtype) || common.value_or(dtype) != dtype)
      return std::nullopt;
    if (!weak)
      common = dtype;
  }
  return common;
}

llvm::Expected<OperandDTypes> operandDTypes(const OpInfo &info, llvm::ArrayRef<DType> dtypes,
                                            llvm::ArrayRef<bool> isWeak, llvm::ArrayRef<unsigned> segments) {
  OperandDTypes targets(dtypes.size());
  if (std::optional<DType> common = isWeak.empty() ? std::nullopt : floatOfAll(info, dtypes, isWeak)) {
    for (auto [target, weak] : llvm::zip_equal(targets, isWeak))
      target = weak ? common : std::nullopt;
    return targets;
  }
  llvm::SmallVector<DType, 4> chosen;
  llvm::SmallVector<bool, 4> chosenWeak;
  llvm::SmallVector<unsigned, 4> positions;
  unsigned operand = 0;
  for (unsigned group = 0; group < info.operands.size(); ++group)
    for (unsigned i = 0, n = segments.empty() ? 1 : segments[group]; i < n && operand < dtypes.size(); ++i, ++operand) {
      bool weak = operand < isWeak.size() && isWeak[operand];
      if (info.dtypes.operandMask >> group & 1) {
        chosen.push_back(dtypes[operand]);
        chosenWeak.push_back(weak);
        positions.push_back(operand);
      } else if (weak) {
        targets[operand] = defaultOf(dtypes[operand]);
      }
    }
  bool isComplexRule = info.dtypes.kind == DTypeRuleKind::Complex;
  bool toFloat = info.dtypes.kind == DTypeRuleKind::PromoteFloat || isComplexRule;
  std::optional<DType> common = toFloat ? promoteFloat(chosen, chosenWeak) : promote(chosen, chosenWeak);
  if (!common && !chosen.empty())
    return noCommonDType(info, chosen);
  if (isComplexRule && isNarrowFloat(*common))
    common = DType::Float32;
  for (unsigned position : positions)
    if (dtypes[position] != *common || (position < isWeak.size() && isWeak[position]))
      targets[position] = common;
  return targets;
}

} // namespace tess
