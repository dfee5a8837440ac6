//===- Dialect.cpp - the `tess` dialect -----------------------------------===//
#include "ir/Dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "ir/Dialect.cpp.inc"

namespace tess::ir {

void TessDialect::initialize() {
  addOperations<ConstantOp, FusionOp, KernelOp, NamedSizeOp, YieldOp>();
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

/// Prints each line of the text as a string.
static void printLines(OpAsmPrinter &printer, Operation *, StringAttr text) {
  printer << '{';
  printer.increaseIndent();
  StringRef line, rest = text.getValue();
  while (!rest.empty()) {
    std::tie(line, rest) = rest.split('\n');
    printer.printNewline();
    printer.printString(line);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

static ParseResult parseLines(OpAsmParser &parser, StringAttr &text) {
  std::string lines, line;
  if (parser.parseLBrace())
    return failure();
  while (succeeded(parser.parseOptionalString(&line)))
    lines += line + '\n';
  text = parser.getBuilder().getStringAttr(lines);
  return parser.parseRBrace();
}

} // namespace tess::ir

#define GET_OP_CLASSES
#include "ir/Structure.cpp.inc"
