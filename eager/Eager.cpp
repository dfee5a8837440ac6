//===- Eager.cpp - the start of eager mode --------------------------------===//
#include "eager/Eager.h"

#include "eager/dispatch/Kept.h"
#include "eager/gradients/Grad.h"
#include "eager/layers/Layers.h"
#include "eager/stack/Autocast.h"
#include "eager/tensor/MemoryReport.h"

namespace tess::eager {

static bool fillStack() {
  setTransformation(Layer::Autocast, applyAutocast);
  setTransformation(Layer::Scalar, applyScalar);
  setTransformation(Layer::DimExpansion, applyDimExpansion);
  setTransformation(Layer::DTypePromotion, applyDTypePromotion);
  setTransformation(Layer::Quantize, applyQuantize);
  setTransformation(Layer::Grid, applyGrid);
  setTransformation(Layer::Format, applyFormat);
  setTransformation(Layer::Grad, applyGrad);
  setTransformation(Layer::Tracing, applyTracing);
  setTransformation(Layer::CheckFinite, applyCheckFinite);
  setTransformation(Layer::CheckOperands, applyCheckOperands);
  setTransformation(Layer::Interpreter, interpret);
  startEviction();
  startMemoryReport();
  return true;
}

void start() {
  static const bool isFilled = fillStack();
  (void)isFilled;
}

} // namespace tess::eager
