//===- nn.h - layers as functions, with Python's arguments ------*- C++ -*-===//
//
// What functional.nn of Python has by hand: other forms of the arguments of an
// operator (one number for all axes, a tensor or none), or several operators.
// functional.h has the operators themselves.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Sizes.h"

namespace tessera::nn {

/// inp @ weight^T + bias, over the last axis. `computeMode`: "default" or "float32", which mean the same.
Tensor linear(const Tensor &inp, const Tensor &weight, const Tensor &bias = {},
              const std::string &computeMode = "default");

// Convolutions of [N, C, ...] plus a bias [1, O, 1, ...]. A grouped weight may have an axis of groups before the
// others. `convMode` is "cross_correlation", `computeMode` as of linear().
Tensor conv1d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
              const Sizes &padding = 0, const Sizes &dilation = 1, int64_t groups = 1,
              const std::string &convMode = "cross_correlation", const std::string &computeMode = "default");
Tensor conv2d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
              const Sizes &padding = 0, const Sizes &dilation = 1, int64_t groups = 1,
              const std::string &convMode = "cross_correlation", const std::string &computeMode = "default");
Tensor conv3d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
              const Sizes &padding = 0, const Sizes &dilation = 1, int64_t groups = 1,
              const std::string &convMode = "cross_correlation", const std::string &computeMode = "default");
Tensor convTranspose1d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
                       const Sizes &padding = 0, const Sizes &outputPadding = 0, const Sizes &dilation = 1,
                       int64_t groups = 1, const std::string &convMode = "cross_correlation",
                       const std::string &computeMode = "default");
Tensor convTranspose2d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
                       const Sizes &padding = 0, const Sizes &outputPadding = 0, const Sizes &dilation = 1,
                       int64_t groups = 1, const std::string &convMode = "cross_correlation",
                       const std::string &computeMode = "default");
Tensor convTranspose3d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
                       const Sizes &padding = 0, const Sizes &outputPadding = 0, const Sizes &dilation = 1,
                       int64_t groups = 1, const std::string &convMode = "cross_correlation",
                       const std::string &computeMode = "default");
/// A weight for each place, [groups, OH, OW, C / groups, KH, KW, O / groups].
Tensor localConv2d(const Tensor &inp, const Tensor &weight, const Tensor &bias = {}, const Sizes &stride = 1,
                   const Sizes &padding = 0, const Sizes &dilation = 1,
                   const std::string &convMode = "cross_correlation");
/// Of a window those elements count whose number in `rin` is that of the place in `rout`.
Tensor regionRestrictedConv(const Tensor &inp, const Tensor &weight, const Tensor &rin, const Tensor &rout,
                            const Tensor &bias = {}, const Sizes &stride = 1, const Sizes &padding = 0,
                            const Sizes &dilation = 1, int64_t groups = 1,
                            const std::string &convMode = "cross_correlation",
                            const std::string &computeMode = "default");
/// The elements of windows are moved by `offset` and multiplied by `mask`.
Tensor deformableConv2d(const Tensor &inp, const Tensor &weight, const Tensor &offset, const Tensor &mask,
                        const Tensor &bias = {}, const Sizes &stride = 1, const Sizes &padding = 0,
                        const Sizes &dilation = 1, int64_t groups = 1,
                        const std::string &convMode = "cross_correlation", const std::string &computeMode = "default");
/// Means of the moved bins of boxes.
Tensor deformablePsroiPooling(const Tensor &inp, const Tensor &rois, const Tensor &trans, bool noTrans,
                              int64_t partSize, int64_t pooledH, int64_t pooledW, int64_t samplePerPart,
                              double spatialScale, double transStd = 0.1);
/// The windows of images, [N, C, OH, OW, KH, KW], and the images that windows add up to.
Tensor slidingWindow(const Tensor &inp, const Sizes &kernelSize, const Sizes &padding = 0, const Sizes &stride = 1,
                     const Sizes &dilation = 1);
Tensor slidingWindowTranspose(const Tensor &inp, const Sizes &outputSize, const Sizes &kernelSize,
                              const Sizes &padding = 0, const Sizes &stride = 1, const Sizes &dilation = 1);

// The largest element or the mean of each window; a stride that is not given is the kernel's size. `mode`: "average"
// or "average_count_exclude_padding".
Tensor maxPool1d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0);
Tensor maxPool2d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0);
Tensor maxPool3d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0);
Tensor avgPool1d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0, const std::string &mode = "average_count_exclude_padding");
Tensor avgPool2d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0, const std::string &mode = "average_count_exclude_padding");
Tensor avgPool3d(const Tensor &inp, const Sizes &kernelSize, const std::optional<Sizes> &stride = std::nullopt,
                 const Sizes &padding = 0, const std::string &mode = "average_count_exclude_padding");
