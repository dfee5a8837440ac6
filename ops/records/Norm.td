//===- Norm.td - normalisation -------------------------------*- tablegen -*-===//
#ifndef TESS_OPS_NORM
#define TESS_OPS_NORM

include "ops/records/Base.td"

defvar batchParameters = "parameters must have shape [1, C, 1, ...] for x [N, C, ...]";

class BatchParameter<string name> {
  list<Require> all = [Require<batchParameters, "#" # name # " == [(i == 1 ? #x[1] : 1) for i < len(#x)]",
                               "x {x} and " # name # " {" # name # "}">];
  list<Require> withDType = !listconcat(all, [Require<"parameters must have one dtype", "@" # name # " == @scale",
                                                      "scale {scale} and " # name # " {" # name # "}">]);
}
class BatchParameters<string mean, string var> {
  list<Require> all = !listconcat([Require<"x must have rank 2 to 5", "2 <= len(#x) && len(#x) <= 5", "x {x}">],
                                  BatchParameter<"scale">.all, BatchParameter<"bias">.withDType, BatchParameter<mean>.withDType,
                                  BatchParameter<var>.withDType);
}

// A value reduced to its channels, [1, C, 1, ...].
defvar besidesChannels = "without([i for i < len(#x)], 1)";
class OverBatch<string reduction, dag x> { dag all = (op<reduction, !strconcat("axes=", besidesChannels, ";keepdims=true")> x); }
// What forward and gradient have in common; the parameters may be wider than x.
def Batch {
  dag x = (op<"cast", "dtype=@scale"> $x);
  dag count = (piece<"count", [besidesChannels, "@scale"]> x);
  dag countLess1 = (op<"maximum"> (op<"sub"> count, K<"1", "scale">), K<"1", "scale">);
}
def BatchStatistics {
  dag mean = OverBatch<"mean", Batch.x>.all;
  dag centred = (op<"sub"> Batch.x, mean);
  dag var = OverBatch<"mean", (op<"square"> centred)>.all;
  // NaN where the variance is beyond the dtype, as in Normalised.
  defvar power = (op<"add"> var, K<"$epsilon", "scale">);
  dag invStd = (op<"rsqrt"> (op<"add"> power, (op<"sub"> power, power)));
  dag unbiased = (op<"mul"> var, (op<"div"> Batch.count, Batch.countLess1));
}
// The new statistic, momentum * running + (1 - momentum) * batch; the old one where there is no element.
class MovedStatistic<dag running, string name, dag batch> {
  defvar one = (op<"full", "shape=[];value=1.0;dtype=f64">);
  defvar rest = (op<"sub"> one, (op<"full", "shape=[];value=$momentum;dtype=f64">));
  defvar share = (op<"mul"> batch, (op<"cast", "dtype=@" # name> rest));
  defvar moved = (op<"add"> (op<"mul"> running, K<"$momentum", name>), share);
  dag all = (op<"where"> (op<"equal"> Batch.count, K<"0", "scale">), running, moved);
}
// After S. Ioffe and C. Szegedy, section 3, with normal = (x - mean) * inv_std and n elements per channel: dx = scale *
// inv_std * (dout - (dbias + normal * dscale) / n).
def BatchNormGradient {
  dag centred = (op<"sub"> Batch.x, $save_mean);
  defvar dout = (op<"cast", "dtype=@scale"> $dout);
  defvar normal = (op<"mul"> centred, $save_inv_std);
  dag scale = OverBatch<"sum", (op<"mul"> dout, normal)>.all;
  dag bias = OverBatch<"sum", dout>.all;
  defvar shared = (op<"div"> (op<"add"> bias, (op<"mul"> normal, scale)), Batch.count);
  dag ofOut = (op<"mul"> (op<"mul"> $scale, $save_inv_std), (op<"sub"> dout, shared));
  // Those of the running statistics.
  defvar momentum = K<"$momentum", "scale">;
  defvar rest = (op<"sub"> K<"1", "scale">, momentum);
  dag mean = (op<"mul"> $dnew_mean, momentum);
  dag var = (op<"mul"> $dnew_var, momentum);
  dag ofMean = (op<"broadcast_like"> (op<"div"> (op<"mul"> $dnew_mean, rest), Batch.count), centred);
  defvar twice = (op<"mul"> (op<"mul"> $dnew_var, rest), K<"2", "scale">);
  dag ofVar = (op<"mul"> centred, (op<"div"> twice, Batch.countLess1));
  // Those of the batch's own, which second gradients need: d inv_std / dx = -inv_std^3 * (x - mean) / n.
  dag ofSavedMean = (op<"broadcast_like"> (op<"div"> $dsave_mean, Batch.count), centred);
  defvar cube = (op<"mul"> (op<"square"> $save_inv_std), $save_inv_std);
  dag ofInvStd = (op<"mul"> centred, (op<"neg"> (op<"div"> (op<"mul"> $dsave_inv_std, cube), Batch.count)));
}
// A gradient where that of a result arrives, and the sum with what others gave.
class WhenGiven<string gradient, dag grad> { dag all = (when<"given(" # gradient # ")"> grad, (none)); }
class WithGiven<dag others, string gradient, dag grad> {
  dag all = (piece<"accumulate"> others, WhenGiven<gradient, grad>.all);
}

def Tess_BatchNormOp : Tess_Op<"batch_norm"> {
  let autocast = "low_data";
  let summary = "normalisation by the statistics of the batch";
  let description = [{For each channel: `out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var
    those of the batch. The running statistics become `momentum * running + (1 - momentum) * batch`, the
    variance of the batch unbiased, and stay where it is empty. A variance beyond the dtype gives NaN. x has
    rank 2 to 5; the parameters have shape [1, C, 1, ...]. S. Ioffe, C. Szegedy: Batch Normalization, ICML 2015.}];
  let keepsAxes = 1;
  let arguments = (ins Tess_Float:$x, Tess_Float:$scale, Tess_Float:$bias, Tess_Float:$running_mean,
                   Tess_Float:$running_var, Runtime<DefaultValuedAttr<F64Attr, "0.9">>:$momentum,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let results = (outs Tess_Float:$out, Tess_Float:$new_mean, Tess_Float:$new_var, Tess_Float:$save_mean,
                 Tess_Float:$save_inv_std);
  let hidden = ["save_mean", "save_inv_std"];
  let requires = BatchParameters<"running_mean", "running_var">.all;
  defvar statistic = "[(i == 1 && hasSize(#x[1]) ? #x[1] : #scale[i]) for i < len(#scale)]";
  let sizes = ["#x", statistic, statistic, statistic, statistic];
  let dtypes = DTypes<["@x", "@scale", "@scale", "@scale", "@scale"]>;
  let lowering = Composite<>;
  defvar normal = (op<"mul"> BatchStatistics.centred, BatchStatistics.invStd);
  defvar wide = (op<"add"> (op<"mul"> normal, $scale), $bias);
  let forward = [(op<"cast", "dtype=@x"> wide), MovedStatistic<(same $running_mean), "running_mean", BatchStatistics.mean>.all,
                 MovedStatistic<(same $running_var), "running_var", BatchStatistics.unbiased>.all, BatchStatistics.mean,
                 BatchStatistics.invStd];
  defvar g = BatchNormGradient;
  defvar ofRunning = WithGiven<WithGiven<WhenGiven<"dout", g.ofOut>.all, "dnew_mean", g.ofMean>.all, "dnew_var", g.ofVar>.all;
  let gradient = [WithGiven<WithGiven<ofRunning, "dsave_mean", g.ofSavedMean>.all, "dsave_inv_std", g.ofInvStd>.all,
                  WhenGiven<"dout", g.scale>.all, WhenGiven<"dout", g.bias>.all, WhenGiven<"dnew_mean", g.mean>.all,
                  WhenGiven<"dnew_var", g.var>.all];
  let attrFacts = [Range<"momentum", "0", "1">, Range<"epsilon", "0", "">,
                   Doc<"momentum", "weight of the old running statistics">, Doc<"epsilon", "added to the variance">];
  let samples = [Sample<["4,3,5,6", "1,3,1,1", "1,3,1,1", "1,3,1,1", "1,3,1,1"], "", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=0.5", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["2,3,7", "1,3,1", "1,3,1", "1,3,1", "1,3,1"], "epsilon=0.001", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=0.0", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=1.0;epsilon=0.0", "-2; 0.5; -1; -1; 0.5", "2">];
  let oracle = Oracle<"tess_oracle.batch_norm(x, scale, bias, running_mean, running_var, momentum, epsilon)">;
  let python = Py<"functional.nn", "batch_norm">;
}
def Tess_BatchNormInferenceOp : Tess_Op<"batch_norm_inference"> {
  let autocast = "low_data";
  let summary = "normalisation by given statistics";
  let description = [{`out = x * a + b` with `a = scale / sqrt(var + epsilon)` and `b = bias - mean * a`, for
    each channel. x has rank 2 to 5; the parameters have shape [1, C, 1, ...]. S. Ioffe, C. Szegedy: Batch
    Normalization, ICML 2015.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$scale, Tess_Float:$bias, Tess_Float:$mean, Tess_Float:$var,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D), (*P), (*P), (*P), (*P) -> (*D)";
  let requires = BatchParameters<"mean", "var">.all;
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar power = (op<"add"> $var, K<"$epsilon", "var">);
  defvar deviation = (op<"sqrt"> (op<"add"> power, (op<"sub"> power, power))); // as in Normalised
  defvar factor = (op<"div"> $scale, deviation);
  defvar shift = (op<"sub"> $bias, (op<"mul"> $mean, factor));
  defvar wide = (op<"add"> (op<"mul"> (op<"cast", "dtype=@scale"> $x), factor), shift);
  let forward = [(op<"cast", "dtype=@x"> wide)];
  let attrFacts = [Range<"epsilon", "0", "">, Doc<"epsilon", "added to the variance">];
  let samples = [Sample<["4,3,5,6", "1,3,1,1", "1,3,1,1", "1,3,1,1", "1,3,1,1"], "", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["4,3", "1,3", "1,3", "1,3", "1,3"], "epsilon=0.0", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["0,3", "1,3", "1,3", "1,3", "1,3"], "", "-2; 0.5; -1; -1; 0.5", "2">];
  let oracle = Oracle<"(x - mean) / np.sqrt(var + epsilon) * scale + bias">;
  let python = Py<"functional.nn", "batch_norm_inference">;
  let onnx = "BatchNormalization(...)";
}

// `value`, divided by the root of its mean square over `mean`, at `rows`. A mean square that is beyond the dtype makes it
// NaN and not 0: infinity less infinity is none, and a number less itself is 0.
class Normalised<string rows, string value, string mean> {
  string before = "power[" # rows # "] = " # mean # " square(" # value # ") + epsilon;";
  defvar power = "power[" # rows # "]";
  string text = value # " * rsqrt(" # power # " + (" # power # " - " # power # "))";
}
class TrailingNorm<string m, string what, string expr, list<Trait> more = []> : Tess_Op<m, more> {
  let autocast = "high";
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Compute_;
  let attrFacts = [Range<"axes", "1", "8">, Static<"axes", loopAxes>, Range<"epsilon", "0", "">,
                   Doc<"axes", "number of last axes to normalise over">, Doc<"epsilon", "added before the root">];
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
def Tess_LayerNormOp : TrailingNorm<"layer_norm", "normalisation over the last axes",
                                    "tess_oracle.layer_norm(x, scale, bias, axes, epsilon)",
                                    [AttrSizedOperandSegments]> {
  let description = [{`out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var taken over the last
    axes, var divided by their number of elements; NaN where var is beyond the dtype. J. L. Ba, J. R. Kiros,
    G. E. Hinton: Layer Normalization, arXiv:1607.06450.}];
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, Optional<Tess_Float>:$bias,
                   DefaultValuedAttr<SI64Attr, "1">:$axes, Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  defvar normal = Normalised<"*a", "centred[*a, *k]", "mean(*k)">;
  let compute = "centred[*a, *k] = x[*a, *k:axes] - mean(*k) x[*a, *k];" # normal.before #
                "out[*a, *k] = " # normal.text # " * scale[*k]? + bias[*k]?";
  let dtypes = Promote<["x", "scale", "bias"]>;
  let samples = [Sample<["2,3,8"]>, Sample<["4,8", "8", "8"]>, Sample<["4,3,8", "3,8", "3,8"], "axes=2">,
                 Sample<["4,8", "8", "8"], "epsilon=0.0">, Sample<["0,8", "8", "8"]>];
  let onnx = "LayerNormalization(...)";
}
def Tess_RmsNormOp : TrailingNorm<"rms_norm", "division by the root mean square over the last axes",
                                  "tess_oracle.rms_norm(x, scale, axes, epsilon)"> {
  let description = [{`out = x / sqrt(mean(x * x) + epsilon) * scale`, the mean taken over the last axes; NaN where it
    is beyond the dtype. B. Zhang, R. Sennrich: Root Mean Square Layer Normalization, NeurIPS 2019.}];
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, DefaultValuedAttr<SI64Attr, "1">:$axes,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  defvar normal = Normalised<"*a", "x[*a, *k:axes]", "mean(*k)">;
  let compute = normal.before # "out[*a, *k] = " # normal.text # " * scale[*k]?";
  let dtypes = Promote<["x", "scale"]>;
  let samples = [Sample<["2,3,8"]>, Sample<["4,8", "8"]>, Sample<["4,3,8", "3,8"], "axes=2">, Sample<["4,8", "8"], "epsilon=0.0">];
  let onnx = "RMSNormalization(...)";
}

//===----------------------------------------------------------------------===//
// Over other axes than the last
//===----------------------------------------------------------------------===//
class AffineNorm<string m, string what, string expr> : Tess_Op<m, [AttrSizedOperandSegments]> {
  let autocast = "high";
  let summary = what;
  let results = (outs Tess_Float:$out);
  let dtypes = Promote<["x", "scale", "bias"]>;
  let lowering = Compute_;
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
defvar normOperands = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, Optional<Tess_Float>:$bias);
defvar normEpsilon = (ins Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
defvar epsilonFacts = [Range<"epsilon", "0", "">, Doc<"epsilon", "added to the variance">];

def Tess_GeneralNormOp : AffineNorm<"general_norm", "normalisation over any axes",
                                    "tess_oracle.general_norm(x, scale, bias, axes, epsilon)"> {
  let description = [{`out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var taken over axes, var divided by
    their number of elements, NaN where var is beyond the dtype; scale and bias have the sizes of axes, in their
    order. Layer normalisation over other axes than the last ones: J. L. Ba, J. R. Kiros, G. E. Hinton, arXiv:1607.06450.}];
  let arguments = !con(normOperands, (ins DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes), normEpsilon);
  defvar normal = Normalised<"*a", "centred[*a, *k]", "mean(*k)">;
  let compute = "centred[*a, *k] = x[*a, *k:axes] - mean(*k) x[*a, *k];" #
                normal.before # "out[*a, *k:axes] = " # normal.text # " * scale[*k]? + bias[*k]?";
  let attrFacts = !listconcat(epsilonFacts, [Axis<"axes", "x">, Static<"axes", loopAxes>,
                                             Doc<"axes", "axes to normalise over; empty: all">]);
  let samples = [Sample<["2,3,4"], "axes=[1]">, Sample<["4,3,5", "5,4", "5,4"], "axes=[2, 0]">,
                 Sample<["4,3", "4"], "axes=[-2];epsilon=0.0">, Sample<["2,3,4", "3", "3"], "axes=[1]">,
                 Sample<["2,1,3,2", "3,1,2", "3,1,2"], "axes=[2, 1, 0]">, Sample<["2,3", "2,3", "2,3"]>,
                 Sample<["3,0"], "axes=[0]">];
}
// A parameter of channels for x, [N, C, ...].
class OfChannels<dag parameter> {
  dag all = (when<"len(#x) > 2"> (op<"expand_dims", "axis=[i + 1 for i < len(#x) - 2]"> parameter), parameter);
}
def Tess_GroupNormOp : AffineNorm<"group_norm", "normalisation within groups of channels",
                                  "tess_oracle.group_norm(x, scale, bias, num_groups, epsilon)"> {
  let description = [{`out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var those of each sample's groups
    of C / num_groups channels, scale and bias of each channel. Y. Wu, K. He: Group Normalization, ECCV 2018.}];
  let arguments = !con(normOperands, (ins DefaultValuedAttr<SI64Attr, "1">:$num_groups), normEpsilon);
  let shapes = "(N, C, *D), (C)?, (C)? -> (N, C, *D)";
  let requires = [Require<"num_groups ({$num_groups}) must divide the channels of x", "divides($num_groups, #x[1])", "x {x}">];
  let lowering = Composite<>; // of which eager applies the norm as one kernel
  defvar groups = (piece<"unflatten", ["1", "$num_groups", "#x[1] // $num_groups"]> $x);
  defvar normal = (op<"flatten", "start_axis=1;end_axis=2"> (op<"layer_norm", "axes=len(#x) - 1;epsilon=$epsilon"> groups));
  defvar scaled = (when<"given(scale)"> (op<"mul"> normal, OfChannels<(same $scale)>.all), normal);
  let forward = [(when<"given(bias)"> (op<"add"> scaled, OfChannels<(same $bias)>.all), scaled)];
  let attrFacts = !listconcat(epsilonFacts, [Range<"num_groups", "1", "1e9">, BindTime<"num_groups">,
                                             Doc<"num_groups", "number of groups of channels">]);
  let samples = [Sample<["2,4,3"], "num_groups=2">, Sample<["2,4,3,2", "4", "4"], "num_groups=4">,
                 Sample<["3,5", "5", "5"], "num_groups=1">, Sample<["2,4,3", "4"], "num_groups=2;epsilon=0.0">,
                 Sample<["0,4,3"], "num_groups=2">];
  let onnx = "GroupNormalization(...)";
}
def Tess_InstanceNormOp : AffineNorm<"instance_norm", "normalisation of each channel of each sample",
                                     "tess_oracle.group_norm(x, scale, bias, x.shape[1], epsilon)"> {
  let description = [{`out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var those of each channel of each
    sample: group_norm with groups of one channel. D. Ulyanov, A. Vedaldi, V. Lempitsky: Instance Normalization,
    arXiv:1607.08022.}];
  let arguments = !con(normOperands, normEpsilon);
  defvar normal = Normalised<"n, c", "centred[n, c, *s]", "mean(*s)">;
  let compute = "centred[n, c, *s] = x[n, c, *s] - mean(*s) x[n, c, *s];" # normal.before #
                "out[n, c, *s] = " # normal.text # " * scale[c]? + bias[c]?";
  let attrFacts = epsilonFacts;
  let samples = [Sample<["2,3,5"]>, Sample<["2,3,4,2", "3", "3"]>, Sample<["3,4", "4"], "epsilon=0.001">,
                 Sample<["2,3,5", "3"], "epsilon=0.0">, Sample<["0,3,4"]>];
  let onnx = "InstanceNormalization(...)";
}
def Tess_LocalResponseNormOp : Tess_Op<"local_response_norm"> {
  let autocast = "high";
  let summary = "division by the squares of neighbouring channels";
  let description = [{`out = x / (k + alpha * s)^beta`, s the sum of x^2 over the kernel_size channels around each, those
    beyond the first and the last being 0. A. Krizhevsky, I. Sutskever, G. E. Hinton: ImageNet Classification with Deep
    Convolutional Neural Networks, NeurIPS 2012; alpha is not divided by kernel_size.}];
  let keepsAxes = 1;
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<SI64Attr, "5">:$kernel_size,
                   Runtime<DefaultValuedAttr<F64Attr, "2.0">>:$k, Runtime<DefaultValuedAttr<F64Attr, "1e-4">>:$alpha,
                   Runtime<DefaultValuedAttr<F64Attr, "0.75">>:$beta);
  let results = (outs Tess_Float:$out);
  let shapes = "(N, C, H, W) -> (N, C, H, W)";
  let requires = [Require<"kernel_size must be odd", "$kernel_size % 2 == 1", "{$kernel_size}">];
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  // Sums over neighbouring channels are means of windows of an image of channels and pixels, times their size.
  defvar image = (op<"expand_dims", "axis=[1]"> (op<"flatten", "start_axis=2"> (op<"square"> $x)));
  defvar mean = (op<"avg_pool2d", "kernel_size=[$kernel_size, 1];padding=[$kernel_size // 2, 0]"> image);
  defvar total = (op<"mul"> (op<"reshape_like"> mean, $x), K<"$kernel_size", "x">);
  defvar base = (op<"add"> (op<"mul"> total, K<"$alpha", "x">), K<"$k", "x">);
  let forward = [(op<"div"> $x, (op<"pow"> base, K<"$beta", "x">))];
  let attrFacts = [Range<"kernel_size", "1", "1e9">, BindTime<"kernel_size">, Doc<"kernel_size", "number of channels">,
                   Doc<"k", "added to the sum">, Doc<"alpha", "factor of the sum">, Doc<"beta", "exponent of the divisor">];
  let samples = [Sample<["2,7,3,4"]>, Sample<["1,3,2,2"], "kernel_size=3;k=1.0;alpha=0.5;beta=0.5">,
                 Sample<["1,3,2,2"], "kernel_size=1">, Sample<["0,3,2,2"]>];
  let oracle = Oracle<"tess_oracle.local_response_norm(x, kernel_size, k, alpha, beta)">;
  let python = Py<"functional.nn", "local_response_norm", [], "", ["x=inp"]>;
  let onnx = "LRN(...)";
}

#endif // TESS_OPS_NORM
