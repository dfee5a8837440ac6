//===- Activation.td - activation functions ------------------*- tablegen -*-===//
#ifndef TESS_OPS_ACTIVATION
#define TESS_OPS_ACTIVATION

include "ops/records/Elementwise.td"

class Activation<string m, string what, dag body, string expr, dag grad>
    : FloatUnary<m, what, body, expr, grad, "-6", "6"> {
  let gradient = [grad];
  let python = Py<"functional.nn", m, [m]>;
}
// Beyond it the bell that multiplies it in a slope is 0, where x itself may be infinite.
defvar boundedX = (op<"clip", "lower=-1000.0;upper=1000.0"> $x);
// The same of integers, too, which stay what they are.
class Limit<string m, string what, dag body, string expr, dag grad> : Activation<m, what, body, expr, grad> {
  let arguments = (ins Tess_Number:$x);
  let results = (outs Tess_Number:$out);
  let dtypes = Same<"x">;
}

def Tess_ReluOp : Limit<"relu", "the element, or 0 below it", (s_max $x, C<"0">), "np.maximum(x, 0)",
    (op<"where"> (op<"greater"> $out, K<"0", "x">), $dout, K<"0", "x">)> {
  let quant = "rounds";
  let description = [{`out = max(x, 0)`. NaN stays NaN and -0 stays -0; the gradient at 0 is 0.}];
  let onnx = "Relu";
}
def Tess_Relu6Op : Limit<"relu6", "the element limited to [0, 6]", (s_min (s_max $x, C<"0">), C<"6">),
    "np.clip(x, 0, 6)",
    (op<"where"> (op<"logical_and"> (op<"greater"> $out, K<"0", "x">), (op<"less"> $out, K<"6", "x">)), $dout,
                 K<"0", "x">)> {
  let quant = "rounds";
  let description = [{`out = min(max(x, 0), 6)`; NaN stays NaN, the gradient at 0 and at 6 is 0. A. Krizhevsky:
    Convolutional Deep Belief Networks on CIFAR-10, 2010.}];
}
def Tess_LeakyReluOp : Activation<"leaky_relu", "the element, scaled below 0",
    (s_select (s_gt $x, C<"0">), $x, (s_mul $x, $negative_slope)), "np.where(x > 0, x, x * negative_slope)",
    (op<"where"> (op<"greater"> $x, K<"0", "x">), $dout,
                 (op<"mul"> $dout, (op<"full", "shape=[];value=$negative_slope;dtype=@x">)))> {
  let description = [{`out = x` where x > 0, `negative_slope * x` elsewhere, at 0 too. A. L. Maas, A. Y. Hannun,
    A. Y. Ng: Rectifier Nonlinearities Improve Neural Network Acoustic Models, ICML 2013.}];
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "0.01">>:$negative_slope);
  let attrFacts = [Doc<"negative_slope", "factor below 0">];
  let python = Py<"functional.nn", "leaky_relu", ["leaky_relu"], "", ["x=inp"]>;
  let samples = !listconcat(UnarySamples<>.all, [Sample<["2,3"], "negative_slope=0.2">]);
  let onnx = "LeakyRelu(alpha=negative_slope)";
}
def Tess_SigmoidOp : Activation<"sigmoid", "1 / (1 + exp(-x))", (s_sigmoid $x), "sp.special.expit(x)",
    (op<"mul"> $dout, (op<"mul"> $out, (op<"sub"> K<"1", "x">, $out)))> {
  let description = [{`out = 1 / (1 + exp(-x))`, without overflow: 0 at -inf, 1 at inf.}];
  let onnx = "Sigmoid";
}
def Tess_LogsigmoidOp : Activation<"logsigmoid", "logarithm of the sigmoid",
    (s_sub (s_min $x, C<"0">), (s_log1p (s_exp (s_neg (s_abs $x))))), "sp.special.log_expit(x)",
    (op<"mul"> $dout, (op<"sigmoid"> (op<"neg"> $x)))> {
  let autocast = "high";
  let description = [{`out = log(1 / (1 + exp(-x)))`, computed as `min(x, 0) - log1p(exp(-abs(x)))`, which does
    not overflow: -inf at -inf, 0 at inf.}];
  let python = Py<"functional.nn", "logsigmoid", ["logsigmoid"], "", ["x=inp"]>;
}
def Tess_SiluOp : Activation<"silu", "the element times its sigmoid", (s_mul $x, (s_sigmoid $x)),
    "x * sp.special.expit(x)",
    (op<"mul"> $dout, (op<"mul"> (op<"sigmoid"> $x), (op<"add"> (op<"mul"> boundedX, (op<"sub"> K<"1", "x">,
        (op<"sigmoid"> $x))), K<"1", "x">)))> {
  let description = [{`out = x * sigmoid(x)`; -inf gives NaN. S. Elfwing, E. Uchibe, K. Doya: Sigmoid-Weighted
    Linear Units, Neural Networks 107, 2018.}];
  let onnx = "Swish(...)";
}
def Tess_SoftplusOp : Activation<"softplus", "logarithm of 1 + exp(x)",
    (s_add (s_max $x, C<"0">), (s_log1p (s_exp (s_neg (s_abs $x))))), "np.logaddexp(x, 0)",
    (op<"mul"> $dout, (op<"sigmoid"> $x))> {
  let autocast = "high";
  let description = [{`out = log(1 + exp(x))`, computed as `max(x, 0) + log1p(exp(-abs(x)))`, which does not
    overflow: 0 at -inf, inf at inf.}];
  let python = Py<"functional.nn", "softplus", ["softplus"], "", ["x=inp"]>;
  let onnx = "Softplus";
}
def Tess_HsigmoidOp : Activation<"hsigmoid", "relu6(x + 3) / 6",
    (s_div (s_min (s_max (s_add $x, C<"3">), C<"0">), C<"6">), C<"6">), "np.clip(x + 3, 0, 6) / 6",
    (op<"where"> (op<"less"> (op<"abs"> $x), K<"3", "x">), (op<"div"> $dout, K<"6", "x">), K<"0", "x">)> {
  let autocast = "high";
  let description = [{`out = min(max(x + 3, 0), 6) / 6`; the gradient at -3 and at 3 is 0. A. Howard et al.:
    Searching for MobileNetV3, ICCV 2019.}];
}
def Tess_HswishOp : Activation<"hswish", "x * relu6(x + 3) / 6",
    (s_div (s_mul $x, (s_min (s_max (s_add $x, C<"3">), C<"0">), C<"6">)), C<"6">), "x * np.clip(x + 3, 0, 6) / 6",
    (op<"mul"> $dout, (op<"where"> (op<"less_equal"> $x, K<"-3", "x">), K<"0", "x">,
        (op<"where"> (op<"greater_equal"> $x, K<"3", "x">), K<"1", "x">,
                     (op<"div"> (op<"add"> (op<"add"> $x, $x), K<"3", "x">), K<"6", "x">))))> {
  let description = [{`out = x * min(max(x + 3, 0), 6) / 6`; -inf gives NaN. A. Howard et al.: Searching for
    MobileNetV3, ICCV 2019.}];
  let onnx = "HardSwish";
}
def Tess_GeluOp : Tess_Op<"gelu"> {
  let summary = "the element times the normal distribution function of it";
  let description = [{`out = x * (1 + erf(x / sqrt(2))) / 2`, the exact form and not the one with tanh; -inf
    gives NaN. D. Hendrycks, K. Gimpel: Gaussian Error Linear Units, arXiv:1606.08415.}];
  let keepsAxes = 1;
  let arguments = (ins Tess_Float:$x);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Composite<>;
  let forward = [(op<"mul"> (op<"mul"> $x, K<"0.5", "x">),
                            (op<"add"> (op<"erf"> (op<"mul"> $x, K<"0.70710678118654752", "x">)), K<"1", "x">))];
  let gradient = [(op<"mul"> $dout, (op<"add">
      (op<"mul"> K<"0.5", "x">, (op<"add"> (op<"erf"> (op<"mul"> $x, K<"0.70710678118654752", "x">)), K<"1", "x">)),
      (op<"mul"> (op<"mul"> boundedX, K<"0.3989422804014327", "x">),
                 (op<"exp"> (op<"mul"> K<"-0.5", "x">, (op<"square"> boundedX))))))];
  let samples = UnarySamples<"-4", "4">.all;
  let oracle = Oracle<"x * sp.stats.norm.cdf(x)">;
  let python = Py<"functional.nn", "gelu", ["gelu"]>;
  let onnx = "Gelu(...)";
}
// The slope where x is chosen; beyond 100 the tangent is 1 or -1, and squares of float16 would overflow.
def GeluTanh {
  defvar x = (op<"clip", "lower=-100.0;upper=100.0"> $x);
  defvar square = (op<"square"> x);
  defvar tangent = (op<"tanh"> (op<"mul"> (op<"mul"> K<"0.7978845608028654", "x">, x),
                                          (op<"add"> (op<"mul"> K<"0.044715", "x">, square), K<"1", "x">)));
  defvar steepness = (op<"mul"> (op<"mul"> K<"0.3989422804014327", "x">, x),
                                (op<"add"> (op<"mul"> K<"0.134145", "x">, square), K<"1", "x">));
  dag slope = (op<"add"> (op<"mul"> K<"0.5", "x">, (op<"add"> tangent, K<"1", "x">)),
                         (op<"mul"> steepness, (op<"sub"> K<"1", "x">, (op<"square"> tangent))));
}
def Tess_GeluTanhOp : Activation<"gelu_tanh", "gelu with a hyperbolic tangent in place of the error function",
    (s_mul (s_mul $x, C<"0.5">), (s_add (s_tanh (s_mul (s_mul C<"0.7978845608028654">, $x),
                                                       (s_add (s_mul C<"0.044715">, (s_square $x)), C<"1">))), C<"1">)),
    "0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))",
    (op<"mul"> $dout, GeluTanh.slope)> {
  let description = [{`out = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2`, which is within 0.0005 of gelu; -inf
    gives NaN. D. Hendrycks, K. Gimpel: Gaussian Error Linear Units, arXiv:1606.08415, section 2.}];
  let onnx = "Gelu(...)";
}

