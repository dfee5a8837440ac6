//===- SpatialShapes.cpp - shapes of convolutions and pooling ------------===//
#include "ops/inference/Checks.h"
#include "ops/inference/ExactSums.h"
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"
#include "ops/inference/WindowRules.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// Checks that the operands have batch, channels and an axis for each stride.
static llvm::Error requireRank(const OpDef &op, Operands operands) {
  unsigned rank = 2 + op.ints("strides").size();
  for (unsigned i = 0; i < operands.size(); ++i)
    if (operands[i].rank() != rank)
      return mustHold(op, llvm::Twine(op.info().operands[i].name) + " must have rank " + llvm::Twine(rank), operands,
                      i);
  return llvm::Error::success();
}

static int64_t dilated(int64_t kernel, int64_t dilation) {
  return sizes::add(sizes::multiply(dilation, sizes::add(kernel, -1)), 1);
}

/// The shape of a convolution of x by weight; `xi` and `wi` are the numbers of these operands, for messages.
static llvm::Expected<Shape> convShape(const OpDef &op, Operands operands, unsigned xi, unsigned wi) {
  const Shape &x = operands[xi].shape, &w = operands[wi].shape;
  const IntList &strides = op.ints("strides"), &padding = op.ints("padding"), &dilation = op.ints("dilation");
  int64_t groups = op.i64("groups");
  if (differs(x[1], sizes::multiply(w[1], groups)))
    return mustHoldOfTwo(op,
                         "channels of " + llvm::Twine(op.info().operands[xi].name) + " must be groups (" +
                             llvm::Twine(groups) + ") times those of weight",
                         operands, xi, wi);
  if (w[0] != kUnknown && !sizes::isSymbolic(w[0]) && w[0] % groups != 0)
    return mustHold(op, "output channels must be a multiple of groups (" + llvm::Twine(groups) + ")", operands, wi);
  Shape shape = {x[0], w[0]};
  for (unsigned i = 0; i < strides.size(); ++i) {
    shape.push_back(windows::count(x[2 + i], {w[2 + i], strides[i], padding[i], dilation[i]}));
    if (shape.back() == -1)
      return mustHoldOfTwo(op, "window must fit into the padded input", operands, xi, wi);
  }
  return shape;
}

/// Checks that operand `index` has the shape of the forward result.
static llvm::Error requireShape(const OpDef &op, Operands operands, unsigned index, llvm::ArrayRef<int64_t> shape) {
  for (unsigned i = 0; i < shape.size(); ++i)
    if (differs(operands[index].shape[i], shape[i]))
      return mustHold(op, llvm::Twine(op.info().operands[index].name) + " must have shape " + toString(shape), operands,
                      index);
  return llvm::Error::success();
}

llvm::Expected<Metas> conv(const OpDef &op, Operands operands, Segments) {
  if (llvm::Error e = requireRank(op, operands))
    return std::move(e);
  llvm::Expected<Shape> shape = convShape(op, operands, 0, 1);
  if (!shape)
    return shape.takeError();
  return single(operands, *shape);
}

/// The size of the result along spatial axis `i`; -1 where nothing is left.
static int64_t transposedSize(const OpDef &op, const Shape &x, const Shape &w, unsigned i) {
  int64_t size = sizes::add(
      sizes::multiply(sizes::add(x[2 + i], -1), op.ints("strides")[i]),
      sizes::add(dilated(w[2 + i], op.ints("dilation")[i]), op.ints("output_padding")[i] - 2 * op.ints("padding")[i]));
  return size == kUnknown || sizes::isSymbolic(size) || size > 0 ? size : -1;
}

llvm::Expected<Metas> convTranspose(const OpDef &op, Operands operands, Segments) {
  if (llvm::Error e = requireRank(op, operands))
    return std::move(e);
  const Shape &x = operands[0].shape, &w = operands[1].shape;
  const IntList &strides = op.ints("strides"), &outside = op.ints("output_padding");
  int64_t groups = op.i64("groups");
  if (differs(x[1], w[0]))
    return mustHoldOfTwo(op, "channels of x must be those of weight", operands, 0, 1);
  if (x[1] != kUnknown && !sizes::isSymbolic(x[1]) && x[1] % groups != 0)
    return mustHold(op, "channels of x must be a multiple of groups (" + llvm::Twine(groups) + ")", operands);
  Shape shape = {x[0], sizes::multiply(w[1], groups)};
  for (unsigned i = 0; i < strides.size(); ++i) {
    if (outside[i] >= strides[i])
      return mustHoldOf(op, "output_padding must be below strides",
                        toString(outside) + " and strides " + toString(strides));
    shape.push_back(transposedSize(op, x, w, i));
    if (shape.back() == -1)
      return mustHoldOfTwo(op, "padding must leave elements of the result", operands, 0, 1);
  }
  return single(operands, shape);
}

/// A rule of convolutions for bytes, whose first two operands are of convolutions and whose third is the zero point.
static llvm::Expected<Metas> ofIntegers(decltype(conv) rule, const OpDef &op, Operands operands, int64_t depth) {
  llvm::Expected<Metas> metas = rule(op, operands.take_front(2), {});
  if (!metas)
    return metas;
  if (operands.size() > 2 && operands[2].rank() != 0)
    return mustHold(op, "x_zero must have rank 0", operands, 2);
  if (llvm::Error e = integers::requireDepth(op, operands, depth))
    return std::move(e);
  return metas;
}

