//===- nn.cpp - layers as functions, with Python's arguments -------------===//
#include "tessera/nn.h"

#include "eager/stack/Expressions.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"
#include "ops/table/Builtin.h"
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

namespace tessera::nn {

namespace eager = tess::eager;

void checkChoice(const std::string &name, const std::string &what, const std::string &value,
                 const std::vector<std::string> &choices) {
  if (llvm::is_contained(choices, value))
    return;
  std::string list;
  for (const std::string &choice : choices)
    list += (list.empty() ? "'" : ", '") + choice + "'";
  throw Error(ErrorCode::InvalidArgument, name + ": " + what + " must be one of [" + list + "], got '" + value + "'");
}

static void checkComputeMode(const std::string &name, const std::string &mode) {
  checkChoice(name, "compute_mode", mode, {"default", "float32"});
}

static void checkModes(const std::string &name, const std::string &convMode, const std::string &computeMode) {
  checkChoice(name, "conv_mode", convMode, {"cross_correlation"});
  checkComputeMode(name, computeMode);
}

Tensor linear(const Tensor &inp, const Tensor &weight, const Tensor &bias, const std::string &computeMode) {
  checkComputeMode("linear", computeMode);
  return functional::linear(inp, weight, bias);
}

Tensor softmax(const Tensor &inp, std::optional<int64_t> axis) {
  int64_t rank = inp.rank();
  return functional::softmax(inp, axis ? *axis : rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
}

Tensor dropout(const Tensor &inp, double dropProb, bool training) {
  if (!training || dropProb == 0)
    return inp;
  return defaultGenerator().draw(
      [&](const Tensor &seed, const Tensor &offset) { return functional::dropout(inp, seed, offset, dropProb); },
      inp.numElements());
}

Tensor embedding(const Tensor &inp, const Tensor &weight, std::optional<int64_t> paddingIdx) {
  Tensor rows = functional::embedding(weight, inp);
  if (!paddingIdx)
    return rows;
  const Tensor isPadding = functional::logical_or(inp == *paddingIdx, inp == *paddingIdx - weight.size(0));
  return functional::where(functional::expand_dims(isPadding, {-1}), rows.detach(), rows);
}

Tensor withoutRow(const Tensor &weight, std::optional<int64_t> row) {
  const Tensor isOther = functional::arange(weight.size(0), 0, 1, DType::Int32) != *row;
  return functional::where(functional::expand_dims(isOther, {1}), weight.detach(), functional::zeros_like(weight));
}

Tensor flatten(const Tensor &x, int64_t startAxis, int64_t endAxis) {
  return functional::flatten(x, startAxis, endAxis);
}
Tensor zeros(const Shape &shape, DType dtype) { return tessera::zeros(shape, dtype); }

Tensor ones(const Shape &shape, DType dtype) { return tessera::ones(shape, dtype); }

std::vector<Tensor> split(const Tensor &inp, const Sizes &sections, int64_t axis) {
  int64_t size = inp.size(axis);
  if (sections.isOne())
    return functional::split(inp, Shape(sections.list()[0], size / sections.list()[0]), axis);
  Shape ends = sections.list(), sizes;
  ends.push_back(size);
  std::adjacent_difference(ends.begin(), ends.end(), std::back_inserter(sizes));
  return functional::split(inp, sizes, axis);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

std::string described(const Tensor &x) {
  return numpyName(x.dtype()).str() + tess::toString(llvm::ArrayRef(x.shape()));
}

Tensor firstState(const Tensor &inp, const Tensor &weight) {
  eager::TensorRef sequences = inp.ref(), of = weight.ref();
  eager::OnDevice here(sequences->storage().device());
  // A trace holds for other numbers of sequences.
  tess::IntList shape = {eager::recordedShape(*sequences)[1], eager::recordedShape(*of).back()};
  return Tensor(valueOrThrow(eager::applyExpressions(tess::builtin::Full(shape, 0, inp.dtype()))));
}

Tensor marked(const std::string &name, const Tensor &inputs, const Tensor &lengths) {
  if (!tess::isInt(lengths.dtype()))
    throw Error(ErrorCode::TypeMismatch, name + ": lengths must be integers, got " + numpyName(lengths.dtype()).str());
  eager::TensorRef sequences = inputs.ref();
  if (lengths.rank() != 1 || lengths.size(0) != inputs.size(1))
    throw Error(ErrorCode::InvalidArgument, name + ": lengths must have shape (" + std::to_string(inputs.size(1)) +
                                                ",), got " + tess::toString(llvm::ArrayRef(lengths.shape())));
  eager::OnDevice here(sequences->storage().device());
  // A trace holds for other numbers of steps.
  OpDef range = OpDef::get("arange");
  range.set("num", eager::recordedShape(*sequences)[0]);
  range.set("dtype", DType::Int32);
  Tensor times(valueOrThrow(eager::applyExpressions(range)));
  // Zeros, of which those are read that lengths number: a length outside of [0, L] is an error.
  Tensor zeros = functional::pad(times * 0, {0}, {1});
  Tensor counts = functional::astype(lengths, DType::Int32);
  counts = counts + functional::take_along_axes(zeros, {functional::where(counts < 0, INT32_MIN, counts)}, {0},
                                                name + ": lengths");
  Tensor isThere = functional::expand_dims(functional::expand_dims(times, {1}) < counts, {2});
  return functional::concat({inputs, functional::astype(isThere, inputs.dtype())}, 2);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A weight without an axis of groups.
static Tensor kernelOf(const Tensor &weight, int64_t axes) {
  return weight.rank() == axes + 3 ? functional::flatten(weight, 0, 1) : weight;
}

/// A sample without a batch axis gets none by its bias.
static Tensor biased(const Tensor &out, const Tensor &bias) {
  if (!bias.isDefined())
    return out;
  return out + (bias.rank() > out.rank() ? functional::squeeze(bias, {0}) : bias);
}

#define TESS_CONV(FUNCTION, OPERATOR, AXES)                                                                            \
  Tensor FUNCTION(const Tensor &inp, const Tensor &weight, const Tensor &bias, const Sizes &stride,                    \
                  const Sizes &padding, const Sizes &dilation, int64_t groups, const std::string &convMode,            \
                  const std::string &computeMode) {                                                                    \
    checkModes(#OPERATOR, convMode, computeMode);                                                                      \
    return biased(functional::OPERATOR(inp, kernelOf(weight, AXES), stride.each(AXES), padding.each(AXES),             \
                                       dilation.each(AXES), groups),                                                   \
                  bias);                                                                                               \
  }
TESS_CONV(conv1d, conv1d, 1)
TESS_CONV(conv2d, conv2d, 2)
TESS_CONV(conv3d, conv3d, 3)
#undef TESS_CONV

#define TESS_CONV_TRANSPOSE(FUNCTION, OPERATOR, AXES)                                                                  \
  Tensor FUNCTION(const Tensor &inp, const Tensor &weight, const Tensor &bias, const Sizes &stride,                    \
                  const Sizes &padding, const Sizes &outputPadding, const Sizes &dilation, int64_t groups,             \
                  const std::string &convMode, const std::string &computeMode) {                                       \
    checkModes(#OPERATOR, convMode, computeMode);                                                                      \
    return biased(functional::OPERATOR(inp, kernelOf(weight, AXES), stride.each(AXES), padding.each(AXES),             \
                                       dilation.each(AXES), groups, outputPadding.each(AXES)),                         \
                  bias);                                                                                               \
  }
TESS_CONV_TRANSPOSE(convTranspose1d, conv_transpose1d, 1)
TESS_CONV_TRANSPOSE(convTranspose2d, conv_transpose2d, 2)
TESS_CONV_TRANSPOSE(convTranspose3d, conv_transpose3d, 3)
#undef TESS_CONV_TRANSPOSE

#define TESS_POOL(AXES)                                                                                                \
  Tensor maxPool##AXES##d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride,              \
                          const Sizes &padding) {                                                                      \
    return functional::max_pool##AXES##d(inp, kernelSize.each(AXES), stride.value_or(kernelSize).each(AXES),           \
                                         padding.each(AXES));                                                          \
  }                                                                                                                    \
  Tensor avgPool##AXES##d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride,              \
                          const Sizes &padding, const std::string &mode) {                                             \
    checkChoice("avg_pool" #AXES "d", "mode", mode, {"average", "average_count_exclude_padding"});                     \
    return functional::avg_pool##AXES##d(inp, kernelSize.each(AXES), stride.value_or(kernelSize).each(AXES),           \
                                         padding.each(AXES), mode == "average");                                       \
  }
TESS_POOL(1)
TESS_POOL(2)
TESS_POOL(3)
#undef TESS_POOL

Tensor adaptiveAvgPool2d(const Tensor &inp, const Sizes &oshp) {
  return functional::adaptive_avg_pool2d(inp, oshp.each(2));
}
Tensor adaptiveMaxPool2d(const Tensor &inp, const Sizes &oshp) {
  return functional::adaptive_max_pool2d(inp, oshp.each(2));
}

Tensor localConv2d(const Tensor &inp, const Tensor &weight, const Tensor &bias, const Sizes &stride,
                   const Sizes &padding, const Sizes &dilation, const std::string &convMode) {
  checkModes("local_conv2d", convMode, "default");
  return biased(functional::local_conv2d(inp, weight, stride.each(2), padding.each(2), dilation.each(2)), bias);
}

Tensor regionRestrictedConv(const Tensor &inp, const Tensor &weight, const Tensor &rin, const Tensor &rout,
                            const Tensor &bias, const Sizes &stride, const Sizes &padding, const Sizes &dilation,
                            int64_t groups, const std::string &convMode, const std::string &computeMode) {
  checkModes("region_restricted_conv", convMode, computeMode);
  return biased(functional::region_restricted_conv(inp, kernelOf(weight, 2), rin, rout, stride.each(2), padding.each(2),
                                                   dilation.each(2), groups),
                bias);
}

Tensor deformableConv2d(const Tensor &inp, const Tensor &weight, const Tensor &offset, const Tensor &mask,
                        const Tensor &bias, const Sizes &stride, const Sizes &padding, const Sizes &dilation,
                        int64_t groups, const std::string &convMode, const std::string &computeMode) {
  checkModes("deformable_conv2d", convMode, computeMode);
  return biased(functional::deformable_conv2d(inp, kernelOf(weight, 2), offset, mask, stride.each(2), padding.each(2),
                                              dilation.each(2), groups),
                bias);
}

Tensor deformablePsroiPooling(const Tensor &inp, const Tensor &rois, const Tensor &trans, bool noTrans,
                              int64_t partSize, int64_t pooledH, int64_t pooledW, int64_t samplePerPart,
                              double spatialScale, double transStd) {
  if (!noTrans && trans.size(-1) != partSize)
    throw Error(ErrorCode::InvalidArgument, "deformable_psroi_pooling: part_size must be the last size of trans, got " +
                                                std::to_string(partSize) + " and " +
                                                tess::toString(llvm::ArrayRef(trans.shape())));
  return functional::deformable_psroi_pooling(inp, rois, trans, {pooledH, pooledW}, samplePerPart, spatialScale,
                                              transStd, noTrans);
}

Tensor slidingWindow(const Tensor &inp, const Sizes &kernelSize, const Sizes &padding, const Sizes &stride,
                     const Sizes &dilation) {
  return functional::sliding_window(inp, kernelSize.each(2), stride.each(2), padding.each(2), dilation.each(2));
}

Tensor slidingWindowTranspose(const Tensor &inp, const Sizes &outputSize, const Sizes &kernelSize, const Sizes &padding,
                              const Sizes &stride, const Sizes &dilation) {
  return functional::sliding_window_transpose(inp, outputSize.each(2), kernelSize.each(2), stride.each(2),
                                              padding.each(2), dilation.each(2));
}

/// Where the elements of an axis with a border come from.
static std::vector<int64_t> sourcesOf(int64_t size, int64_t before, int64_t after, bool mirrored) {
  std::vector<int64_t> sources;
  for (int64_t place = -before; place < size + after; ++place) {
    int64_t last = std::max<int64_t>(size - 1, 1), turn = std::abs(place) % (2 * last);
    sources.push_back(mirrored ? std::min(turn, 2 * last - turn) : std::clamp<int64_t>(place, 0, size - 1));
  }
  return sources;
}

Tensor pad(const Tensor &src, const Widths &padWidth, const std::string &mode, double constantValue) {
  std::string kind = llvm::StringRef(mode).lower();
  checkChoice("pad", "mode", kind, {"constant", "replicate", "edge", "reflect"});
  Shape before(src.rank(), 0), after(src.rank(), 0);
  for (size_t axis = 0; axis < padWidth.size(); ++axis)
    before.at(axis) = padWidth[axis].at(0), after.at(axis) = padWidth[axis].at(1);
  if (kind == "constant")
    return functional::pad(src, before, after, constantValue);
  Tensor result = src;
  for (int64_t axis = 0; axis < src.rank(); ++axis)
    if (before[axis] || after[axis])
      result = functional::index_get(
          result, {tensor(sourcesOf(src.size(axis), before[axis], after[axis], kind == "reflect"))}, {axis});
  return result;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

Tensor batchNorm(const Tensor &inp, const Tensor &runningMean, const Tensor &runningVar, const Tensor &weight,
                 const Tensor &bias, bool training, double momentum, double eps) {
  if (!training && !(runningMean.isDefined() && runningVar.isDefined()))
    throw Error(ErrorCode::InvalidArgument,
                std::string("batch_norm: running_mean and running_var must be given without training, got no ") +
                    (runningMean.isDefined() ? "running_var" : "running_mean"));
  DType dtype = inp.dtype();
  for (const Tensor &each : {runningVar, runningMean, bias, weight})
    dtype = each.isDefined() ? each.dtype() : dtype;
  Shape shape(inp.rank(), 1);
  shape.at(1) = inp.size(1);
  auto either = [&](const Tensor &given, double value) {
    return given.isDefined() ? given : full(shape, value, dtype);
  };
  Tensor scale = either(weight, 1), shift = either(bias, 0);
  Tensor mean = either(runningMean, 0), variance = either(runningVar, 1);
  if (!training)
    return functional::batch_norm_inference(inp, scale, shift, mean, variance, eps);
  std::vector<Tensor> results = functional::batch_norm(inp, scale, shift, mean, variance, momentum, eps);
  if (runningMean.isDefined())
    runningMean.assign(results[1].detach());
  if (runningVar.isDefined())
    runningVar.assign(results[2].detach());
  return results[0];
}

static Tensor onlyIf(bool affine, const Tensor &x) { return affine ? x : Tensor(); }

Tensor layerNorm(const Tensor &inp, const Sizes &normalizedShape, bool affine, const Tensor &weight, const Tensor &bias,
                 double eps) {
  return functional::layer_norm(inp, onlyIf(affine, weight), onlyIf(affine, bias), normalizedShape.list().size(), eps);
}

Tensor groupNorm(const Tensor &inp, int64_t numGroups, bool affine, const Tensor &weight, const Tensor &bias,
                 double eps) {
  return functional::group_norm(inp, onlyIf(affine, weight), onlyIf(affine, bias), numGroups, eps);
}

Tensor instanceNorm(const Tensor &inp, bool affine, const Tensor &weight, const Tensor &bias, double eps) {
  return functional::instance_norm(inp, onlyIf(affine, weight), onlyIf(affine, bias), eps);
}

Tensor generalNorm(const Tensor &inp, const Sizes &normalizedAxis, bool affine, const Tensor &weight,
                   const Tensor &bias, double eps) {
  const Shape &axes = normalizedAxis.list();
  if (axes.empty())
    throw Error(ErrorCode::InvalidArgument, "general_norm: normalized_axis must name an axis, got none");
  return functional::general_norm(inp, onlyIf(affine, weight), onlyIf(affine, bias), axes, eps);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// [*B, L, E] as [*B, numHeads, L, E / numHeads].
static Tensor splitHeads(const Tensor &x, int64_t numHeads) {
  Shape shape = x.shape();
  int64_t size = shape.back() / numHeads;
  shape.back() = numHeads;
  shape.push_back(size);
  return functional::swapaxes(functional::reshape(x, shape), -3, -2);
}

/// One mask in attention's sense of masks that say what is left out; undefined of none.
static Tensor joinMasks(const std::vector<Tensor> &masks) {
  if (masks.empty())
    return Tensor();
  if (llvm::all_of(masks, [](const Tensor &mask) { return mask.dtype() == DType::Bool; }))
    return functional::logical_not(masks.size() == 1 ? masks[0] : functional::logical_or(masks[0], masks[1]));
  auto added = [](const Tensor &mask) {
    return mask.dtype() == DType::Bool ? functional::where(mask, Tensor(-INFINITY), Tensor(0.0)) : mask;
  };
  return masks.size() == 1 ? added(masks[0]) : added(masks[0]) + added(masks[1]);
}

States multiHeadAttention(const Tensor &query, const Tensor &key, const Tensor &value, int64_t numHeads,
                          const Tensor &qProjWeight, const Tensor &kProjWeight, const Tensor &vProjWeight,
                          const Tensor &outProjWeight, const Tensor &qProjBias, const Tensor &kProjBias,
                          const Tensor &vProjBias, const Tensor &outProjBias, const Tensor &keyPaddingMask,
                          const Tensor &attnMask, double attnDropout, double outDropout, bool training,
                          bool needWeights, bool averageAttnWeights, bool isCausal) {
  std::vector<Tensor> masks;
  if (attnMask.isDefined() && attnMask.rank() == 3 && query.rank() == 3)
    masks.push_back(functional::reshape(attnMask, {-1, numHeads, attnMask.size(1), attnMask.size(2)}));
  else if (attnMask.isDefined())
    masks.push_back(attnMask);
  if (keyPaddingMask.isDefined())
    masks.push_back(functional::expand_dims(keyPaddingMask, {-2, -3}));
  Tensor q = splitHeads(functional::linear(query, qProjWeight, qProjBias), numHeads);
  Tensor k = splitHeads(functional::linear(key, kProjWeight, kProjBias), numHeads);
  Tensor v = splitHeads(functional::linear(value, vProjWeight, vProjBias), numHeads);
  const bool drops = training && attnDropout != 0;
  Tensor out, weights;
  if (drops || needWeights) {
    std::vector<Tensor> attended = functional::scaled_dot_product_attention(q, k, v, joinMasks(masks), isCausal);
    weights = attended[1];
    out = drops ? functional::matmul(dropout(weights, attnDropout), v) : attended[0];
  } else {
    out = functional::attention(q, k, v, joinMasks(masks), isCausal)[0];
  }
  out = functional::reshape(functional::swapaxes(out, -3, -2), query.shape());
  out = dropout(functional::linear(out, outProjWeight, outProjBias), outDropout, training);
  if (!needWeights)
    return {out, Tensor()};
  return {out, averageAttnWeights ? functional::mean(weights, {-3}) : weights};
}

} // namespace tessera::nn
