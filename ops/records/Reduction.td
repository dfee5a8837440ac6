//===- Reduction.td - many elements to one -------------------*- tablegen -*-===//
//
// `axes` empty means all axes. Accumulation order: see the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_REDUCTION
#define TESS_OPS_REDUCTION

include "ops/records/Base.td"

class ReductionSamples<string lo = "-2", string hi = "2"> {
  list<Sample> all = [Sample<["2,3"], "", lo, hi>, Sample<["7"], "axes=[0]", lo, hi>, Sample<[""], "", lo, hi>,
                       Sample<["2,3,4"], "axes=[1]", lo, hi>, Sample<["2,3,4"], "axes=[-1];keepdims=true", lo, hi>,
                       Sample<["2,3,4"], "axes=[0, 2]", lo, hi>, Sample<["2,3,4,2"], "axes=[1, 2];keepdims=true", lo, hi>,
                       Sample<["0,3"], "axes=[1]", lo, hi>, Sample<["1,2,3,2,37"], "axes=[4]", lo, hi>];
}
class ReductionBase<string m, string what, string expr, Constraint type> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins type:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs type:$out);
  let shapes = "(*D) -> (*D / axes)";
  let dtypes = Same<"x">;
  let attrFacts = [AxisSet<"axes", "x">, Static<"axes", loopAxes>, Doc<"axes", "axes to reduce; empty: all">,
                   Doc<"keepdims", "keep reduced axes with size 1">];
  let samples = ReductionSamples<>.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.math", m, [m], "", ["x=inp", "axes=axis"]>;
}
def Tess_SumOp : ReductionBase<"sum", "sum over axes", "np.sum(x, axis=axes or None, keepdims=keepdims)",
                               Tess_NumberOrBoolOrComplex> {
  let autocast = "high";
  let description = [{`out` is the sum of the elements of x along axes; of none it is 0. Integers keep their
    dtype and wrap around, bool becomes int32; float16 and bfloat16 are added in float32 and rounded once.}];
  let lowering = Reduction<"Sum">;
  let dtypes = SumOf<"x">;
  let onnx = "ReduceSum(...)";
}
def Tess_MeanOp : ReductionBase<"mean", "arithmetic mean over axes", "np.mean(x, axis=axes or None, keepdims=keepdims)",
                                Tess_FloatOrComplex> {
  let quant = "rounds";
  let autocast = "high";
  let description = [{`out = sum(x) / n`, n the number of elements along axes; of none it is NaN.}];
  let lowering = Reduction<"Mean">;
  let dtypes = PromoteFloat<["x"]>;
  let onnx = "ReduceMean(...)";
}
def Tess_ProdOp : ReductionBase<"prod", "product over axes", "np.prod(x, axis=axes or None, keepdims=keepdims)",
                                Tess_NumberOrBool> {
  let autocast = "high";
  let description = [{`out` is the product of the elements of x along axes; of none it is 1. Integers keep their
    dtype and wrap around, bool becomes int32.}];
  let lowering = Reduction<"Prod">;
  let dtypes = SumOf<"x">;
  let samples = ReductionSamples<"-1", "2">.all;
  let onnx = "ReduceProd(...)";
}
class Extremum<string m, string what, string kind, string expr> : ReductionBase<m, what, expr, Tess_NumberOrBool> {
  let arguments = (ins Tess_NumberOrBool:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims, DefaultValuedAttr<BoolAttr, "false">:$allow_empty);
  let attrFacts = [AxisSet<"axes", "x">, Static<"axes", loopAxes>, Doc<"axes", "axes to reduce; empty: all">,
                   Doc<"keepdims", "keep reduced axes with size 1">,
                   Doc<"allow_empty", "of no elements, give what every element beats">];
  let lowering = Reduction<kind, 1>;
  let description = "`out = " # m # [{(x)` along axes; NaN wins. Equal elements share the gradient evenly. No
    elements are an error, but with allow_empty give what every element beats: an infinity, the
    lowest or highest integer, False or True.}];
  let samples = !listconcat(ReductionSamples<>.all, [Sample<["2,3"], "axes=[1];allow_empty=true">]);
}
def Tess_MaxOp : Extremum<"max", "largest element over axes", "Max", "np.max(x, axis=axes or None, keepdims=keepdims)"> {
  let onnx = "ReduceMax(...)";
}
def Tess_MinOp : Extremum<"min", "smallest element over axes", "Min",
                          "np.min(x, axis=axes or None, keepdims=keepdims)"> { let onnx = "ReduceMin(...)"; }

