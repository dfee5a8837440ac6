//===- SizeClasses.cpp - which unknown sizes are one ---------------------===//
#include "compiler/transforms/SizeClasses.h"

#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ops/operator/OpInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tess::compiler {

static bool isUnknown(int64_t size) { return size < 0; }
static unsigned numberOf(int64_t size) { return unsigned(-1 - size); }
static int64_t sizeOf(unsigned number) { return -1 - int64_t(number); }

void SizeClasses::add(Value value) {
  auto &own = sizes[value];
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t size : type.getShape())
      own.push_back(ShapedType::isDynamic(size) ? sizeOf(numUnknown++) : size);
}

/// Joins the sizes along each axis, counted from the last, where both are unknown.
void SizeClasses::join(Value a, Value b) {
  for (auto [x, y] : llvm::zip(llvm::reverse(of(a)), llvm::reverse(of(b))))
    if (isUnknown(x) && isUnknown(y))
      classes.join(numberOf(x), numberOf(y));
}

void SizeClasses::nameArguments(Block &block) {
  auto func = dyn_cast_or_null<func::FuncOp>(block.getParentOp());
  if (!func)
    return;
  llvm::DenseMap<int64_t, int64_t> named;
  for (BlockArgument argument : block.getArguments())
    if (auto dims = func.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), ir::kArgDimsAttr))
      for (auto [dim, size] : llvm::zip(dims.asArrayRef(), of(argument)))
        if (dim >= 0 && isUnknown(size))
          classes.join(numberOf(named.try_emplace(dim, size).first->second), numberOf(size));
}

SizeClasses::SizeClasses(Block &block) {
  for (Value argument : block.getArguments())
    add(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result);
  if (numUnknown == 0)
    return;
  classes.grow(numUnknown);
  nameArguments(block);
  for (Operation &op : block) {
    const OpInfo *info = ir::infoOf(&op);
    if (info && (info->lowering == Lowering::Lookup || info->lowering == Lowering::Scatter)) // what has indices aside
      for (Value operand : op.getOperands().drop_front())
        join(operand, info->lowering == Lowering::Scatter ? op.getOperand(1) : op.getResult(0));
    else if (info && (info->lowering == Lowering::Elementwise || info->lowering == Lowering::Reduction || info->scan))
      for (Value result : op.getResults())
        for (Value operand : op.getOperands())
          join(operand, result);
  }
  classes.compress();
  for (auto &[value, own] : sizes)
    for (int64_t &size : own)
      if (isUnknown(size))
        size = sizeOf(classes[numberOf(size)]);
}

} // namespace tess::compiler
