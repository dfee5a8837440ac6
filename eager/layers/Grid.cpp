//===- Grid.cpp - numbers on the grid of a quantized dtype ----------------===//
//
// Float32 tensors of training have beside them what quantized ones have in their
// dtype: operators that move elements keep the grid, others round to it.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"
#include "eager/stack/Apply.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

using GridRef = std::shared_ptr<const Grid>;

static bool isSame(const GridRef &a, const GridRef &b) {
  return a == b || (a && b && a->kind == b->kind && a->scale == b->scale && a->zeroPoint == b->zeroPoint);
}

/// The grid that all operands of the dtype of the first one are on; null where they are on several, or some on none.
static GridRef sharedGrid(llvm::ArrayRef<Operand> operands) {
  if (!operands[0].tensor)
    return nullptr;
  GridRef grid = operands[0].tensor->grid();
  const bool isShared = llvm::all_of(operands.drop_front(), [&](const Operand &operand) {
    return operand.tensor &&
           (operand.tensor->dtype() != operands[0].tensor->dtype() || isSame(operand.tensor->grid(), grid));
  });
  return isShared ? grid : nullptr;
}

/// `x` rounded to the grid.
static llvm::Expected<TensorRef> rounded(const TensorRef &x, const GridRef &grid) {
  const QuantizedKind &kind = quantizedKind(grid->kind);
  Tensors made;
  if (llvm::Error e = applyBelow(Layer::Grid, builtin::FakeQuant(kind.min, kind.max),
                                 {Operand(x), Operand(grid->scale), Operand(grid->zeroPoint)}, {}, made))
    return std::move(e);
  return std::move(made.front());
}

llvm::Error applyGrid(Call &call, Tensors &results) {
  if (!call.isOpDef() || call.into || call.operands.empty())
    return next(call, results);
  const OpInfo &info = call.opDef().info();
  const bool moves = !info.operands.empty() && info.operands[0].dtypes & kQuantizedMask;
  GridRef grid = moves || info.roundsToGrid ? sharedGrid(call.operands) : nullptr;
  const DType dtype = call.operands[0].tensor ? call.operands[0].tensor->dtype() : DType::Float32;
  if (llvm::Error e = next(call, results))
    return e;
  if (!grid || results.front()->dtype() != dtype)
    return llvm::Error::success();
  if (info.roundsToGrid)
    if (llvm::Error e = rounded(results.front(), grid).moveInto(results.front()))
      return e;
  for (TensorRef &result : results)
    if (result->dtype() == dtype)
      result->setGrid(grid);
  return llvm::Error::success();
}

} // namespace tess::eager
