//===- Call.cpp - a call on its way down the stack ------------------------===//
#include "eager/stack/Call.h"

namespace tess::eager {

constinit thread_local uint32_t activeLayers = 0;

constinit std::atomic<uint32_t> enabledLayers =
    ((1u << kNumLayers) - 1) & ~(bitOf(Layer::CheckFinite) | bitOf(Layer::CheckOperands));

void disableLayer(Layer layer, bool disabled) {
  if (disabled)
    enabledLayers &= ~bitOf(layer);
  else
    enabledLayers |= bitOf(layer);
}

static llvm::Error notStarted(Call &, Tensors &) {
  return makeError(ErrorCode::Internal, "eager: the stack has no layers (eager::start() was not called)");
}

static constinit Transformation stack[kNumLayers] = {notStarted, notStarted, notStarted, notStarted,
                                                     notStarted, notStarted, notStarted, notStarted,
                                                     notStarted, notStarted, notStarted};

void setTransformation(Layer layer, Transformation transformation) { stack[unsigned(layer)] = transformation; }

llvm::Error next(Call &call, Tensors &results) {
  if (LLVM_UNLIKELY(!call.pending))
    return makeError(ErrorCode::Internal, "apply: a layer of the stack must answer, got none left");
  unsigned layer = llvm::countr_zero(call.pending);
  call.pending &= call.pending - 1;
  return stack[layer](call, results);
}

} // namespace tess::eager
