//===- Format.cpp - the user-visible order of axes -----------------------===//
//
// A tensor that its user calls channels-last keeps that name through operators
// that keep the meaning of its axes. Shapes stay those of the default order.
//
//===----------------------------------------------------------------------===//
#include "eager/Transformations.h"

#include "llvm/ADT/StringSwitch.h"

namespace tess::eager {

/// Operators whose axes mean the same before and after, although they are not elementwise.
static bool keepsAxes(const OpInfo &info) {
  if (info.lowering == Lowering::Elementwise)
    return true;
  return llvm::StringSwitch<bool>(info.name)
      .Cases({"conv2d", "max_pool2d", "avg_pool2d", "batch_norm", "gelu", "softmax", "log_softmax", "concat"}, true)
      .Default(false);
}

llvm::Error applyFormat(Call &call, Tensors &results) {
  if (!call.isOpDef() || !keepsAxes(call.opDef().info()))
    return next(call, results);
  Format format = Format::Default;
  unsigned rank = 0;
  for (const Operand &operand : call.operands)
    if (operand.tensor->format() != Format::Default) {
      format = operand.tensor->format();
      rank = operand.tensor->rank();
    }
  if (llvm::Error e = next(call, results))
    return e;
  for (TensorRef &result : results)
    if (result->rank() == rank)
      result->setFormat(format);
  return llvm::Error::success();
}

} // namespace tess::eager
