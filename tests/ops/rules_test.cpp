//===- rules_test.cpp - what shape rules and checks refuse ---------------===//
//
// One line for each label of a record's own constraints.
//
//===----------------------------------------------------------------------===//
#include "tests/ops/QuantizedRefusals.h"
#include "tests/ops/Samples.h"

#include "ops/table/Builtin.h"
#include <set>

using namespace tess;
using namespace tess::test;
using namespace tess::builtin;

static TensorMeta flags(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Bool, shape); }

constexpr int64_t kLongAxis = int64_t(1) << 31; // whose elements no int32 numbers

static std::vector<Refusal> viewRefusals() {
  return {
      {Reshape({-1, -1}),
       {f32({4})},
       "reshape: shape must have at most one -1 and otherwise entries >= 0, got [-1, -1]"},
      {Reshape({3}), {f32({2, 2})}, "reshape: number of elements must stay the same, got x f32[2, 2] and shape [3]"},
      {Reshape({3, -1}), {f32({2})}, "reshape: number of elements must stay the same, got x f32[2] and shape [3, -1]"},
      {Transpose({0}), {f32({2, 2})}, "transpose: pattern must name every axis of x, got [0] and x f32[2, 2]"},
      {Squeeze({0}), {f32({2, 1})}, "squeeze: removed axes must have size 1, got x f32[2, 1]"},
      {Squeeze(), {f32({kUnknown})}, "squeeze: dimensions must be known when axis is empty, got x f32[?]"},
      {BroadcastTo({3, -2}), {f32({3, 1})}, "broadcast_to: shape must have entries >= -1, got [3, -2]"},
      {BroadcastTo({-1, 3}), {f32({3})}, "broadcast_to: x must broadcast to shape, got x f32[3] and shape [-1, 3]"},
      {BroadcastTo({2, 4}), {f32({3})}, "broadcast_to: x must broadcast to shape, got x f32[3] and shape [2, 4]"},
      {Slice({0}, {1}),
       {f32({2, 2})},
       "slice: starts, stops and steps must have an entry for each axis, got x f32[2, 2], starts [0], stops [1] and "
       "steps []"},
      {Slice({0}, {1}, {0}), {f32({2})}, "slice: steps must not be 0, got [0]"},
      {Slice({2}, {3}, {}, {0}),
       {f32({2})},
       "slice: starts must be indices of x for the axes in_bounds, got x f32[2], starts [2] and in_bounds [0]"},
      {Flatten(3),
       {f32({2, 2})},
       "flatten: start_axis and end_axis must be axes of x, got x f32[2, 2], start_axis 3 and end_axis -1"},
      {Flatten(1, 0),
       {f32({2, 2})},
       "flatten: start_axis must not be above end_axis, got x f32[2, 2], start_axis 1 and end_axis 0"},
      {MatchSize(3, 0, "add"), {f32({2})}, "add: sizes must match, got axis 0 of f32[2] and 3"},
      {ReshapeLike(),
       {f32({2}), f32({3})},
       "reshape_like: number of elements must be the same, got x f32[2] and like f32[3]"},
      {BroadcastLike(), {f32({2}), f32({3})}, "broadcast_like: x must broadcast to like, got x f32[2] and like f32[3]"},
      {SumTo(), {f32({2}), f32({3})}, "sum_to: like must broadcast to x, got x f32[2] and like f32[3]"},
  };
}