class ArgExtremum<string m, string what, string kind, string expr> : Tess_Op<m> {
  let summary = what;
  let description = [{Of equal elements the first one wins; NaN wins over every number, True over False. The index, from 0,
    is int32.}];
  let arguments = (ins Tess_NumberOrBool:$x, DefaultValuedAttr<SI64Attr, "0">:$axis,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Tess_I32:$out);
  let shapes = "(*D) -> (*D / axis)";
  let constraints = [fitsInt32];
  let dtypes = Fixed<"i32">;
  let lowering = Reduction<kind, 1>;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", loopAxes>, Doc<"axis", "axis to search">,
                   Doc<"keepdims", "keep the axis with size 1">];
  let samples = [Sample<["7"]>, Sample<["2,3"], "axis=1">, Sample<["2,3,4"], "axis=-2;keepdims=true">,
                 Sample<["0,3"], "axis=1">, Sample<["2,3,1,2,4"], "axis=4">];
  let oracle = Oracle<expr>;
  let python = Py<"functional.math", m, [m], "", ["x=inp"]>;
  let flatWithout = "axis";
}
def Tess_ArgMaxOp : ArgExtremum<"argmax", "index of the largest element along an axis", "ArgMax",
                                "np.argmax(x, axis=axis, keepdims=keepdims)"> {
  let opdef = "Argmax";
  let onnx = "ArgMax(...)";
}
def Tess_ArgMinOp : ArgExtremum<"argmin", "index of the smallest element along an axis", "ArgMin",
                                "np.argmin(x, axis=axis, keepdims=keepdims)"> {
  let opdef = "Argmin";
  let onnx = "ArgMin(...)";
}

class MeanComposite<string m, string what, string expr, dag body> : ReductionBase<m, what, expr, Tess_Float> {
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Composite<>;
  let forward = [body];
}
def Tess_VarOp : MeanComposite<"var", "mean square distance from the mean",
    "np.var(x, axis=axes or None, keepdims=keepdims)",
    (op<"mean", "axes=$axes;keepdims=$keepdims"> (op<"square"> (op<"sub"> $x,
        (op<"mean", "axes=$axes;keepdims=true"> $x))))> {
  let autocast = "high";
  let description = [{`out = mean((x - mean(x))^2)`, divided by n and not by n - 1; of no elements it is NaN.}];
}
// A result of a reduction, or its gradient, with the reduced axes.
defvar allAxes = "axes($axes, len(#x))";
class WithAxes<dag result> {
  dag all = (when<"$keepdims || len(#x) == 0"> result, (op<"expand_dims", !strconcat("axis=", allAxes)> result));
}
defvar outAndAxes = WithAxes<(same $out)>.all;
defvar doutAndAxes = WithAxes<(same $dout)>.all;
// `x`, or 0 where the result is 0, at which a root has no slope.
class ZeroAtZero<dag x> {
  dag all = (op<"where"> (op<"equal"> outAndAxes, K<"0", "out">), K<"0", "out">, x);
}
def Tess_StdOp : MeanComposite<"std", "square root of the variance", "np.std(x, axis=axes or None, keepdims=keepdims)",
    (op<"cast", "dtype=@x"> (op<"sqrt"> (op<"var", "axes=$axes;keepdims=$keepdims"> (op<"cast", "dtype=f64"> $x))))> {
  let autocast = "high";
  let description = [{`out = sqrt(var(x))`, divided by n and not by n - 1, in float64 inside: squares of float32 overflow
    where the root does not. Of no elements it is NaN. Where all elements are equal the gradient is 0.}];
  defvar mean = (op<"mean", "axes=$axes;keepdims=true"> $x);
  defvar scale = (op<"div"> doutAndAxes, (op<"mul"> outAndAxes, (piece<"count", [allAxes, "@x"]> $x)));
  let gradient = [(op<"mul"> (op<"sub"> $x, mean), ZeroAtZero<scale>.all)];
}