// Python calls the operand inp, as it does that of leaky_relu.
class InpActivation<string m, string what, dag body, string expr, dag grad> : Activation<m, what, body, expr, grad> {
  let python = Py<"functional.nn", m, [m], "", ["x=inp"]>;
}

//===----------------------------------------------------------------------===//
// Exponential below 0. Gradients take exp(min(x, 0)), which does not overflow where x is chosen.
//===----------------------------------------------------------------------===//
class Exponential<string m, string what, dag body, string expr, dag grad> : InpActivation<m, what, body, expr, grad> {
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$alpha);
  let attrFacts = [Doc<"alpha", "the result at -inf is -alpha">];
  let samples = !listconcat(UnarySamples<"-6", "6">.all, [Sample<["2,3"], "alpha=0.5">]);
}
defvar isPositive = (op<"greater"> $x, K<"0", "x">);
defvar notPositive = (op<"minimum"> $x, K<"0", "x">);
defvar alphaOfX = (op<"full", "shape=[];value=$alpha;dtype=@x">);

def Tess_EluOp : Exponential<"elu", "the element, or alpha * (exp(x) - 1) below 0",
    (s_select (s_gt $x, C<"0">), $x, (s_mul $alpha, (s_expm1 $x))), "np.where(x > 0, x, alpha * np.expm1(x))",
    (op<"where"> isPositive, $dout, (op<"mul"> $dout, (op<"mul"> alphaOfX, (op<"exp"> notPositive))))> {
  let description = [{`out = x` where x > 0, `alpha * (exp(x) - 1)` elsewhere, whose derivative at 0 is alpha. D.
    Clevert, T. Unterthiner, S. Hochreiter: Fast and Accurate Deep Network Learning by Exponential Linear Units,
    ICLR 2016.}];
  let onnx = "Elu(alpha=alpha)";
}
def Tess_CeluOp : Exponential<"celu", "the element, or alpha * (exp(x / alpha) - 1) below 0",
    (s_select (s_gt $x, C<"0">), $x, (s_mul $alpha, (s_expm1 (s_div $x, $alpha)))),
    "np.where(x > 0, x, alpha * np.expm1(x / alpha))",
    (op<"where"> isPositive, $dout, (op<"mul"> $dout, (op<"exp"> (op<"div"> notPositive, alphaOfX))))> {
  let description = [{`out = x` where x > 0, `alpha * (exp(x / alpha) - 1)` elsewhere: the derivative at 0 is 1
    whatever alpha is. With alpha 0 what is 0 gives NaN. J. T. Barron: Continuously Differentiable Exponential Linear
    Units, arXiv:1704.07483.}];
  let onnx = "Celu(alpha=alpha)";
}
def Tess_SeluOp : InpActivation<"selu", "scaled exponential linear unit",
    (s_select (s_gt $x, C<"0">), (s_mul $x, C<"1.0507009873554805">), (s_mul (s_expm1 $x), C<"1.7580993408473769">)),
    "1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))",
    (op<"where"> isPositive, (op<"mul"> $dout, K<"1.0507009873554805", "x">),
                 (op<"mul"> $dout, (op<"mul"> K<"1.7580993408473769", "x">, (op<"exp"> notPositive))))> {
  let description = [{`out = scale * x` where x > 0, `scale * alpha * (exp(x) - 1)` elsewhere, with scale
    1.0507009873554805 and alpha 1.6732632423543772; the derivative at 0 is scale * alpha. G. Klambauer et al.:
    Self-Normalizing Neural Networks, NeurIPS 2017.}];
  let onnx = "Selu(...)";
}