static std::vector<Refusal> spatialRefusals() {
  TensorMeta x = f32({2, 3, 5, 6}), w = f32({4, 3, 3, 3}), small = f32({2, 3, 2, 2});
  MaxPool2d pool({2, 2}, {2, 2});
  return {
      {Conv2d(), {f32({3, 5, 6}), w}, "conv2d: x must have rank 4, got x f32[3, 5, 6]"},
      {Conv2d(),
       {f32({2, 4, 5, 6}), w},
       "conv2d: channels of x must be groups (1) times those of weight, got x f32[2, 4, 5, 6] and weight f32[4, 3, 3, "
       "3]"},
      {Conv2d({1, 1}, {0, 0}, {1, 1}, 3),
       {f32({2, 9, 5, 6}), w},
       "conv2d: output channels must be a multiple of groups (3), got weight f32[4, 3, 3, 3]"},
      {Conv2d(),
       {small, w},
       "conv2d: window must fit into the padded input, got x f32[2, 3, 2, 2] and weight f32[4, 3, 3, 3]"},
      {Conv2dBackwardData(),
       {w, f32({2, 4, 3, 3}), x},
       "conv2d_backward_data: dout must have shape [2, 4, 3, 4], got dout f32[2, 4, 3, 3]"},
      {Conv2dBackwardWeight(),
       {x, f32({2, 4, 3, 3}), w},
       "conv2d_backward_weight: dout must have shape [2, 4, 3, 4], got dout f32[2, 4, 3, 3]"},
      {pool, {f32({5, 6})}, "max_pool2d: x must have rank 4, got x f32[5, 6]"},
      {MaxPool2d({2, 2}, {1, 1}, {2, 2}),
       {x},
       "max_pool2d: padding must be below the window's size, got kernel_size [2, 2] and padding [2, 2]"},
      {AvgPool2d({7, 7}), {f32({3, 5, 6})}, "avg_pool2d: x must have rank 4, got x f32[3, 5, 6]"},
      {MaxPool2dBackward({2, 2}, {2, 2}),
       {x, f32({2, 3, 2, 2}), f32({2, 3, 2, 2})},
       "max_pool2d_backward: out must have shape [2, 3, 2, 3], got out f32[2, 3, 2, 2]"},
      {AvgPool2dBackward({2, 2}, {2, 2}),
       {f32({2, 3, 2, 2}), x},
       "avg_pool2d_backward: dout must have shape [2, 3, 2, 3], got dout f32[2, 3, 2, 2]"},
      {MaxPool3d({2, 2, 2}), {x}, "max_pool3d: x must have rank 5, got x f32[2, 3, 5, 6]"},
      {AvgPool3d({1, 1, 1}), {x}, "avg_pool3d: x must have rank 5, got x f32[2, 3, 5, 6]"},
      {MaxPool3dBackward({1, 1, 1}), {x, x, x}, "max_pool3d_backward: x must have rank 5, got x f32[2, 3, 5, 6]"},
      {AvgPool3dBackward({1, 1, 1}), {x, x}, "avg_pool3d_backward: dout must have rank 5, got dout f32[2, 3, 5, 6]"},
      {Conv1d(), {x, w}, "conv1d: x must have rank 3, got x f32[2, 3, 5, 6]"},
      {MaxPool1d({2}), {x}, "max_pool1d: x must have rank 3, got x f32[2, 3, 5, 6]"},
      {AvgPool1d({7}),
       {f32({2, 3, 6})},
       "avg_pool1d: window must fit into the padded input, got x f32[2, 3, 6], kernel_size [7] and padding [0]"},
      {AdaptiveAvgPool2d({1, 1}), {f32({2, 3})}, "adaptive_avg_pool2d: x must have rank 4, got x f32[2, 3]"},
  };
}

