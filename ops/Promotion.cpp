//===- Promotion.cpp - the one promotion table ---------------------------===//
//
// Between tensors of one kind the wider dtype wins; unsigned with signed gives
// the next signed dtype that holds both; bool gives way to everything. float16
// and bfloat16 stay only among their own dtype: with the other half type or any
// integer the result is float32. Weak numbers never widen within their kind.
//
//===----------------------------------------------------------------------===//
#include "ops/Promotion.h"

namespace tess {

static DType promoteInts(DType a, DType b) {
  if (a == DType::UInt8 || b == DType::UInt8) {
    DType other = a == DType::UInt8 ? b : a;
    return other == DType::Int8 ? DType::Int16 : other;
  }
  return byteWidth(a) >= byteWidth(b) ? a : b;
}

static DType promotePair(DType a, DType b) {
  if (a == b || isBool(b))
    return a;
  if (isBool(a))
    return b;
  if (isInt(a) && isInt(b))
    return promoteInts(a, b);
  if (a == DType::Float64 || b == DType::Float64)
    return DType::Float64;
  return DType::Float32; // two half types, a half and a float32, or a float up to float32 and an integer
}

/// The dtype for a tensor of dtype `d` beside a Python number whose kind is that of `weak`.
static DType promoteWeak(DType d, DType weak) {
  if (isBool(weak) || isFloat(d))
    return d;
  if (isBool(d) || isFloat(weak))
    return DType::Float32; // a bool with a number, or an integer with a float
  return d;
}

static DType defaultOf(DType weak) { return isFloat(weak) ? DType::Float32 : isInt(weak) ? DType::Int32 : DType::Bool; }

std::optional<DType> promote(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak) {
  std::optional<DType> strong, weak;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    bool isNumber = i < isWeak.size() && isWeak[i];
    DType d = isNumber ? defaultOf(dtypes[i]) : dtypes[i];
    std::optional<DType> &side = isNumber ? weak : strong;
    side = side ? promotePair(*side, d) : d;
  }
  if (strong && weak)
    return promoteWeak(*strong, *weak);
  return strong ? strong : weak;
}

std::optional<DType> promoteFloat(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak) {
  std::optional<DType> d = promote(dtypes, isWeak);
  return d && !isFloat(*d) ? DType::Float32 : d;
}

llvm::SmallVector<std::optional<DType>, 4> operandDTypes(const OpInfo &info, llvm::ArrayRef<DType> dtypes,
                                                         llvm::ArrayRef<bool> isWeak,
                                                         llvm::ArrayRef<unsigned> segments) {
  llvm::SmallVector<std::optional<DType>, 4> targets(dtypes.size());
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
  bool toFloat = info.dtypes.kind == DTypeRuleKind::PromoteFloat;
  std::optional<DType> common = toFloat ? promoteFloat(chosen, chosenWeak) : promote(chosen, chosenWeak);
  for (unsigned position : positions)
    if (dtypes[position] != *common || (position < isWeak.size() && isWeak[position]))
      targets[position] = common;
  return targets;
}

} // namespace tess
