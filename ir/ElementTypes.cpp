//===- ElementTypes.cpp - the dialect's own element types -----------------===//
#include "ir/ElementTypes.h"

using namespace mlir;

namespace tess::ir {

QuantizedType QuantizedType::get(MLIRContext *context, DType dtype) { return Base::get(context, uint32_t(dtype)); }
DType QuantizedType::getDType() const { return getImpl()->dtype; }

LowBitType LowBitType::get(MLIRContext *context, DType dtype) { return Base::get(context, uint32_t(dtype)); }
DType LowBitType::getDType() const { return getImpl()->dtype; }

} // namespace tess::ir