static std::vector<Refusal> transposedRefusals() {
  TensorMeta x = f32({2, 4, 5, 6}), w = f32({4, 3, 3, 3}), sequence = f32({2, 4, 5});
  return {
      {ConvTranspose2d(), {x, f32({4, 3, 3})}, "conv_transpose2d: weight must have rank 4, got weight f32[4, 3, 3]"},
      {ConvTranspose2d(),
       {x, f32({3, 4, 3, 3})},
       "conv_transpose2d: channels of x must be those of weight, got x f32[2, 4, 5, 6] and weight f32[3, 4, 3, 3]"},
      {ConvTranspose2d({1, 1}, {0, 0}, {1, 1}, 3),
       {x, w},
       "conv_transpose2d: channels of x must be a multiple of groups (3), got x f32[2, 4, 5, 6]"},
      {ConvTranspose1d({2}, {0}, {1}, 1, {2}),
       {sequence, f32({4, 3, 3})},
       "conv_transpose1d: output_padding must be below strides, got [2] and strides [2]"},
      {ConvTranspose1d({1}, {4}),
       {sequence, f32({4, 3, 3})},
       "conv_transpose1d: padding must leave elements of the result, got x f32[2, 4, 5] and weight f32[4, 3, 3]"},
      {ConvTranspose3d(),
       {f32({1, 4, 1, 1, 1}), f32({2, 4, 1, 1, 1})},
       "conv_transpose3d: channels of x must be those of weight, got x f32[1, 4, 1, 1, 1] and weight f32[2, 4, 1, 1, "
       "1]"},
      {Conv3d(), {x, w}, "conv3d: x must have rank 5, got x f32[2, 4, 5, 6]"},
      {Conv1dBackwardData(),
       {f32({4, 3, 3}), f32({2, 4, 2}), f32({2, 3, 5})},
       "conv1d_backward_data: dout must have shape [2, 4, 3], got dout f32[2, 4, 2]"},
      {Conv1dBackwardWeight(),
       {f32({2, 3, 5}), f32({2, 4, 2}), f32({4, 3, 3})},
       "conv1d_backward_weight: dout must have shape [2, 4, 3], got dout f32[2, 4, 2]"},
      {Conv3dBackwardData(),
       {f32({4, 3, 1, 3, 3}), f32({2, 4, 1, 3, 3}), f32({2, 3, 1, 5, 6})},
       "conv3d_backward_data: dout must have shape [2, 4, 1, 3, 4], got dout f32[2, 4, 1, 3, 3]"},
      {Conv3dBackwardWeight(),
       {f32({2, 3, 1, 5, 6}), f32({2, 4, 1, 3, 3}), f32({4, 3, 1, 3, 3})},
       "conv3d_backward_weight: dout must have shape [2, 4, 1, 3, 4], got dout f32[2, 4, 1, 3, 3]"},
  };
}

static std::vector<Refusal> linearRefusals() {
  return {
      {Kron(),
       {f32({1, 1, 1, 1}), f32({1, 1, 1, 1, 2})},
       "kron: indices must have at most 8 dimensions, got x f32[1, 1, 1, 1] and y f32[1, 1, 1, 1, 2]"},
      {Cross(), {f32({2, 4}), f32({3})}, "cross: vectors must have 2 or 3 elements, got a f32[2, 4]"},
      {Cross(), {f32({2, 3}), f32({4, 3})}, "cross: other axes must broadcast, got a f32[2, 3] and b f32[4, 3]"},
      {Cross(-1, -1, 2), {f32({2, 3}), f32({2, 3})}, "cross: axisc must be in [-2, 1], got 2"},
  };
}

static std::vector<Refusal> einsumRefusals() {
  std::string one = "\" and operands f32[2, 3]", two = "\" and operands f32[2, 3], f32[4]";
  Metas matrix = {f32({2, 3})}, both = {f32({2, 3}), f32({4})}, many = {f32({1, 1, 1, 1, 1}), f32({1, 1, 1, 1})};
  return {
      {Einsum("ij->i->j"), matrix,
       "einsum: equation must be made of letters, dots, commas and one arrow at most, got "
       "equation \"ij->i->j" +
           one},
      {Einsum("..ij"), matrix,
       "einsum: equation must be made of letters, dots, commas and one arrow at most, got "
       "equation \"..ij" +
           one},
      {Einsum("ij"), both, "einsum: equation must have a part for each operand, got equation \"ij" + two},
      {Einsum(""), {}, "einsum: equation must have a part for each operand, got equation \"\" and operands none"},
      {Einsum("...ijk"), matrix,
       "einsum: parts of the equation must have a letter for each axis, got equation "
       "\"...ijk" +
           one},
      {Einsum("i...->i"), matrix,
       "einsum: result must have dots where operands have axes for them, got equation "
       "\"i...->i" +
           one},
      {Einsum("ij->k"), matrix,
       "einsum: result must have letters of operands, each of them once, got equation "
       "\"ij->k" +
           one},
      {Einsum("ij->ii"), matrix,
       "einsum: result must have letters of operands, each of them once, got equation "
       "\"ij->ii" +
           one},
      {Einsum("ij,j"), both, "einsum: sizes of a letter must match, got equation \"ij,j" + two},
      {Einsum("i...,..."), both, "einsum: axes of the dots must broadcast, got equation \"i...,..." + two},
      {Einsum("abcde,fghi"), many,
       "einsum: result must have at most 8 axes, got equation \"abcde,fghi\" and operands "
       "f32[1, 1, 1, 1, 1], f32[1, 1, 1, 1]"},
  };
}

