//===- SizeNumbers.cpp - numbers of sizes that data decides --------------===//
#include "compiler/lowering/SizeNumbers.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/SizeExpr.h"

namespace tess::compiler {

/// The symbol that the name gives to a size.
static uint32_t symbolOf(ir::NamedSizeOp size) { return sizes::kDataSymbols + uint32_t(size.getNumber()); }

SizeNumbers::SizeNumbers(mlir::func::FuncOp func) {
  func.walk([&](ir::NamedSizeOp size) {
    if (!control::isBodySymbol(symbolOf(size)))
      next = std::max(next, uint32_t(size.getNumber()) + 1);
  });
}

uint32_t SizeNumbers::add(ir::NamedSizeOp size) {
  if (!control::isBodySymbol(symbolOf(size)))
    return uint32_t(size.getNumber());
  ofTrip[symbolOf(size)] = sizes::kDataSymbols + next;
  return next++;
}

OpDef SizeNumbers::numbered(OpDef op) const {
  if (ofTrip.empty() || !op.hasExpressions())
    return op;
  return op.withSymbols([&](uint32_t symbol) { return sizes::symbol(ofTrip.lookup_or(symbol, symbol)); });
}

} // namespace tess::compiler