//===----------------------------------------------------------------------===//
// Smooth ones and shrinkage
//===----------------------------------------------------------------------===//
defvar tanhOfSoftplus = (op<"tanh"> (op<"softplus"> $x));

def Tess_MishOp : InpActivation<"mish", "the element times the hyperbolic tangent of its softplus",
    (s_mul $x, (s_tanh (s_add (s_max $x, C<"0">), (s_log1p (s_exp (s_neg (s_abs $x))))))),
    "x * np.tanh(np.logaddexp(x, 0))",
    (op<"mul"> $dout, (op<"add"> tanhOfSoftplus, (op<"mul"> (op<"mul"> boundedX, (op<"sigmoid"> $x)),
                      (op<"sub"> K<"1", "x">, (op<"square"> tanhOfSoftplus)))))> {
  let description = [{`out = x * tanh(log(1 + exp(x)))`; -inf gives NaN. D. Misra: Mish: A Self Regularized
    Non-Monotonic Activation Function, BMVC 2020.}];
  let onnx = "Mish";
}
def Tess_SoftsignOp : InpActivation<"softsign", "the element divided by 1 plus its magnitude",
    (s_div $x, (s_add C<"1">, (s_abs $x))), "x / (1 + np.abs(x))",
    (op<"div"> $dout, (op<"square"> (op<"add"> (op<"abs"> $x), K<"1", "x">)))> {
  let description = [{`out = x / (1 + |x|)`; both infinities give NaN.}];
  let onnx = "Softsign";
}
def Tess_TanhshrinkOp : InpActivation<"tanhshrink", "the element less its hyperbolic tangent", (s_sub $x, (s_tanh $x)),
    "x - np.tanh(x)", (op<"mul"> $dout, (op<"square"> (op<"tanh"> $x)))> {
  let description = [{`out = x - tanh(x)`; the infinities stay.}];
}
class Shrinkage<string m, string what, dag body, string expr> : InpActivation<m, what, body, expr,
    (op<"where"> (op<"less_equal"> (op<"abs"> $x), (op<"full", "shape=[];value=$lambd;dtype=@x">)),
                 K<"0", "x">, $dout)> {
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "0.5">>:$lambd);
  let attrFacts = [Range<"lambd", "0", "">, Doc<"lambd", "largest magnitude that becomes 0">];
  let samples = !listconcat(UnarySamples<>.all, [Sample<["2,3"], "lambd=1.5">, Sample<["2,3"], "lambd=0.0">]);
}
def Tess_HardshrinkOp : Shrinkage<"hardshrink", "the element, 0 where it is small",
    (s_select (s_le (s_abs $x), $lambd), C<"0">, $x), "np.where(np.abs(x) <= lambd, 0, x)"> {
  let description = [{`out = 0` where |x| <= lambd, and the gradient with it, x elsewhere; NaN stays NaN.}];
}
def Tess_SoftshrinkOp : Shrinkage<"softshrink", "the element moved towards 0",
    (s_sub $x, (s_min (s_max $x, (s_neg $lambd)), $lambd)), "np.sign(x) * np.maximum(np.abs(x) - lambd, 0)"> {
  let description = [{`out = x - min(max(x, -lambd), lambd)`: 0 where |x| <= lambd, and the gradient with it,
    elsewhere x moved by lambd towards 0; NaN stays NaN.}];
}
def Tess_HardtanhOp : InpActivation<"hardtanh", "the element limited to a range, without a gradient at its ends",
    (s_min (s_max $x, $min_val), $max_val), "np.clip(x, min_val, max_val)",
    (op<"where"> (op<"logical_or"> (op<"less_equal"> $x, (op<"full", "shape=[];value=$min_val;dtype=@x">)),
                                   (op<"greater_equal"> $x, (op<"full", "shape=[];value=$max_val;dtype=@x">))),
                 K<"0", "x">, $dout)> {
  let description = [{`out = min(max(x, min_val), max_val)`: max_val where min_val is above it. NaN stays NaN; the
    gradient at the limits themselves is 0, unlike that of clip.}];
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "-1.0">>:$min_val,
                   Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$max_val);
  let attrFacts = [Doc<"min_val", "smallest value">, Doc<"max_val", "largest value">];
  let samples = !listconcat(UnarySamples<>.all, [Sample<["2,3"], "min_val=-0.5;max_val=1.5">]);
}
def Tess_PreluOp : FloatBinary<"prelu", "the element, scaled below 0 by an operand",
    (s_select (s_gt $x, C<"0">), $x, (s_mul $x, $weight)), "np.where(x > 0, x, x * weight)",
    [(op<"where"> isPositive, $dout, (op<"mul"> $dout, $weight)),
     (op<"where"> isPositive, K<"0", "x">, (op<"mul"> $dout, $x))]> {
  let description = [{`out = x` where x > 0, `weight * x` elsewhere, at 0 too; weight broadcasts. K. He et al.: Delving
    Deep into Rectifiers, ICCV 2015.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$weight);
  let dtypes = PromoteFloat<["x", "weight"]>;
  let inplace = ["x=out", "weight=out"];
  let samples = BinarySamples<>.all;
  let python = Py<"functional.nn", "prelu", ["prelu"], "", ["weight=y"]>;
  let onnx = "PRelu";
}
def Tess_GluOp : Tess_Op<"glu"> {
  let summary = "half of the elements times the sigmoid of the other half";
  let description = [{`out = a * sigmoid(b)`, a the first half of x along axis and b the second one. Y. N. Dauphin et
    al.: Language Modeling with Gated Convolutional Networks, ICML 2017.}];
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs Tess_Float:$out);
  let compute = "out[*a, t, *b] = x[*a, (0:2 t):axis, *b] * sigmoid(x[*a, (1:2 t):axis, *b])";
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Compute_;
  // One tensor of both halves; that of the notation adds each, among zeros, to the other.
  defvar halved = "axis($axis, len(#x))";
  defvar half = "#x[" # halved # "] // 2";
  defvar value = Slice<(same $x), "len(#x)", halved, "0", half>.all;
  defvar gate = (op<"sigmoid"> Slice<(same $x), "len(#x)", halved, half, "#x[" # halved # "]">.all);
  let gradient = [(op<"concat", "axis=$axis"> (op<"mul"> $dout, gate),
                   (op<"mul"> (op<"mul"> $dout, value), (op<"mul"> gate, (op<"sub"> K<"1", "x">, gate))))];
  let attrFacts = [Axis<"axis", "x">, BindTime<"axis">, Doc<"axis", "axis to halve">];
  let samples = [Sample<["6"]>, Sample<["2,4"]>, Sample<["4,3"], "axis=0">, Sample<["2,6,3"], "axis=-2">,
                 Sample<["3,0"]>];
  let oracle = Oracle<"np.split(x, 2, axis)[0] * sp.special.expit(np.split(x, 2, axis)[1])">;
  let python = Py<"functional.nn", "glu", ["glu"], "", ["x=inp"]>;
}

#endif // TESS_OPS_ACTIVATION