static std::vector<Refusal> linalgRefusals() {
  return {
      {Qr(), {f32({3})}, "qr: x must have rank >= 2, got x f32[3]"},
      {Svd(), {f32({})}, "svd: x must have rank >= 2, got x f32[]"},
      {Svdvals(), {f32({3})}, "svdvals: x must have rank >= 2, got x f32[3]"},
  };
}

static std::vector<Refusal> attentionRefusals() {
  TensorMeta query = f32({2, 4, 3}), key = f32({5, 3}), value = f32({5, 2}), sums = f32({4}), mask = flags({3, 1, 5});
  const std::string fits = ": attn_mask must broadcast to the weights, got attn_mask bool[3, 1, 5] and weights "
                           "[2, 4, 5]";
  return {
      {ScaledDotProductAttention(), {query, key, value, mask}, "scaled_dot_product_attention" + fits},
      {Attention(), {query, key, value, mask}, "attention" + fits},
      {AttentionBackward(), {query, key, value, sums, sums, f32({4, 2}), mask}, "attention_backward" + fits},
      {RotaryEmbedding(),
       {f32({2, 5}), f32({2}), f32({2})},
       "rotary_embedding: last axis of x must have an even size, got x f32[2, 5]"},
      {RotaryEmbedding(),
       {f32({2, 4}), f32({2}), f32({3, 2})},
       "rotary_embedding: cos and sin must broadcast to the pairs of x, got x f32[2, 4] and sin f32[3, 2]"},
      {ScaledDotProductAttentionBackward(),
       {query, key, value, f32({4, 5}), f32({2, 4, 2})},
       "scaled_dot_product_attention_backward: weights must have every leading axis, got weights f32[4, 5] and leading "
       "axes [2]"},
  };
}

static std::vector<Refusal> normRefusals() {
  TensorMeta x = f32({2, 3, 5}), p = f32({1, 3, 1}), half(DType::Float16, {1, 3, 1});
  return {
      {BatchNorm(), {f32({3}), p, p, p, p}, "batch_norm: x must have rank 2 to 5, got x f32[3]"},
      {BatchNorm(),
       {x, p, f32({3}), p, p},
       "batch_norm: parameters must have shape [1, C, 1, ...] for x [N, C, ...], got x f32[2, 3, 5] and bias f32[3]"},
      {BatchNorm(),
       {x, p, p, p, half},
       "batch_norm: parameters must have one dtype, got scale f32[1, 3, 1] and running_var f16[1, 3, 1]"},
      {BatchNormInference(),
       {x, p, p, p, half},
       "batch_norm_inference: parameters must have one dtype, got scale f32[1, 3, 1] and var f16[1, 3, 1]"},
      {LayerNorm(4), {x}, "layer_norm: axes must not be above the rank of x, got x f32[2, 3, 5]"},
      {LayerNorm(), {x, f32({3})}, "layer_norm: dimensions *k must match, got x f32[2, 3, 5] and scale f32[3]"},
      {RmsNorm(), {x, f32({3, 5})}, "rms_norm: scale must have the axes [*k], got x f32[2, 3, 5] and scale f32[3, 5]"},
      {GeneralNorm({2, 0}),
       {x, f32({2, 5})},
       "general_norm: dimensions *k must match, got x f32[2, 3, 5] and scale f32[2, 5]"},
      {InstanceNorm(), {x, f32({2})}, "instance_norm: dimension c must match, got x f32[2, 3, 5] and scale f32[2]"},
      {GroupNorm(2), {x}, "group_norm: num_groups (2) must divide the channels of x, got x f32[2, 3, 5]"},
      {LocalResponseNorm(4), {f32({2, 3, 5, 5})}, "local_response_norm: kernel_size must be odd, got 4"},
      {Logsumexp({0}), {f32({0, 2})}, "logsumexp: reduced dimensions must not be empty, got x f32[0, 2]"},
      {OpDef::get("norm").set("ord", 0.0), {f32({2})}, "norm: ord must not be 0, got f32[2] and ord 0"},
      {OpDef::get("norm").set("ord", INFINITY), {f32({0})}, "norm: reduced dimensions must not be empty, got x f32[0]"},
      {OpDef::get("normalize").set("axes", IntList{0, -2}),
       {f32({2, 3})},
       "normalize: axes must be distinct, got [0, -2]"},
      {OpDef::get("normalize").set("ord", 0.0), {f32({2})}, "normalize: ord must not be 0, got f32[2] and ord 0"},
      {Max({0}), {f32({0, 2})}, "max: reduced dimensions must not be empty, got x f32[0, 2]"},
      {Argmax(0), {f32({0, 2})}, "argmax: reduced dimensions must not be empty, got x f32[0, 2]"},
  };
}

