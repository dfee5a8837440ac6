//===- RowProducts.cpp - gradients of weights, as products ----------------===//
#include "compiler/transforms/RowProducts.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/GradientRules.h"

using namespace mlir;

namespace tess::compiler {

bool isProductOfRows(Operation *op) {
  const OpInfo *info = op ? ir::infoOf(op) : nullptr;
  if (!info || info->gradient != gradients::matmul || !op->hasOneUse())
    return false;
  OpDef def = ir::opDefOf(op);
  TensorMeta x = ir::metaOf(op->getOperand(0).getType()), y = ir::metaOf(op->getOperand(1).getType());
  const bool isWide = (x.dtype == DType::Float32 || x.dtype == DType::Float64) && y.dtype == x.dtype;
  return isWide && def.boolean("transpose_x") && !def.boolean("transpose_y") && x.rank() == 2 && y.rank() == 2;
}

} // namespace tess::compiler