class NormOp<string m, string what, dag out, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let requires = [Require<"ord must not be 0", "$ord != 0.0", "{x} and ord 0">,
                  Require<"reduced dimensions must not be empty", "$ord != inf && $ord != -inf || hasElements(#x, $axes)",
                          "x {x}", "reduced dimensions must not be empty where ord is infinite">];
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Composite<>;
  let forward = [out];
  let oracle = Oracle<expr>;
}
defvar normFacts = [AxisSet<"axes", "x">, Static<"axes", loopAxes>, Doc<"axes", "axes of a vector; empty: all">,
                    Static<"ord", normFormulas>,
                    Doc<"ord", "exponent; inf and -inf: the largest and the smallest magnitude">];
defvar alongAxes = "axes=$axes;keepdims=$keepdims";
defvar magnitude = (op<"abs"> $x);
// In float64, where powers of float32 neither overflow nor vanish.
defvar order = (op<"full", "shape=[];value=$ord;dtype=f64">);
defvar sumOfPowers = (op<"sum", alongAxes> (op<"pow"> (op<"cast", "dtype=f64"> magnitude), order));
defvar rootOfPowers = (op<"pow"> sumOfPowers, (op<"div"> (op<"full", "shape=[];value=1.0;dtype=f64">), order));
defvar normOfPowers = (op<"cast", "dtype=@x"> rootOfPowers);
defvar extremeNorm = (when<"ord=-INFINITY"> (op<"min", alongAxes> magnitude), normOfPowers);
defvar anyNorm = (when<"ord=INFINITY"> (op<"max", alongAxes> magnitude), extremeNorm);
defvar sumOfSquares = (op<"sum", alongAxes> (op<"square"> (op<"cast", "dtype=f64"> $x)));
defvar rootOfSquares = (op<"cast", "dtype=@x"> (op<"sqrt"> sumOfSquares));
defvar vectorNorm = (when<"ord=2.0"> rootOfSquares, anyNorm);
defvar normalizedVector = (op<"div"> $x,
                           (op<"maximum"> (op<"norm", "axes=$axes;ord=$ord;keepdims=true"> $x), K<"$epsilon", "x">));