static std::vector<Refusal> lossRefusals() {
  TensorMeta pred = f32({4, 5}), label = i32({4});
  std::vector<Refusal> refusals = {
      {CrossEntropy(),
       {pred, i32({5})},
       "cross_entropy: label must have the shape of pred without the class axis, got pred f32[4, 5] and label i32[5]"},
      {CrossEntropy(), {pred, label, f32({1, 5})}, "cross_entropy: weight must have rank 1, got weight f32[1, 5]"},
      {CrossEntropy(),
       {pred, label, f32({4})},
       "cross_entropy: weight must have an element for each class, got pred f32[4, 5] and weight f32[4]"},
      {NllLoss(), {pred, label, f32({1, 5})}, "nll_loss: weight must have rank 1, got weight f32[1, 5]"},
      {NllLoss(),
       {pred, label, f32({4})},
       "nll_loss: weight must have an element for each class, got pred f32[4, 5] and weight f32[4]"},
      {HingeLoss(),
       {f32({5}), f32({5})},
       "hinge_loss: pred and label must broadcast to rank 2 or more, got pred f32[5] and label f32[5]"},
      {CosineSimilarity(0),
       {f32({5}), pred},
       "cosine_similarity: y must not have more axes than x, got x f32[5] and y f32[4, 5]"},
      {TripletMarginLoss(),
       {pred, pred, f32({})},
       "triplet_margin_loss: operands must have rank >= 1, got negative f32[]"},
      {TripletMarginLoss(),
       {pred, pred, f32({4})},
       "triplet_margin_loss: operands must broadcast, got anchor f32[4, 5] and negative f32[4]"},
  };
  for (const char *name : {"square_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy"})
    refusals.push_back({OpDef::get(name),
                        {f32({4}), f32({5})},
                        std::string(name) + ": pred and label must broadcast, got pred f32[4] and label f32[5]"});
  return refusals;
}

static std::vector<Refusal> movementRefusals() {
  return {
      {PixelShuffle(2), {f32({4, 4})}, "pixel_shuffle: x must have rank >= 3, got x f32[4, 4]"},
      {PixelShuffle(2),
       {f32({6, 2, 2})},
       "pixel_shuffle: size of axis -3 of x must be a multiple of upscale_factor * upscale_factor, got x f32[6, 2, 2]"},
      {Glu(), {f32({2, 3})}, "glu: size of the axis of x must be a multiple of 2, got x f32[2, 3]"},
      {Concat(), {}, "concat: inputs must not be empty, got none"},
      {Concat(), {f32({2}), f32({2, 3})}, "concat: inputs must have the same rank, at least 1, got f32[2], f32[2, 3]"},
      {Concat(1), {f32({2, 3}), f32({4, 3})}, "concat: dimensions besides axis 1 must match, got f32[2, 3], f32[4, 3]"},
      {Stack(), {}, "stack: inputs must not be empty, got none"},
      {Stack(), {f32({2}), f32({3})}, "stack: inputs must have the same shape, got f32[2], f32[3]"},
      {Split(IntList{}), {f32({3})}, "split: sections must not be empty, got []"},
      {Split({1, 1}),
       {f32({3})},
       "split: sections must add up to the size of axis 0, got sections [1, 1] and x f32[3]"},
      {Pad({1}, {1}),
       {f32({2, 2})},
       "pad: low and high must have an entry for each axis, got x f32[2, 2], low [1] and high [1]"},
      {Pad({-2}, {0}), {f32({1})}, "pad: padded dimensions must not be negative, got x f32[1], low [-2] and high [0]"},
      {SliceSet({0}, {1}),
       {f32({2, 2}), f32({})},
       "slice_set: starts, stops and steps must have an entry for each axis, got x f32[2, 2], starts [0], stops [1] "
       "and "
       "steps []"},
      {SliceSet({0}, {1}, {0}), {f32({2}), f32({})}, "slice_set: steps must not be 0, got [0]"},
      {SliceSet({-3}, {-2}, {}, {0}),
       {f32({2}), f32({})},
       "slice_set: starts must be indices of x for the axes in_bounds, got x f32[2], starts [-3] and in_bounds [0]"},
      {SliceSet({0}, {3}),
       {f32({4}), f32({2})},
       "slice_set: value must broadcast to the slice, got value f32[2] and slice [3]"},
      {Tile({1, 1, 1, 1, 1, 1, 1, 2}),
       {f32({1, 1, 1, 1, 1, 1, 1, 4})},
       "tile: indices must have at most 8 dimensions, got x f32[1, 1, 1, 1, 1, 1, 1, 4]"},
      {Repeat(0, 7),
       {f32({1, 1, 1, 1, 1, 1, 1, 4})},
       "repeat: indices must have at most 8 dimensions, got x f32[1, 1, 1, 1, 1, 1, 1, 4]"},
  };
}

