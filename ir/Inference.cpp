//===- Inference.cpp - what operators infer of their results --------------===//
#include "ir/Ops.h"

using namespace mlir;

namespace tess::ir {
#include "ir/Inference.cpp.inc"

void TessDialect::registerOps() { registerTessDialectOperations(this); }
} // namespace tess::ir
