//===- Dialect.cpp - the `tess` dialect -----------------------------------===//
#include "ir/Dialect.h"
#include "ir/Contents.h"
#include "ir/OpParts.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/Quantization.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

#include "ir/Dialect.cpp.inc"

namespace tess::ir {

Type TessDialect::parseType(DialectAsmParser &parser) const {
  StringRef word;
  std::string text;
  if (parser.parseKeyword(&word))
    return {};
  std::optional<DType> dtype = parseDType(word);
  if (dtype && isLowBit(*dtype))
    return LowBitType::get(getContext(), *dtype);
  if (word != "quantized") {
    parser.emitError(parser.getNameLoc(),
                     "type: its name must be quantized, intb1, intb2 or intb4, got '" + word + "'");
    return {};
  }
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  dtype = parseDType(text);
  if (dtype && isQuantized(*dtype))
    return QuantizedType::get(getContext(), *dtype);
  parser.emitError(parser.getNameLoc(), "quantized: dtype must be a quantized one, got '" + text + "'");
  return {};
}

void TessDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (auto lowBit = dyn_cast<LowBitType>(type))
    printer << shortName(lowBit.getDType());
  else
    printer << "quantized<\"" << shortName(cast<QuantizedType>(type).getDType()) << "\">";
}

void TessDialect::initialize() {
  addTypes<LowBitType, QuantizedType>();
  addInterfaces<ContentHolders>();
  addOperations<ConstantOp, CustomOp, FusionOp, KernelOp, NamedSizeOp, ScanOp, YieldOp>();
#include "ir/OpParts.inc"
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

static bool isCompatible(Type a, ArrayRef<int64_t> shape, Type b) {
  auto x = cast<RankedTensorType>(a), y = cast<RankedTensorType>(b);
  return x.getElementType() == y.getElementType() && succeeded(verifyCompatibleShape(shape, y.getShape()));
}

/// Checks that `element` is `whole` without its first axis.
static bool isElement(Type element, Type whole) {
  if (cast<RankedTensorType>(whole).getShape().empty())
    return false;
  TensorMeta part = metaOf(element), expected = control::elementOf(metaOf(whole));
  return part.dtype == expected.dtype && succeeded(verifyCompatibleShape(expected.shape, part.shape));
}

static bool isSame(Type a, Type b) { return isCompatible(a, cast<RankedTensorType>(a).getShape(), b); }

static bool isGuard(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 &&
         (tensor.getElementType().isInteger(1) || tensor.getElementType().isSignlessInteger(64));
}

LogicalResult ScanOp::verify() {
  Block &block = getBody().front();
  int64_t constants = getConstants(), carried = getCarried(), inputs = getInputs().size();
  if (constants < 0 || carried < 0 || constants + carried > inputs)
    return emitOpError("constants and carried values must be inputs, got ")
           << constants << " and " << carried << " of " << inputs;
  if (getGuarded() && (!carried || !isGuard(getInputs()[constants].getType())))
    return emitOpError("the first carried input of a guarded loop must be tensor<i1> or tensor<i64>, got ")
           << getInputs().getTypes();
  auto arguments = block.getArgumentTypes();
  auto yielded = block.getTerminator()->getOperandTypes();
  bool fits = arguments.size() == size_t(inputs);
  for (int64_t i = 0; fits && i < inputs; ++i)
    fits = i < constants + carried ? isSame(getInputs()[i].getType(), arguments[i])
                                   : isElement(arguments[i], getInputs()[i].getType());
  if (!fits)
    return emitOpError("region arguments must have the types of the inputs, of xs without axis 0, got ")
           << arguments << " and " << getInputs().getTypes();
  fits = yielded.size() == getOuts().size() && int64_t(yielded.size()) >= carried;
  for (int64_t i = 0; fits && i < int64_t(yielded.size()); ++i)
    fits = i < carried ? isSame(arguments[constants + i], yielded[i]) && isSame(yielded[i], getOuts()[i].getType())
                       : isElement(yielded[i], getOuts()[i].getType());
  if (!fits)
    return emitOpError("yielded values must have the types of the carried inputs, then of the outputs without axis 0, "
                       "got ")
           << yielded << " and " << getOuts().getTypes();
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
