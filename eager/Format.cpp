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

llvm::Expected<Tensors> applyFormat(Call &call) {
  if (!call.isOpDef() || !keepsAxes(call.opDef().info()))
    return next(call);
  Format format = Format::Default;
  unsigned rank = 0;
  for (const Operand &operand : call.operands)
    if (operand.tensor->format() != Format::Default) {
      format = operand.tensor->format();
      rank = operand.tensor->rank();
    }
  llvm::Expected<Tensors> results = next(call);
  if (results)
    for (TensorRef &result : *results)
      if (result->rank() == rank)
        result->setFormat(format);
  return results;
}

} // namespace tess::eager