// Gradients: x / out; shared by the elements that are the extreme; sign(x) * (abs(x) / out)^(ord - 1).
def NormGradient {
  defvar ofSquares = (op<"mul"> $x, ZeroAtZero<(op<"div"> doutAndAxes, outAndAxes)>.all);
  defvar isExtreme = (op<"cast", "dtype=@x"> (op<"equal"> magnitude, outAndAxes));
  defvar share = (op<"div"> doutAndAxes, (op<"sum", "axes=$axes;keepdims=true"> isExtreme));
  defvar ofExtreme = (op<"mul"> (op<"mul"> (op<"sign"> $x), isExtreme), share);
  defvar isZero = (op<"equal"> $x, K<"0", "x">);
  defvar part = (op<"div"> magnitude, (op<"where"> (op<"equal"> outAndAxes, K<"0", "out">), K<"1", "out">, outAndAxes));
  defvar slope = (op<"pow"> (op<"where"> isZero, K<"1", "x">, part), (op<"sub"> K<"$ord", "x">, K<"1", "x">));
  defvar ofPowers = (op<"mul"> (op<"mul"> (op<"sign"> $x), slope), ZeroAtZero<doutAndAxes>.all);
  dag all = (when<"ord=2.0"> ofSquares, (when<"$ord == inf || $ord == -inf"> ofExtreme, ofPowers));
}
def Tess_NormOp : NormOp<"norm", "norm of vectors along axes", vectorNorm,
                         "tess_oracle.norm(x, axes, keepdims, ord)"> {
  let autocast = "high";
  let description = [{`out = (sum of abs(x)^ord)^(1 / ord)` along axes; with ord inf the largest abs(x), with
    -inf the smallest. The gradient where the norm is 0 is 0.}];
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims, DefaultValuedAttr<F64Attr, "2.0">:$ord);
  let shapes = "(*D) -> (*D / axes)";
  let gradient = [NormGradient.all];
  let attrFacts = !listconcat(normFacts, [Doc<"keepdims", "keep reduced axes with size 1">]);
  let samples = [Sample<["2,3"]>, Sample<["7"], "axes=[0]">, Sample<["2,3,4"], "axes=[0, 2];keepdims=true">,
                 Sample<["2,5"], "axes=[1];ord=3.0">, Sample<["2,5"], "axes=[-1];ord=INFINITY">,
                 Sample<["2,5"], "axes=[0];ord=-INFINITY">, Sample<["2,5"], "ord=1.0">, Sample<["0,3"], "axes=[1]">];
  let python = Py<"functional.math", "norm", ["norm"], "", ["x=inp", "axes=axis"]>;
  let onnx = "ReduceL2(...)";
}
def Tess_NormalizeOp : NormOp<"normalize", "vectors along axes, divided by their norm", normalizedVector,
                              "x / np.maximum(tess_oracle.norm(x, axes, True, ord), epsilon)"> {
  let autocast = "high";
  let description = [{`out = x / max(norm(x), epsilon)`, the norm taken along axes as by norm, its axes kept; a
    vector of zeros stays one. As PyTorch's normalize.}];
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                   DefaultValuedAttr<F64Attr, "2.0">:$ord, Runtime<DefaultValuedAttr<F64Attr, "1e-12">>:$epsilon);
  let shapes = "(*D) -> (*D)";
  let attrFacts = !listconcat(normFacts, [Range<"epsilon", "0", "">, Doc<"epsilon", "the smallest divisor">]);
  let samples = [Sample<["2,3"]>, Sample<["7"], "axes=[0]">, Sample<["2,3,4"], "axes=[0, 2]">,
                 Sample<["2,5"], "axes=[1];ord=3.0">, Sample<["2,5"], "axes=[-1];ord=INFINITY;epsilon=0.5">,
                 Sample<["2,5"], "axes=[1];epsilon=0.0">,
                 Sample<["0,3"], "axes=[1]">];
  let python = Py<"functional.math", "normalize", [], "", ["x=inp", "axes=axis", "epsilon=eps"]>;
  let onnx = "LpNormalization(...)";
}

def Tess_SumToOp : Tess_Op<"sum_to"> {
  let summary = "sum over the axes along which `like` would broadcast";
  let description = [{The axes that like does not have, and those of size 1 in it, are summed: the result has
    the shape of like, whose elements do not count. This is the gradient of broadcast_like.}];
  let arguments = (ins Tess_NumberOrComplex:$x, Tess_Any:$like);
  let results = (outs Tess_NumberOrComplex:$out);
  let shapes = "(*D), (*L) -> (*L)";
  // A size of like that is no number is taken for that of x: which axes are summed is part of the graph.
  defvar agrees = "all(isNumber(#like[i]) || #like[i] == #x[i + len(#x) - len(#like)] for i < len(#like))";
  let requires = [Require<"like must broadcast to x", "fits(#like, #x) && " # agrees, "x {x} and like {like}">];
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  let forward = [(piece<"summed"> $x, $like)];
  let gradient = [(op<"broadcast_like"> $dout, $x), (none)];
  let samples = [Sample<["2,3", "3"]>, Sample<["2,3", "2,1"]>, Sample<["2,3,4", "3,1"]>, Sample<["4", ""]>,
                 Sample<["2,3", "2,3"]>, Sample<["0,3", "3"]>];
  let oracle = Oracle<"tess_oracle.sum_to(x, like.shape)">;
  let python = Py<"functional.math", "sum_to">;
}

#endif // TESS_OPS_REDUCTION