/// Windows such that the result has the size `oshp`.
Tensor adaptiveAvgPool2d(const Tensor &inp, const Sizes &oshp);
Tensor adaptiveMaxPool2d(const Tensor &inp, const Sizes &oshp);

/// Normalises [N, C, H, W] by channel: in training by the batch's statistics, towards which the running ones, where
/// given, move by 1 - momentum, in place.
Tensor batchNorm(const Tensor &inp, const Tensor &runningMean = {}, const Tensor &runningVar = {},
                 const Tensor &weight = {}, const Tensor &bias = {}, bool training = false, double momentum = 0.9,
                 double eps = 1e-5);
// Normalisation within a sample; `affine`: whether weight and bias count.
Tensor layerNorm(const Tensor &inp, const Sizes &normalizedShape, bool affine = true, const Tensor &weight = {},
                 const Tensor &bias = {}, double eps = 1e-5);
Tensor groupNorm(const Tensor &inp, int64_t numGroups, bool affine = true, const Tensor &weight = {},
                 const Tensor &bias = {}, double eps = 1e-5);
Tensor instanceNorm(const Tensor &inp, bool affine = true, const Tensor &weight = {}, const Tensor &bias = {},
                    double eps = 1e-5);
Tensor generalNorm(const Tensor &inp, const Sizes &normalizedAxis, bool affine = true, const Tensor &weight = {},
                   const Tensor &bias = {}, double eps = 1e-5);

/// Normalised exponentials; without an axis along axis 1, or 0 for 0, 1 and 3 axes.
Tensor softmax(const Tensor &inp, std::optional<int64_t> axis = std::nullopt);
/// In training sets each element to 0 with probability `dropProb` and scales the rest up.
Tensor dropout(const Tensor &inp, double dropProb, bool training = true);
/// Rows of `weight`; that of number `paddingIdx`, from 0, gets no gradient.
Tensor embedding(const Tensor &inp, const Tensor &weight, std::optional<int64_t> paddingIdx = std::nullopt);
/// The table with zeros in one row, without gradient.
Tensor withoutRow(const Tensor &weight, std::optional<int64_t> row);
/// A border of `constantValue` ("constant"), of the nearest element ("replicate", "edge") or a mirror ("reflect").
Tensor pad(const Tensor &src, const Widths &padWidth, const std::string &mode = "constant", double constantValue = 0);
Tensor flatten(const Tensor &x, int64_t startAxis = 0, int64_t endAxis = -1);
/// As many parts of one size along `axis`, or parts cut at the indices of a list.
std::vector<Tensor> split(const Tensor &inp, const Sizes &sections, int64_t axis = 0);
Tensor ones(const Shape &shape, DType dtype = DType::Float32);
Tensor zeros(const Shape &shape, DType dtype = DType::Float32);
/// Attention of `numHeads` heads between linear layers; the weights are undefined without `needWeights`.
States multiHeadAttention(const Tensor &query, const Tensor &key, const Tensor &value, int64_t numHeads,
                          const Tensor &qProjWeight, const Tensor &kProjWeight, const Tensor &vProjWeight,
                          const Tensor &outProjWeight, const Tensor &qProjBias = {}, const Tensor &kProjBias = {},
                          const Tensor &vProjBias = {}, const Tensor &outProjBias = {},
                          const Tensor &keyPaddingMask = {}, const Tensor &attnMask = {}, double attnDropout = 0,
                          double outDropout = 0, bool training = true, bool needWeights = false,
                          bool averageAttnWeights = false, bool isCausal = false);
/// Zeros for every sequence of `inp`, [L, N, I], as the first state of a network of which `weight` multiplies states.
Tensor firstState(const Tensor &inp, const Tensor &weight);
/// float[L, N, I + 1]: `inputs`, float[L, N, I], with a last feature that is 1 in the first `lengths` steps, else 0.
Tensor marked(const std::string &name, const Tensor &inputs, const Tensor &lengths);
/// The dtype and shape as Python shows them: "float32[2, 3]".
std::string described(const Tensor &x);
/// InvalidArgument unless the argument is one of its values.
void checkChoice(const std::string &name, const std::string &what, const std::string &value,
                 const std::vector<std::string> &choices);

} // namespace tessera::nn
