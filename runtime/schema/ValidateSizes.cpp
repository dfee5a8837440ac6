//===- ValidateSizes.cpp - that symbols of sizes have numbers -------------===//
#include "runtime/schema/ValidateSizes.h"
#include "ops/vocabulary/SizeExpr.h"

namespace tess::runtime {

bool KnownSizes::has(uint32_t symbol, llvm::ArrayRef<bool> hasShape) const {
  if (symbol < sizes::kDataSymbols)
    return symbol < exe.symbols.size() && isSizeOfInput[symbol];
  symbol -= sizes::kDataSymbols;
  if (symbol >= exe.dataSizes.size())
    return false;
  const DataSize &size = exe.dataSizes[symbol];
  return size.value >= 0 && size_t(size.value) < exe.values.size() && hasShape[size.value] && size.axis >= 0 &&
         size.axis < int32_t(kMaxRank);
}

bool KnownSizes::isSize(const Executable &exe, const ScalarSource &scalar) {
  if (scalar.bits >= exe.nodes.size() || !exe.nodes[scalar.bits].op)
    return false;
  const OpDef &op = exe.nodes[scalar.bits].op;
  return scalar.parameter < op.numAttrs() && op.info().attrs[scalar.parameter].isSize &&
         op.attr(scalar.parameter).kind() == AttrKind::I64;
}

} // namespace tess::runtime
