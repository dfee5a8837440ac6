//===- Layouts.cpp - layouts of views and inputs --------------------------===//
#include "compiler/transforms/Layouts.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tess::compiler {

/// Views that keep the order of the elements keep the layout; the others are strided. A slice of one column has no unit
/// stride, because lanes then run along an axis before it.
static ValueLayout viewLayout(const OpDef &op, ValueLayout base, ArrayRef<int64_t> shape) {
  if (op.info().keepsOrder())
    return base;
  ValueLayout layout{false, false};
  if (op.info().viewKind == ViewKind::Slice && !shape.empty() && !ShapedType::isDynamic(shape.back()) &&
      shape.back() != 1)
    layout.innerUnit = base.innerUnit && op.ints("steps").size() == shape.size() && op.ints("steps").back() == 1;
  return layout;
}

bool Layouts::needsCopy(Operation *view) const {
  return ir::infoOf(view)->viewKind == ViewKind::Reshape && !of(view->getOperand(0)).contiguous;
}

void Layouts::addView(Operation *view) {
  ValueLayout base = needsCopy(view) ? ValueLayout() : of(view->getOperand(0));
  Value result = view->getResult(0);
  known[result] = viewLayout(ir::opDefOf(view), base, cast<RankedTensorType>(result.getType()).getShape());
}

void Layouts::add(Operation *op) {
  if (const OpInfo *info = ir::infoOf(op); info && info->lowering == Lowering::View)
    return addView(op);
  if (auto scan = dyn_cast<ir::ScanOp>(op))
    for (unsigned constant = 0; constant < unsigned(scan.getConstants()); ++constant)
      known[scan.getBody().getArgument(constant)] = of(scan.getInputs()[constant]);
}

Layouts::Layouts(func::FuncOp func) {
  auto set = [&](Value value, IntegerAttr layout) {
    if (layout)
      known[value] = {false, layout.getInt() == int64_t(ir::MemoryLayout::RowsApart)};
  };
  for (BlockArgument input : func.getArguments())
    set(input, func.getArgAttrOfType<IntegerAttr>(input.getArgNumber(), ir::kLayoutAttr));
  for (OpOperand &output : func.front().getTerminator()->getOpOperands())
    set(output.get(), func.getResultAttrOfType<IntegerAttr>(output.getOperandNumber(), ir::kLayoutAttr));
}

bool readsInPlace(ir::FusionOp fusion, ValueLayout layout) {
  auto isScan = [](Operation &op) { return ir::infoOf(&op) && ir::infoOf(&op)->scan; };
  return fusion.getAxes().empty() || layout.contiguous || llvm::any_of(fusion.getBody().front(), isScan);
}

bool hasOnlyShapeReaders(ir::FusionOp fusion) {
  return llvm::all_of(fusion->getUses(), [](OpOperand &use) {
    const OpInfo *info = ir::infoOf(use.getOwner());
    return info && info->lowering == Lowering::View && use.getOperandNumber() > 0;
  });
}

} // namespace tess::compiler
