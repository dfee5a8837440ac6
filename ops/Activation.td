//===- Activation.td - activation functions ------------------*- tablegen -*-===//
#ifndef TESS_OPS_ACTIVATION
#define TESS_OPS_ACTIVATION

include "ops/Elementwise.td"

class Activation<string m, string what, dag body, string expr, dag grad>
    : FloatUnary<m, what, body, expr, grad, "-6", "6"> {
  let python = Py<"functional.nn", m>;
}

def Tess_ReluOp : Activation<"relu", "the element, or 0 below it", (s_max $x, C<"0">), "np.maximum(x, 0)",
    (op<"where"> (op<"greater"> $out, K<"0", "x">), $dout, K<"0", "x">)> {
  let description = [{`out = max(x, 0)`. NaN stays NaN and -0 stays -0; the gradient at 0 is 0.}];
  let onnx = "Relu";
}
def Tess_Relu6Op : Activation<"relu6", "the element limited to [0, 6]", (s_min (s_max $x, C<"0">), C<"6">),
    "np.clip(x, 0, 6)",
    (op<"where"> (op<"logical_and"> (op<"greater"> $out, K<"0", "x">), (op<"less"> $out, K<"6", "x">)), $dout,
                 K<"0", "x">)> {
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
  let python = Py<"functional.nn", "leaky_relu", [], "", ["x=inp"]>;
  let samples = !listconcat(UnarySamples<>.all, [Sample<["2,3"], "negative_slope=0.2">]);
  let onnx = "LeakyRelu";
}
def Tess_SigmoidOp : Activation<"sigmoid", "1 / (1 + exp(-x))", (s_sigmoid $x), "sp.special.expit(x)",
    (op<"mul"> $dout, (op<"mul"> $out, (op<"sub"> K<"1", "x">, $out)))> {
  let description = [{`out = 1 / (1 + exp(-x))`, without overflow: 0 at -inf, 1 at inf.}];
  let onnx = "Sigmoid";
}
def Tess_LogsigmoidOp : Activation<"logsigmoid", "logarithm of the sigmoid",
    (s_sub (s_min $x, C<"0">), (s_log1p (s_exp (s_neg (s_abs $x))))), "sp.special.log_expit(x)",
    (op<"mul"> $dout, (op<"sigmoid"> (op<"neg"> $x)))> {
  let description = [{`out = log(1 / (1 + exp(-x)))`, computed as `min(x, 0) - log1p(exp(-abs(x)))`, which does
    not overflow: -inf at -inf, 0 at inf.}];
  let python = Py<"functional.nn", "logsigmoid", [], "", ["x=inp"]>;
}
def Tess_SiluOp : Activation<"silu", "the element times its sigmoid", (s_mul $x, (s_sigmoid $x)),
    "x * sp.special.expit(x)",
    (op<"mul"> $dout, (op<"mul"> (op<"sigmoid"> $x), (op<"add"> (op<"mul"> $x, (op<"sub"> K<"1", "x">,
        (op<"sigmoid"> $x))), K<"1", "x">)))> {
  let description = [{`out = x * sigmoid(x)`; -inf gives NaN. S. Elfwing, E. Uchibe, K. Doya: Sigmoid-Weighted
    Linear Units, Neural Networks 107, 2018.}];
}
def Tess_SoftplusOp : Activation<"softplus", "logarithm of 1 + exp(x)",
    (s_add (s_max $x, C<"0">), (s_log1p (s_exp (s_neg (s_abs $x))))), "np.logaddexp(x, 0)",
    (op<"mul"> $dout, (op<"sigmoid"> $x))> {
  let description = [{`out = log(1 + exp(x))`, computed as `max(x, 0) + log1p(exp(-abs(x)))`, which does not
    overflow: 0 at -inf, inf at inf.}];
  let python = Py<"functional.nn", "softplus", [], "", ["x=inp"]>;
  let onnx = "Softplus";
}
def Tess_HsigmoidOp : Activation<"hsigmoid", "relu6(x + 3) / 6",
    (s_div (s_min (s_max (s_add $x, C<"3">), C<"0">), C<"6">), C<"6">), "np.clip(x + 3, 0, 6) / 6",
    (op<"where"> (op<"less"> (op<"abs"> $x), K<"3", "x">), (op<"div"> $dout, K<"6", "x">), K<"0", "x">)> {
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
      (op<"mul"> (op<"mul"> $x, K<"0.3989422804014327", "x">),
                 (op<"exp"> (op<"mul"> K<"-0.5", "x">, (op<"square"> $x))))))];
  let samples = UnarySamples<"-4", "4">.all;
  let oracle = Oracle<"x * sp.stats.norm.cdf(x)">;
  let python = Py<"functional.nn", "gelu">;
  let onnx = "Gelu";
}

#endif // TESS_OPS_ACTIVATION