static std::vector<Refusal> indexRefusals() {
  std::vector<Refusal> all = {
      {Gather(), {f32({2}), i32({})}, "gather: index must have the axes [*a, i, *b], got x f32[2] and index i32[]"},
      {Gather(), {f32({2, 2}), i32({2, 3})}, "gather: dimensions *b must match, got x f32[2, 2] and index i32[2, 3]"},
      {Embedding(), {f32({2}), i32({1})}, "embedding: weight must have rank 2, got weight f32[2] and ids i32[1]"},
      {TakeAlongAxes({0}),
       {f32({2, 2}), i32({1, 3})},
       "take_along_axes: dimensions besides axes must match, got x f32[2, 2] and i32[1, 3]"},
      {IndexGet({0, 1}), {f32({2, 2}), i32({2}), i32({3})}, "index_get: indices must broadcast, got i32[2] and i32[3]"},
      {IndexSet({0}),
       {f32({4, 2}), f32({3}), i32({1})},
       "index_set: value must broadcast to the indexed elements, got value f32[3] and elements [1, 2]"},
      {IndexAdd({0, 1}),
       {f32({4, 2}), f32({}), i32({1})},
       "index_add: there must be an index for each axis of axes, got 1 and axes [0, 1]"},
      {MaskGet(),
       {f32({2, 3}), flags({3})},
       "mask_get: mask must have the first axes of x, at least one, got x f32[2, 3] and mask bool[3]"},
      {Extent(), {i32({1})}, "extent: n must have rank 0, got n i32[1]"},
      {Argmax(0),
       {f32({kLongAxis, 0})},
       "argmax: axis must have at most 2147483647 elements, got x f32[2147483648, 0]"},
      {Argsort(),
       {f32({0, kLongAxis})},
       "argsort: axis must have at most 2147483647 elements, got x f32[0, 2147483648]"},
      {Searchsorted(),
       {f32({0, kLongAxis}), f32({3})},
       "searchsorted: axis must have at most 2147483647 elements, got sorted f32[0, 2147483648]"},
      {NonZero(),
       {f32({kLongAxis, 0})},
       "non_zero: axis must have at most 2147483647 elements, got x f32[2147483648, 0]"},
      {Topk(1), {f32({0, kLongAxis})}, "topk: axis must have at most 2147483647 elements, got x f32[0, 2147483648]"},
      {Topk(3), {f32({2})}, "topk: k must not be above the size of the last axis, got 3 and x f32[2]"},
      {TopkAccuracy(6),
       {f32({4, 5}), i32({4})},
       "topk_accuracy: k must not be above the size of the last axis, got 6 and logits f32[4, 5]"},
      {Pick(),
       {f32({2, 3}), TensorMeta(DType::Int32, {3})},
       "pick: index must have the shape of x without its last axis, got x f32[2, 3] and index i32[3]"},
      {IndexingOneHot(),
       {f32({2, 3}), i32({3})},
       "indexing_one_hot: index must have the shape of x without the axis, got x f32[2, 3] and index i32[3]"},
  };
  const std::string text = ": dimensions besides axes must match, got x f32[2, 2], value f32[2, 3] and i32[1]";
  for (OpDef op :
       {OpDef(SetAlongAxes({0})), OpDef(AddAlongAxes({0})), OpDef(MaxAlongAxes({0})), OpDef(MinAlongAxes({0}))})
    all.push_back({op, {f32({2, 2}), f32({2, 3}), i32({1})}, op.name().str() + text});
  const std::string other = ": dimension i must match, got x f32[2] and index i32[1] and source f32[2]";
  for (OpDef op : {OpDef(Scatter()), OpDef(ScatterAdd()), OpDef(ScatterMax()), OpDef(ScatterMin())})
    all.push_back({op, {f32({2}), i32({1}), f32({2})}, op.name().str() + other});
  return all;
}

