//===- AttentionShapes.cpp - conditions of attention ---------------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"

namespace tess::checks {

using namespace shapes;
using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// The leading axes that query, key and value share; the signature has matched them.
static Shape leadingAxes(Operands operands) {
  Shape leading;
  for (const TensorMeta &meta : operands.take_front(3))
    broadcastInto(leading, llvm::ArrayRef(meta.shape).drop_back(2));
  return leading;
}

llvm::Error attention(const OpDef &op, Operands operands, Segments) {
  if (operands.size() < 4)
    return llvm::Error::success();
  Shape weights = leadingAxes(operands);
  for (const TensorMeta &meta : operands.take_front(2))
    weights.push_back(meta.shape[meta.rank() - 2]);
  if (!broadcastsTo(operands[3].shape, weights))
    return mustHoldOf(op, "attn_mask must broadcast to the weights",
                      "attn_mask " + toString(operands[3]) + " and weights " + toString(weights));
  return llvm::Error::success();
}

llvm::Error attentionBackward(const OpDef &op, Operands operands, Segments) {
  Shape leading = leadingAxes(operands);
  llvm::ArrayRef<int64_t> own = llvm::ArrayRef(operands[3].shape).drop_back(2);
  for (const TensorMeta &meta : operands.drop_front(4))
    broadcastInto(leading, llvm::ArrayRef(meta.shape).drop_back(2));
  bool fits = own.size() == leading.size();
  for (unsigned i = 0; fits && i < own.size(); ++i)
    fits = !differs(own[i], leading[i]);
  if (!fits)
    return mustHoldOf(op, "weights must have every leading axis",
                      "weights " + toString(operands[3]) + " and leading axes " + toString(leading));
  return llvm::Error::success();
}

} // namespace tess::checks
