//===- Ops.cpp - classes of the records' operators ------------------------===//
//
// This is the dialect's only expensive translation unit: all other code uses
// operators by name, through OpBridge.h.
//
//===----------------------------------------------------------------------===//
#include "ir/Dialect.h"
#include "ir/OpBridge.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Ops.h.inc"

#define GET_OP_CLASSES
#include "ir/Ops.cpp.inc"

namespace tess::ir {
#include "ir/Inference.cpp.inc"

void TessDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/Ops.cpp.inc"
      >();
}
} // namespace tess::ir