static std::vector<Refusal> visionRefusals() {
  TensorMeta x = f32({2, 3, 4, 5}), empty = f32({2, 3, 0, 5}), mat = f32({2, 3, 3}), rois = f32({4, 5});
  OpDef nearest = OpDef::get("resize").set("size", IntList{2, 2}).set("mode", "nearest");
  return {
      {Resize(IntList{}), {f32({2, 3})}, "resize: x must have rank 3 to 5, got x f32[2, 3]"},
      {Resize({2}),
       {x},
       "resize: size must have an entry for each axis after the channels, got [2] and x f32[2, 3, 4, 5]"},
      {Resize({2, 2}), {empty}, "resize: axes after the channels must not be empty, got x f32[2, 3, 0, 5]"},
      {nearest.set("align_corners", true), {x}, "resize: align_corners must be false where mode is nearest, got true"},
      {Remap(), {empty, f32({2, 1, 1, 2})}, "remap: height and width of x must not be 0, got x f32[2, 3, 0, 5]"},
      {WarpAffine({2, 2}),
       {empty, f32({2, 2, 3})},
       "warp_affine: height and width of x must not be 0, got x f32[2, 3, 0, 5]"},
      {WarpPerspective({2, 2}),
       {empty, mat, i32({2})},
       "warp_perspective: height and width of x must not be 0, got x f32[2, 3, 0, 5]"},
      {RoiAlign({2, 2}), {empty, rois}, "roi_align: height and width of x must not be 0, got x f32[2, 3, 0, 5]"},
      {RoiPooling({2, 2}), {empty, rois}, "roi_pooling: height and width of x must not be 0, got x f32[2, 3, 0, 5]"},
      {Nms(0.5), {f32({4}), f32({4})}, "nms: boxes must have rank 2, got boxes f32[4]"},
      {Nms(0.5), {f32({4, 4}), f32({})}, "nms: scores must have rank 1, got scores f32[]"},
      {Nms(0.5), {f32({4, 3}), f32({4})}, "nms: boxes must have four ends each, got boxes f32[4, 3]"},
      {Nms(0.5),
       {f32({4, 4}), f32({3})},
       "nms: there must be a score for each box, got boxes f32[4, 4] and scores f32[3]"},
      {Correlation(), {x, f32({3, 4, 5})}, "correlation: operands must have rank 4, got y f32[3, 4, 5]"},
      {Correlation(),
       {x, f32({2, 3, 4, 4})},
       "correlation: x and y must have the same shape, got x f32[2, 3, 4, 5] and y f32[2, 3, 4, 4]"},
      {Correlation(2), {x, x}, "correlation: kernel_size must be odd, got 2"},
      {Correlation(3),
       {x, x},
       "correlation: patches and their displacements must fit into the padded images, got x f32[2, 3, 4, 5]"},
      {CvtColor("RGB2GRAY"), {f32({4, 5, 3})}, "cvt_color: x must have rank 4, got x f32[4, 5, 3]"},
      {CvtColor("RGBA2RGB"),
       {f32({1, 4, 5, 3})},
       "cvt_color: last axis of x must have the channels of mode (4 of RGBA2RGB), got x f32[1, 4, 5, 3]"},
  };
}

