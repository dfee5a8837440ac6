//===- ConstantFactors.cpp - constants that products take in --------------===//
#include "compiler/transforms/ConstantFactors.h"
#include "compiler/transforms/ScalarBodies.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/GradientRules.h"
#include "ops/inference/ShapeRules.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>
#include <cstring>

namespace tess::compiler {
namespace {
using namespace mlir;
using namespace tess::ir;

/// Arithmetic on constants is followed so far.
constexpr unsigned kMaxDepth = 16;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isWideFloat(Value value) {
  Type element = typeOf(value).getElementType();
  return element.isF32() || element.isF64();
}

/// The function of an operator by which constants are computed here; none: another one.
std::optional<ScalarFn> arithmeticOf(Operation *op) {
  std::optional<ScalarFn> fn = binaryFunctionOf(op);
  bool isKnown = fn == ScalarFn::Add || fn == ScalarFn::Sub || fn == ScalarFn::Mul || fn == ScalarFn::Div;
  return isKnown ? fn : std::nullopt;
}

bool isConstantWithin(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || !typeOf(value).hasStaticShape() || !depth)
    return false;
  if (isa<ConstantOp>(op))
    return true;
  const OpInfo *info = infoOf(op);
  bool isFolded = info && !info->stochastic && !op->hasAttr(kScalarsAttr) && !op->hasAttr(kSizesAttr) &&
                  (info->operands.empty() || info->lowering == Lowering::View || arithmeticOf(op));
  return isFolded && llvm::all_of(op->getOperands(), [&](Value v) { return isConstantWithin(v, depth - 1); });
}

template <typename T> Magnitudes magnitudesOfElements(ArrayRef<char> bytes) {
  Magnitudes all;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof(T));
    all.add(double(element));
  }
  return all;
}

std::optional<Magnitudes> magnitudesOfContent(ConstantOp op) {
  auto content = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!content || !content.getRawHandle().getBlob() || !isWideFloat(op.getOut()))
    return std::nullopt;
  ArrayRef<char> bytes = content.getRawHandle().getBlob()->getData();
  return typeOf(op.getOut()).getElementType().isF32() ? magnitudesOfElements<float>(bytes)
                                                      : magnitudesOfElements<double>(bytes);
}

std::optional<Magnitudes> magnitudesOfArithmetic(Operation *op) {
  std::optional<ScalarFn> fn = arithmeticOf(op);
  std::optional<Magnitudes> a = magnitudesOf(op->getOperand(0)), b = magnitudesOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (fn == ScalarFn::Mul)
    return *a * *b;
  return fn == ScalarFn::Div ? *a / *b : *a + *b;
}

std::optional<WeightedProduct> matrixProduct(Operation *op) {
  OpDef def = opDefOf(op);
  int64_t ranks[2] = {typeOf(op->getOperand(0)).getRank(), typeOf(op->getOperand(1)).getRank()};
  if (ranks[0] < 2 || ranks[1] < 2)
    return std::nullopt;
  const unsigned weight = isConstant(op->getOperand(1)) ? 1 : 0, input = 1 - weight;
  bool swapped[2] = {def.boolean("transpose_x"), def.boolean("transpose_y")};
  // The summed axis of an operand is the last one on the left and the one before it on the right.
  auto summed = [&](unsigned n) { return ranks[n] - (swapped[n] == (n == 0) ? 2 : 1); };
  auto kept = [&](unsigned n) { return ranks[n] - (swapped[n] == (n == 0) ? 1 : 2); };
  int64_t rank = typeOf(op->getResult(0)).getRank();
  return WeightedProduct{op, weight, {summed(input), summed(weight)}, {rank - (weight == 1 ? 1 : 2), kept(weight)}};
}

/// A convolution or a transposed one: the weight has the channels of result and operand, or of operand and result. The
/// second ones are those of one group.
WeightedProduct convolution(Operation *op, bool isTransposed) {
  bool isWhole = opDefOf(op).i64("groups") == 1;
  ChannelAxes first{1, 0}, second{isWhole ? std::optional<int64_t>(1) : std::nullopt, 1};
  return {op, 1, isTransposed ? first : second, isTransposed ? second : first};
}

} // namespace

bool hasWideFloat(Operation *op) {
  return isWideFloat(op->getOperand(0)) &&
         typeOf(op->getOperand(0)).getElementType() == typeOf(op->getResult(0)).getElementType();
}

bool isConstant(Value value) { return isConstantWithin(value, kMaxDepth); }

void Magnitudes::add(double element) {
  isFinite = isFinite && std::isfinite(element);
  if (element == 0)
    return void(hasZero = true);
  element = std::abs(element);
  least = isEmpty ? element : std::min(least, element);
  most = isEmpty ? element : std::max(most, element);
  isEmpty = false;
}

Magnitudes Magnitudes::operator*(const Magnitudes &other) const {
  return {least * other.least, most * other.most, hasZero || other.hasZero, isFinite && other.isFinite, false};
}

Magnitudes Magnitudes::operator/(const Magnitudes &other) const {
  return {least / other.most, most / other.least, hasZero, isFinite && other.isFinite && !other.hasZero, false};
}

Magnitudes Magnitudes::operator+(const Magnitudes &other) const { // terms may cancel
  return {0, most + other.most, true, isFinite && other.isFinite, false};
}

std::optional<Magnitudes> magnitudesOf(Value constant) {
  Operation *op = constant.getDefiningOp();
  if (auto known = dyn_cast<ConstantOp>(op))
    return magnitudesOfContent(known);
  const OpInfo *info = infoOf(op);
  if (info->lowering == Lowering::View)
    return magnitudesOf(op->getOperand(0));
  if (std::optional<double> number = numberOf(constant)) {
    Magnitudes one;
    one.add(*number);
    return one;
  }
  return arithmeticOf(op) ? magnitudesOfArithmetic(op) : std::nullopt;
}

bool fitTogether(Value a, Value b) {
  ArrayRef<int64_t> longer = typeOf(a).getShape(), shorter = typeOf(b).getShape();
  if (longer.size() < shorter.size())
    std::swap(longer, shorter);
  int64_t together = 1;
  for (auto [index, size] : llvm::enumerate(llvm::reverse(longer)))
    together *= index < shorter.size() ? std::max(size, shorter[shorter.size() - 1 - index]) : size;
  return together <= std::max(typeOf(a).getNumElements(), typeOf(b).getNumElements());
}

std::optional<WeightedProduct> weightedProduct(Operation *op) {
  const OpInfo *info = op ? infoOf(op) : nullptr;
  if (!info || info->lowering != Lowering::Library || op->getNumOperands() != 2 || !hasWideFloat(op) ||
      !isWideFloat(op->getOperand(1))) // a narrow weight would lose digits
    return std::nullopt;
  const bool isRightConstant = isConstant(op->getOperand(1));
  if (info->gradient == gradients::matmul && (isRightConstant || isConstant(op->getOperand(0))))
    return matrixProduct(op);
  if (isRightConstant && info->shapeRule == shapes::conv)
    return convolution(op, /*isTransposed=*/false);
  if (isRightConstant && info->shapeRule == shapes::convTranspose)
    return convolution(op, /*isTransposed=*/true);
  return std::nullopt;
}

bool variesAlong(Value constant, const ChannelAxes &channels, int64_t rank) {
  RankedTensorType type = typeOf(constant);
  if (type.getRank() > rank)
    return false;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (size != 1 && int64_t(axis) + rank - type.getRank() != channels.ofValue)
      return false;
  return true;
}

} // namespace tess::compiler