/// Elements of a window and `channels`, a size of the weight.
static int64_t windowDepth(const TensorMeta &weight, int64_t channels) {
  for (int64_t size : llvm::ArrayRef(weight.shape).drop_front(2))
    channels = sizes::multiply(channels, size);
  return channels;
}

llvm::Expected<Metas> integerConv(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &weight = operands[1];
  return ofIntegers(conv, op, operands, weight.rank() < 2 ? kUnknown : windowDepth(weight, weight.shape[1]));
}

llvm::Expected<Metas> integerConvTranspose(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &weight = operands[1];
  const bool isKnown = weight.rank() >= 2 && weight.shape[0] >= 0;
  return ofIntegers(convTranspose, op, operands,
                    isKnown ? windowDepth(weight, weight.shape[0] / op.i64("groups")) : kUnknown);
}

/// Checks the operands of a quantized convolution behind x and weight, whose result has `shape`.
static llvm::Error quantizedOperands(const OpDef &op, Operands operands, llvm::ArrayRef<int64_t> shape) {
  enum { XScale = 2, XZero, WeightScale, OutScale, OutZero, Bias, Residual, ResidualScale, ResidualZero, All };
  if (operands.size() != Residual && operands.size() != All)
    return mustHoldOf(op, "residual must come with its scale and zero point",
                      llvm::Twine(operands.size()) + " operands");
  for (unsigned i = XScale; i < operands.size(); ++i) {
    const bool isOfChannels = i == WeightScale || i == Bias;
    if (i != Residual && operands[i].rank() > isOfChannels)
      return mustHold(op, llvm::Twine(op.info().operands[i].name) + " must have rank 0" + (isOfChannels ? " to 1" : ""),
                      operands, i);
    if (isOfChannels && operands[i].rank() && differs(operands[i].shape[0], shape[1]))
      return mustHoldOfTwo(op, "weight_scale and bias must be one number or one for each output channel", operands, i,
                           1);
  }
  if (operands.size() == Residual)
    return llvm::Error::success();
  const Shape &residual = operands[Residual].shape;
  bool isSame = residual.size() == shape.size();
  for (unsigned i = 0; isSame && i < shape.size(); ++i)
    isSame = !differs(residual[i], shape[i]);
  return isSame ? llvm::Error::success()
                : mustHold(op, "residual must have the shape of the result (" + llvm::Twine(toString(shape)) + ")",
                           operands, Residual);
}

llvm::Expected<Metas> quantizedConv(const OpDef &op, Operands operands, Segments) {
  llvm::Expected<Metas> metas = conv(op, operands.take_front(2), {});
  if (!metas)
    return metas;
  constexpr int64_t kMost = INT32_MAX / 2 / (255 * 128); // products
  const int64_t depth = windowDepth(operands[1], operands[1].shape[1]);
  if (depth != kUnknown && !sizes::isSymbolic(depth) && depth > kMost)
    return mustHoldOfTwo(op,
                         "depth (" + llvm::Twine(depth) + ", at most " + llvm::Twine(kMost) +
                             ") must leave half of int32 to the bias",
                         operands, 0, 1);
  if (llvm::Error e = quantizedOperands(op, operands, (*metas)[0].shape))
    return std::move(e);
  return metas;
}

static llvm::Expected<Shape> poolShape(const OpDef &op, Operands operands, unsigned xi) {
  const Shape &x = operands[xi].shape;
  const IntList &kernel = op.ints("kernel_size"), &strides = op.ints("strides"), &padding = op.ints("padding");
  Shape shape = {x[0], x[1]};
  for (unsigned i = 0; i < kernel.size(); ++i) {
    if (padding[i] >= kernel[i])
      return mustHoldOf(op, "padding must be below the window's size",
                        "kernel_size " + toString(kernel) + " and padding " + toString(padding));
    shape.push_back(windows::count(x[2 + i], {kernel[i], strides[i], padding[i], 1}));
    if (shape.back() == -1)
      return mustHold(op, "window " + toString(kernel) + " must fit into the padded input", operands, xi);
  }
  return shape;
}

} // namespace tess::shapes

namespace tess::checks {

using namespace shapes;

/// `x` and `weight` are operand numbers; operand 1 is the gradient of the result.
static llvm::Error convBackward(const OpDef &op, Operands operands, unsigned x, unsigned weight) {
  if (llvm::Error e = requireRank(op, operands))
    return e;
  llvm::Expected<Shape> shape = convShape(op, operands, x, weight);
  return shape ? requireShape(op, operands, 1, *shape) : shape.takeError();
}

llvm::Error convBackwardData(const OpDef &op, Operands operands, Segments) { return convBackward(op, operands, 2, 0); }

llvm::Error convBackwardWeight(const OpDef &op, Operands operands, Segments) {
  return convBackward(op, operands, 0, 2);
}

static llvm::Error poolBackward(const OpDef &op, Operands operands, unsigned x, llvm::ArrayRef<unsigned> outputs) {
  llvm::Expected<Shape> shape = poolShape(op, operands, x);
  if (!shape)
    return shape.takeError();
  for (unsigned output : outputs)
    if (llvm::Error e = requireShape(op, operands, output, *shape))
      return e;
  return llvm::Error::success();
}

llvm::Error maxPoolBackward(const OpDef &op, Operands operands, Segments) {
  return poolBackward(op, operands, 0, {1, 2});
}

llvm::Error avgPoolBackward(const OpDef &op, Operands operands, Segments) { return poolBackward(op, operands, 1, {0}); }

} // namespace tess::checks