static std::vector<Refusal> localConvRefusals() {
  TensorMeta x = f32({2, 3, 4, 5}), w = f32({4, 3, 2, 3}), mask = f32({2, 6, 3, 3}), regions = i32({2, 4, 5});
  return {
      {SlidingWindow({5, 1}), {x}, "sliding_window: window must fit into the padded input, got x f32[2, 3, 4, 5]"},
      {SlidingWindowTranspose({4, 5}, {5, 1}),
       {f32({2, 3, 1, 5, 5, 1})},
       "sliding_window_transpose: window must fit into the padded input, got [5, 1] and output_size [4, 5]"},
      {SlidingWindowTranspose({4, 5}, {2, 2}),
       {f32({2, 3, 3, 5, 2, 2})},
       "sliding_window_transpose: x must have the windows of output_size, [3, 4, 2, 2], got x f32[2, 3, 3, 5, 2, 2]"},
      {LocalConv2d(), {x, w}, "local_conv2d: weight must have rank 7, got weight f32[4, 3, 2, 3]"},
      {LocalConv2d(),
       {x, f32({2, 4, 5, 3, 1, 1, 1})},
       "local_conv2d: channels of x must be those of weight, got x f32[2, 3, 4, 5] and weight f32[2, 4, 5, 3, 1, 1, "
       "1]"},
      {LocalConv2d(),
       {x, f32({1, 4, 5, 3, 5, 1, 1})},
       "local_conv2d: window must fit into the padded input, got x f32[2, 3, 4, 5] and weight f32[1, 4, 5, 3, 5, 1, "
       "1]"},
      {LocalConv2d(),
       {x, f32({1, 4, 4, 3, 1, 1, 1})},
       "local_conv2d: weight must have the height and width of the result, [4, 5], got weight f32[1, 4, 4, 3, 1, 1, "
       "1]"},
      {RegionRestrictedConv(),
       {x, w, regions, i32({2, 3, 2})},
       "region_restricted_conv: rin must have the places of x and rout those of the result, [2, 4, 3, 3], got rin "
       "i32[2, 4, 5] and rout i32[2, 3, 2]"},
      {DeformableConv2d(),
       {x, w, f32({2, 12, 3, 2}), mask},
       "deformable_conv2d: offset and mask must have channels for blocks of windows, got offset f32[2, 12, 3, 2] and "
       "mask f32[2, 6, 3, 3]"},
      {DeformablePsroiPooling({2, 2}, 1),
       {x, f32({1, 5}), f32({1, 4, 1, 1})},
       "deformable_psroi_pooling: trans must have two channels for each block of channels of x, got x f32[2, 3, 4, 5] "
       "and trans f32[1, 4, 1, 1]"},
  };
}

static std::vector<Refusal> complexRefusals() {
  TensorMeta x(DType::Complex64, {3}), none(DType::Complex64, {0});
  const char *text = "cast: x must be real where dtype is neither complex nor bool, got x c64[3]";
  return {{Cast(DType::Float32), {x}, text},
          {Cast(DType::Float8E5M2), {x}, text},
          {FftC2c(), {none}, "fft_c2c: the transformed axis must not be empty, got x c64[0]"},
          {FftC2r(3), {x}, "fft_c2r: x must have floor(length / 2) + 1 elements along axis, got x c64[3]"}};
}

static std::vector<Refusal> (*const kRefusals[])() = {
    viewRefusals,   spatialRefusals,   transposedRefusals, linearRefusals,  linalgRefusals,
    einsumRefusals, attentionRefusals, normRefusals,       lossRefusals,    movementRefusals,
    indexRefusals,  visionRefusals,    localConvRefusals,  complexRefusals, quantizedRefusals};

TEST_CASE("rules refuse what cannot be, and say what they got") {
  for (auto refusals : kRefusals)
    for (const Refusal &refusal : refusals()) {
      INFO(refusal.text);
      CHECK(errorOf(refusal.op.infer(refusal.operands)) == refusal.text);
    }
}

TEST_CASE("every operator with conditions of its own is among the refusals") {
  static const std::set<std::string> shared = {"min", "argmin", "fft_r2c"}; // their rule is another's, too
  std::set<std::string> refused;
  for (auto refusals : kRefusals)
    for (const Refusal &refusal : refusals())
      refused.insert(refusal.op.name().str());
  for (const OpInfo &info : allOps())
    if (!info.constraints.empty() && (info.shapeRule || info.check) && !shared.count(info.name)) {
      INFO(info.name);
      bool onlyAxes = llvm::all_of(info.constraints, [](const ConstraintInfo &c) {
        llvm::StringRef text(c.text);
        return text.contains("must be an axis of") || text.contains("must be distinct axes of");
      });
      CHECK((onlyAxes || refused.count(info.name) || llvm::StringRef(info.name).starts_with("adaptive_"))); // one rule
    }
}
