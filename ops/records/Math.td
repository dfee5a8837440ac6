//===- Math.td - functions of real analysis, element by element -*- tablegen -*-===//
#ifndef TESS_OPS_MATH
#define TESS_OPS_MATH

include "ops/records/Elementwise.td"

def Tess_AcosOp : FloatUnary<"acos", "inverse cosine", (s_acos $x), "np.arccos(x)",
    (op<"neg"> (op<"mul"> $dout, (op<"rsqrt"> (op<"sub"> K<"1", "x">, (op<"square"> $x))))), "-0.9", "0.9"> {
  let autocast = "high";
  let description = [{`out = arccos(x)`, in [0, pi]; NaN outside of [-1, 1].}];
  let onnx = "Acos";
}
def Tess_AsinOp : FloatUnary<"asin", "inverse sine", (s_asin $x), "np.arcsin(x)",
    (op<"mul"> $dout, (op<"rsqrt"> (op<"sub"> K<"1", "x">, (op<"square"> $x)))), "-0.9", "0.9"> {
  let autocast = "high";
  let description = [{`out = arcsin(x)`, in [-pi/2, pi/2]; NaN outside of [-1, 1].}];
  let onnx = "Asin";
}
def Tess_AtanOp : FloatUnary<"atan", "inverse tangent", (s_atan $x), "np.arctan(x)",
    (op<"div"> $dout, (op<"add"> (op<"square"> $x), K<"1", "x">))> {
  let description = [{`out = arctan(x)`, in [-pi/2, pi/2], the ends at the infinities.}];
  let onnx = "Atan";
}
def Tess_AcoshOp : FloatUnary<"acosh", "inverse hyperbolic cosine", (s_acosh $x), "np.arccosh(x)",
    (op<"mul"> $dout, (op<"rsqrt"> (op<"sub"> (op<"square"> $x), K<"1", "x">))), "1.1", "4"> {
  let autocast = "high";
  let description = [{`out = log(x + sqrt(x^2 - 1))`; NaN below 1, inf at inf.}];
  let onnx = "Acosh";
}
def Tess_AsinhOp : FloatUnary<"asinh", "inverse hyperbolic sine", (s_asinh $x), "np.arcsinh(x)",
    (op<"mul"> $dout, (op<"rsqrt"> (op<"add"> (op<"square"> $x), K<"1", "x">)))> {
  let autocast = "high";
  let description = [{`out = log(x + sqrt(x^2 + 1))`, an odd function; the infinities stay.}];
  let onnx = "Asinh";
}
def Tess_AtanhOp : FloatUnary<"atanh", "inverse hyperbolic tangent", (s_atanh $x), "np.arctanh(x)",
    (op<"div"> $dout, (op<"sub"> K<"1", "x">, (op<"square"> $x))), "-0.9", "0.9"> {
  let autocast = "high";
  let description = [{`out = log((1 + x) / (1 - x)) / 2`; inf at 1, -inf at -1, NaN outside of [-1, 1].}];
  let onnx = "Atanh";
}
// A coordinate divided by the square of the distance of (x, y) from the origin; 0 where that is 0 or infinite.
class OverSquare<dag coordinate> {
  defvar distance = (op<"hypot"> $x, $y);
  defvar isPoint = (op<"logical_and"> (op<"greater"> distance, K<"0", "x">), (op<"isfinite"> distance));
  defvar divisor = (op<"where"> isPoint, distance, K<"1", "x">);
  dag all = (op<"div"> (op<"div"> (op<"where"> isPoint, coordinate, K<"0", "x">), divisor), divisor);
}
def Tess_Atan2Op : FloatBinary<"atan2", "angle of the point (x, y), whose ordinate y comes first", (s_atan2 $y, $x),
    "np.arctan2(y, x)",
    [(op<"mul"> $dout, OverSquare<(same $x)>.all), (op<"neg"> (op<"mul"> $dout, OverSquare<(same $y)>.all))]> {
  let autocast = "high";
  let description = [{`out = arctan(y / x)`, moved to the quadrant of the point, in [-pi, pi]. Signs of zeros
    count, as C11, Annex F.10.1.4, says: atan2(0, -0) = pi. At the origin, and infinitely far from it, the gradients
    are 0.}];
  let arguments = (ins Tess_Float:$y, Tess_Float:$x);
  let dtypes = PromoteFloat<["y", "x"]>;
  let inplace = ["y=out", "x=out"];
}
def Tess_CosOp : FloatUnary<"cos", "cosine", (s_cos $x), "np.cos(x)",
                            (op<"neg"> (op<"mul"> $dout, (op<"sin"> $x)))> {
  let autocast = "high";
  let description = [{`out = cos(x)`, x in radians; NaN at the infinities.}];
  let onnx = "Cos";
}
def Tess_SinOp : FloatUnary<"sin", "sine", (s_sin $x), "np.sin(x)", (op<"mul"> $dout, (op<"cos"> $x))> {
  let autocast = "high";
  let description = [{`out = sin(x)`, x in radians; NaN at the infinities.}];
  let onnx = "Sin";
}
def Tess_TanOp : FloatUnary<"tan", "tangent", (s_tan $x), "np.tan(x)",
                            (op<"mul"> $dout, (op<"add"> (op<"square"> $out), K<"1", "x">)), "-1", "1"> {
  let autocast = "high";
  let description = [{`out = sin(x) / cos(x)`, x in radians; NaN at the infinities.}];
  let onnx = "Tan";
}
def Tess_CoshOp : FloatUnary<"cosh", "hyperbolic cosine", (s_cosh $x), "np.cosh(x)",
                             (op<"mul"> $dout, (op<"sinh"> $x))> {
  let autocast = "high";
  let description = [{`out = (exp(x) + exp(-x)) / 2`; inf at both infinities.}];
  let onnx = "Cosh";
}
def Tess_SinhOp : FloatUnary<"sinh", "hyperbolic sine", (s_sinh $x), "np.sinh(x)", (op<"mul"> $dout, (op<"cosh"> $x))> {
  let autocast = "high";
  let description = [{`out = (exp(x) - exp(-x)) / 2`; the infinities stay.}];
  let onnx = "Sinh";
}
def Tess_TanhOp : FloatUnary<"tanh", "hyperbolic tangent", (s_tanh $x), "np.tanh(x)",
                             (op<"mul"> $dout, (op<"sub"> K<"1", "x">, (op<"square"> $out)))> {
  let description = [{`out = (exp(x) - exp(-x)) / (exp(x) + exp(-x))`, without overflow: -1 at -inf, 1 at inf.}];
  let onnx = "Tanh";
}
def Tess_ErfOp : FloatUnary<"erf", "error function", (s_erf $x), "sp.special.erf(x)",
    (op<"mul"> $dout, (op<"mul"> K<"1.1283791670955126", "x">, (op<"exp"> (op<"neg"> (op<"square"> $x)))))> {
  let description = [{`out = 2 / sqrt(pi) * integral of exp(-t^2) for t from 0 to x`; -1 at -inf, 1 at inf.}];
  let onnx = "Erf";
}
def Tess_ErfcOp : FloatUnary<"erfc", "one minus the error function", (s_erfc $x), "sp.special.erfc(x)",
    (op<"mul"> $dout, (op<"mul"> K<"-1.1283791670955126", "x">, (op<"exp"> (op<"neg"> (op<"square"> $x)))))> {
  let description = [{`out = 1 - erf(x)`, exact also where erf(x) is nearly 1; 2 at -inf, 0 at inf.}];
}
def Tess_ExpOp : FloatUnary<"exp", "exponential", (s_exp $x), "np.exp(x)", (op<"mul"> $dout, (op<"conj"> $out)),
                            "-2", "2", Tess_FloatOrComplex> {
  let autocast = "high";
  let description = [{`out = e^x`; inf where that is too large for the dtype, 0 at -inf. Of a complex number it
    is e^real (cos(imag), sin(imag)), with the special values of C11, Annex G.6.3.1.}];
  let onnx = "Exp";
}
def Tess_Expm1Op : FloatUnary<"expm1", "exponential minus one, exact near zero", (s_expm1 $x), "np.expm1(x)",
                              (op<"mul"> $dout, (op<"add"> $out, K<"1", "x">))> {
  let autocast = "high";
  let description = [{`out = e^x - 1`, with all digits near 0; -1 at -inf.}];
}
def Tess_LogOp : FloatUnary<"log", "natural logarithm", (s_log $x), "np.log(x)", (op<"div"> $dout, (op<"conj"> $x)),
                            "0.1", "4", Tess_FloatOrComplex> {
  let autocast = "high";
  let description = [{`out = ln(x)`; -inf at 0, NaN below. Of a complex number it is (ln |x|, angle(x)), the second
    part in [-pi, pi].}];
  let onnx = "Log";
}
def Tess_Log1pOp : FloatUnary<"log1p", "logarithm of one plus the element, exact near zero", (s_log1p $x), "np.log1p(x)",
                              (op<"div"> $dout, (op<"add"> $x, K<"1", "x">)), "-0.9", "4"> {
  let autocast = "high";
  let description = [{`out = ln(1 + x)`, with all digits near 0; -inf at -1, NaN below.}];
}
// The share of one of two exponentials in their sum; of infinite ones a half; 0 where both are 0.
class ShareOfSum<dag lead> {
  defvar isEndless = (op<"logical_and"> (op<"isinf"> $x), (op<"equal"> $x, $y));
  defvar share = (op<"sigmoid"> (op<"where"> isEndless, K<"0", "x">, lead));
  dag all = (op<"where"> (op<"equal"> $out, (op<"full", "shape=[];value=-inf;dtype=@x">)), K<"0", "x">, share);
}
def Tess_LogAddExpOp : FloatBinary<"logaddexp", "logarithm of the sum of exponentials", (s_logaddexp $x, $y),
    "np.logaddexp(x, y)", [(op<"mul"> $dout, ShareOfSum<(op<"sub"> $x, $y)>.all),
                           (op<"mul"> $dout, ShareOfSum<(op<"sub"> $y, $x)>.all)]> {
  let autocast = "high";
  let description = [{`out = log(exp(x) + exp(y))`, without overflow; -inf where both are -inf, and no gradient
    then. Where both are inf each has half of the gradient.}];
  let samples = BinarySamples<>.all;
}
def Tess_SqrtOp : FloatUnary<"sqrt", "square root", (s_sqrt $x), "np.sqrt(x)",
    (op<"div"> (op<"mul"> $dout, K<"0.5", "x">), $out), "0.1", "4"> {
  let autocast = "high";
  let description = [{`out = sqrt(x)`, correctly rounded; NaN below 0, and -0 stays -0.}];
  let onnx = "Sqrt";
}
def Tess_RsqrtOp : FloatUnary<"rsqrt", "one over the square root", (s_rsqrt $x), "1 / np.sqrt(x)",
    (op<"mul"> $dout, (op<"mul"> K<"-0.5", "x">, (op<"mul"> $out, (op<"square"> $out)))), "0.1", "4"> {
  let autocast = "high";
  let description = [{`out = 1 / sqrt(x)`; inf at 0, -inf at -0, NaN below.}];
  let python = Py<"functional.math", "rsqrt", ["rsqrt"]>;
}
def Tess_ReciprocalOp : FloatUnary<"reciprocal", "one over the element", (s_div C<"1">, $x), "1 / x",
    (op<"neg"> (op<"mul"> $dout, (op<"square"> $out))), "0.2", "4"> {
  let description = [{`out = 1 / x`; inf at 0, -inf at -0.}];
  let python = Py<"functional.math", "reciprocal", ["reciprocal"]>;
  let onnx = "Reciprocal";
}
// In float64, so that a whole number is found exactly: where the base to that power is x, the logarithm is whole.
class LogOfBase<string m, string base, string factor, string expr>
    : FloatUnary<m, "logarithm of base " # base, (s_id $x), expr, (none), "0.1", "4"> {
  defvar wide = (op<"cast", "dtype=f64"> $x);
  defvar near = (op<"mul"> (op<"log"> wide), (op<"full", "shape=[];value=" # factor # ";dtype=f64">));
  defvar whole = (op<"round"> near);
  defvar power = (op<"pow"> (op<"full", "shape=[];value=" # base # ".0;dtype=f64">), whole);
  let description = "`out = log(x) / log(" # base # ")`, exact where x is a power of " # base #
                    !if(!eq(base, "10"), " of at most 10^22", "") # "; -inf at 0, NaN below.";
  let autocast = "high";
  let lowering = Composite<>;
  let scalar = [];
  let forward = [(op<"cast", "dtype=@x"> (op<"where"> (op<"equal"> power, wide), whole, near))];
  let gradient = [Arriving<(op<"div"> (op<"mul"> $dout, K<factor, "x">), $x)>.all];
  let inplace = [];
}
def Tess_Log2Op : LogOfBase<"log2", "2", "1.4426950408889634", "np.log2(x)">;
def Tess_Log10Op : LogOfBase<"log10", "10", "0.4342944819032518", "np.log10(x)">;
def Tess_SignbitOp : Predicate<"signbit", "whether the sign is negative",
    (s_signbit $x), "np.signbit(x)"> {
  let description = [{`out = copysign(1, x) < 0`: true of -0 and of a NaN whose sign is set.}];
  let python = Py<"functional.elemwise", "signbit", ["signbit"]>;
}
def Tess_CopysignOp : FloatBinary<"copysign", "size of x with the sign of y",
    (s_select (s_signbit $y), (s_neg (s_abs $x)), (s_abs $x)),
    "np.copysign(x, y)",
    []> {
  let description = [{`out = |x|` where y is positive, `-|x|` where it is negative, as -0 is, and a NaN
    whose sign is set. The gradient at x = 0 is 0.}];
  let gradient = [(op<"mul"> $dout, (op<"mul"> (op<"sign"> $x), (op<"copysign"> K<"1", "x">, $y))), (none)];
  let samples = BinarySamples<"-2", "2">.all;
}
// A coordinate divided by the distance $out from the origin.
class AlongLine<dag coordinate> {
  defvar isFar = (op<"isinf"> $out);
  defvar noDivisor = (op<"logical_or"> isFar, (op<"equal"> $out, K<"0", "x">));
  defvar endless = (op<"where"> (op<"isinf"> coordinate), (op<"sign"> coordinate), K<"0", "x">);
  dag all = (op<"div"> (op<"where"> noDivisor, endless, coordinate), (op<"where"> noDivisor, K<"1", "x">, $out));
}
def Tess_HypotOp : FloatBinary<"hypot", "length of the vector (x, y)",
    (s_select (s_or (s_isinf $x), (s_isinf $y)), (s_div C<"1">, C<"0">),
              (s_select (s_eq (s_max (s_abs $x), (s_abs $y)), C<"0">), C<"0">,
                        (s_mul (s_max (s_abs $x), (s_abs $y)),
                               (s_sqrt (s_add C<"1">, (s_square (s_div (s_min (s_abs $x), (s_abs $y)),
                                                                       (s_max (s_abs $x), (s_abs $y))))))))),
    "np.hypot(x, y)",
    [(op<"mul"> $dout, AlongLine<(same $x)>.all), (op<"mul"> $dout, AlongLine<(same $y)>.all)]> {
  let autocast = "high";
  let description = [{`out = sqrt(x^2 + y^2)`, without overflow; inf where either is infinite, as C11, Annex F.10.4.3,
    says. Where it is 0 so are the gradients; an infinite operand has 1 or -1, a finite one beside it 0.}];
  let samples = BinarySamples<"-2", "2">.all;
}
class Rounding<string m, string what, dag body, string expr>
    : Unary<m, what, body, expr, (op<"full_like", "value=0.0"> $x), Tess_NumberOrBool> {
  let description = "`out = " # m # "(x)`, of the dtype of x: the infinities, NaN, integers and bool stay. The "
                    "gradient is 0.";
  let samples = UnarySamples<"-9", "9">.all;
}
def Tess_CeilOp : Rounding<"ceil", "smallest integer not below the element", (s_ceil $x), "np.ceil(x)"> {
  let onnx = "Ceil";
}
def Tess_FloorOp : Rounding<"floor", "largest integer not above the element", (s_floor $x), "np.floor(x)"> {
  let onnx = "Floor";
}
def Tess_RoundOp : Rounding<"round", "nearest integer, halves to even", (s_round $x), "np.round(x)"> {
  let onnx = "Round";
}
def Tess_TruncOp : Rounding<"trunc", "integer part", (s_trunc $x), "np.trunc(x)"> {
  let python = Py<"functional.math", "trunc", ["trunc"]>;
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//
class Triangle<string m, string what, ScalarFn keeps, string sign> : Tess_Op<m> {
  let summary = what;
  let description = "`out[..., i, j] = x[..., i, j]` where j " # sign # " i + diagonal, 0 elsewhere.";
  let arguments = (ins Tess_Any:$x, Runtime<DefaultValuedAttr<SI64Attr, "0">>:$diagonal);
  let results = (outs Tess_Any:$out);
  let shapes = "(*B, M, N) -> (*B, M, N)";
  let dtypes = Same<"x">;
  let lowering = Elementwise_;
  let scalar = [(s_select (keeps (s_dimindex 0), (s_add (s_dimindex 1), $diagonal)), $x, C<"0">)];
  let gradient = [(op<m, "diagonal=$diagonal"> $dout)];
  let onnx = "Trilu(...)";
  let attrFacts = [Range<"diagonal", "-9007199254740992.0", "9007199254740992.0">,
                   Doc<"diagonal", "first or last one that is kept, above the main one where positive">];
  let samples = [Sample<["3,5"]>, Sample<["5,3"], "diagonal=-1">, Sample<["2,1,4,4"], "diagonal=1">, Sample<["0,3"]>,
                 Sample<["1,4"], "diagonal=2">, Sample<["2,3,2,1,3"], "diagonal=-9">];
  let oracle = Oracle<"np." # m # "(x, diagonal)">;
  let python = Py<"functional.tensor", m, [m], "", ["x=inp"]>;
}
def Tess_TrilOp : Triangle<"tril", "what is on and below a diagonal, zeros above", s_le, "<=">;
def Tess_TriuOp : Triangle<"triu", "what is on and above a diagonal, zeros below", s_ge, ">=">;

#endif // TESS_OPS_MATH
