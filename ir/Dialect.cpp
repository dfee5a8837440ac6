//===- Dialect.cpp - the `tess` dialect -----------------------------------===//
#include "ir/Dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "ir/Dialect.cpp.inc"

namespace tess::ir {

void TessDialect::initialize() {
  addOperations<ConstantOp, FusionOp, YieldOp>();
  registerOps();
}

LogicalResult FusionOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("region arguments must have the types of the inputs, got ")
           << block.getArgumentTypes() << " and " << getInputs().getTypes();
  if (block.getTerminator()->getOperandTypes() != getOutputs().getTypes())
    return emitOpError("yielded values must have the types of the outputs, got ")
           << block.getTerminator()->getOperandTypes() << " and " << getOutputs().getTypes();
  return success();
}

} // namespace tess::ir

#define GET_OP_CLASSES
#include "ir/Structure.cpp.inc"
