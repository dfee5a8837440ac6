//===- Format.cpp - the user-visible order of axes -----------------------===//
//
// A tensor that its user calls channels-last keeps that name through operators
// that keep the meaning of its axes. Shapes are always those of the default
// order.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"

namespace tess::eager {

/// Whether results of the rank of an operand have its format: a new shape or repeated axes of images are images, too.
static bool keepsFormat(const OpInfo &info) {
  return info.keepsAxes || info.viewKind == ViewKind::Reshape || info.viewKind == ViewKind::Broadcast;
}

llvm::Error applyFormat(Call &call, Tensors &results) {
  if (!call.isOpDef() || !keepsFormat(call.opDef().info()))
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
