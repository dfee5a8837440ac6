//===- Softmax.td - normalised exponentials, class indices ---*- tablegen -*-===//
#ifndef TESS_OPS_SOFTMAX
#define TESS_OPS_SOFTMAX

include "ops/records/Base.td"
include "ops/records/Index.td"

// x less its largest element along the axis, so that no exponential overflows. The result of an empty axis is empty.
defvar shifted = (op<"sub"> $x, (op<"max", "axes=$axis;keepdims=true;allow_empty=true"> $x));

class SoftmaxOp<string m, string what, string expr, dag out> : Tess_Op<m> {
  let summary = what;
  let keepsAxes = 1;
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Composite<>;
  let forward = [out];
  let attrFacts = [Axis<"axis", "x">, Static<"axis", loopAxes>, Doc<"axis", "axis to normalise over">];
  let samples = [Sample<["7"]>, Sample<["2,5"]>, Sample<["2,3,4"], "axis=1">, Sample<["2,3,4"], "axis=0">,
                 Sample<["0,4"]>, Sample<["2,0"]>, Sample<["2,1,3,2,4"], "axis=-2">];
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m, [m]>;
}
def Tess_SoftmaxOp : SoftmaxOp<"softmax", "normalised exponentials along one axis",
    "sp.special.softmax(x, axis) if x.size else x",
    (op<"div"> (op<"exp"> shifted), (op<"sum", "axes=$axis;keepdims=true"> (op<"exp"> shifted)))> {
  let autocast = "high";
  let description = [{`out = exp(x - top) / sum(exp(x - top))` along axis, top being the largest element, so
    that nothing overflows. Elements that are all -inf, or one that is inf or NaN, make NaN of all; an empty
    axis gives an empty result.}];
  let gradient = [Arriving<(op<"mul"> $out, (op<"sub"> $dout,
      (op<"sum", "axes=$axis;keepdims=true"> (op<"mul"> $dout, $out))))>.all];
  let onnx = "Softmax(axis=axis)";
}
def Tess_LogSoftmaxOp : SoftmaxOp<"log_softmax", "logarithm of the softmax along one axis",
    "sp.special.log_softmax(x, axis) if x.size else x",
    (op<"sub"> shifted, (op<"log"> (op<"sum", "axes=$axis;keepdims=true"> (op<"exp"> shifted))))> {
  let autocast = "high";
  let description = [{`out = x - top - log(sum(exp(x - top)))` along axis, top being the largest element, so
    that nothing overflows. Elements that are all -inf, or one that is inf or NaN, make NaN of all; an empty
    axis gives an empty result.}];
  let python = Py<"functional.nn", "logsoftmax", ["logsoftmax"], "", ["x=inp"]>;
  let gradient = [Arriving<(op<"sub"> $dout,
      (op<"mul"> (op<"exp"> $out), (op<"sum", "axes=$axis;keepdims=true"> $dout)))>.all];
  let onnx = "LogSoftmax(axis=axis)";
}
def Tess_LogSumExpOp : Tess_Op<"logsumexp"> {
  let autocast = "high";
  let summary = "logarithm of the sum of exponentials over axes";
  let description = [{`out = log(sum(exp(x)))` along axes, computed with the largest element taken out, so that
    nothing overflows; -inf where all elements are -inf, whose gradients are 0, inf where one is inf, and its
    gradient NaN.}];
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D / axes)";
  let requires = [Require<"reduced dimensions must not be empty", "hasElements(#x, $axes)", "x {x}">];
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Composite<>;
  defvar keeps = "$keepdims || len(#x) == 0";
  defvar reducedAxes = "axis=axes($axes, len(#x))";
  defvar top = (op<"max", "axes=$axes;keepdims=true"> $x);
  // The shift is 0 where all elements are -inf or one is inf, because inf - inf is NaN.
  defvar shift = (op<"where"> (op<"isfinite"> top), top, K<"0", "x">);
  defvar total = (op<"sum", "axes=$axes;keepdims=true"> (op<"exp"> (op<"sub"> $x, shift)));
  defvar whole = (op<"add"> (op<"log"> total), shift);
  let forward = [(when<keeps> whole, (op<"squeeze", reducedAxes> whole))];
  // exp(x - out): no gradient flows through the shift.
  defvar wholeOut = (when<keeps> $out, (op<"expand_dims", reducedAxes> $out));
  defvar wholeGrad = (when<keeps> $dout, (op<"expand_dims", reducedAxes> $dout));
  // 0 where all elements are -inf, whose exponentials are 0 then.
  defvar finiteOut = (op<"where"> (op<"equal"> wholeOut, (op<"full", "shape=[];value=-inf;dtype=@out">)), K<"0", "out">, wholeOut);
  let gradient = [(op<"mul"> wholeGrad, (op<"exp"> (op<"sub"> $x, finiteOut)))];
  let attrFacts = [AxisSet<"axes", "x">, Static<"axes", loopAxes>, Doc<"axes", "axes to reduce; empty: all">,
                   Doc<"keepdims", "keep reduced axes with size 1">];
  let samples = [Sample<["2,3"]>, Sample<["2,5"], "axes=[1]">, Sample<["2,3,4"], "axes=[0, 2];keepdims=true">,
                 Sample<["0,3"], "axes=[1]">];
  let oracle = Oracle<"sp.special.logsumexp(x, axis=tuple(axes) or None, keepdims=keepdims)">;
  let python = Py<"functional.nn", "logsumexp", ["logsumexp"], "", ["x=inp", "axes=axis"]>;
  let onnx = "ReduceLogSumExp(...)";
}

//===----------------------------------------------------------------------===//
// Class indices
//===----------------------------------------------------------------------===//
def Tess_OneHotLikeOp : Tess_Op<"one_hot_like"> {
  let summary = "whether the position along the last axis is the index";
  let description = [{`out[..., c] = (index[..., 0] == c)` for each place c of the last axis of like, whose
    elements do not count. An index outside of [0, C), a negative one too, is nowhere true.}];
  let arguments = (ins Tess_Index:$index, Tess_Any:$like);
  let results = (outs Tess_Bool:$out);
  let shapes = "(*I, 1), (*I, C) -> (*I, C)";
  let dtypes = Fixed<"bool">;
  let lowering = Elementwise_;
  let scalar = [(s_eq (s_dimindex 0), $index)];
  let samples = [Sample<["2,1", "2,5"], "", "0", "5">, Sample<["2,3,1", "2,3,4"], "", "0", "4">];
  let oracle = Oracle<"np.arange(like.shape[-1]) == index">;
  let python = Py<"functional.nn", "one_hot_like">;
}
def Tess_OneHotOp : Tess_Op<"one_hot"> {
  let summary = "1 at the index, 0 elsewhere, along a new last axis";
  let description = [{`out[..., c] = 1` where c = x[...], 0 elsewhere. An index outside of [0, num_classes), a
    negative one too, is an error when the kernel runs.}];
  let arguments = (ins Tess_Index:$x, SI64Attr:$num_classes);
  let results = (outs Tess_Index:$out);
  let shapes = "(*D) -> (*D, @num_classes)";
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar classes = (op<"arange", "num=$num_classes;dtype=@x">);
  defvar fromZero = FromZero<(same $x), "x", (op<"scalar_tensor", "value=$num_classes;dtype=@x">)>.all;
  defvar known = (op<"take_along_axes", "axes=[0];caller=\"one_hot: x\""> classes, (op<"reshape", "shape=[-1]"> fromZero));
  defvar index = (op<"expand_dims", "axis=[-1]"> (op<"reshape_like"> known, $x));
  let forward = [(op<"cast", "dtype=@x"> (op<"equal"> index, classes))];
  let noGradient = 1;
  let attrFacts = [Doc<"num_classes", "size of the new axis">, BindTime<"num_classes">, SizeAttr<"num_classes">, Range<"num_classes", "0", "1e9">];
  let samples = [Sample<["4"], "num_classes=5", "0", "5">, Sample<["2,3"], "num_classes=3", "0", "3">,
                 Sample<[""], "num_classes=2", "0", "2">, Sample<["0"], "num_classes=2", "0", "2">,
                 Sample<["0"], "num_classes=0", "0", "2">];
  let oracle = Oracle<"(np.arange(num_classes) == x[..., None]).astype(x.dtype)">;
  let python = Py<"functional.nn", "one_hot", [], "", ["x=inp"]>;
  let onnx = "OneHot(...)";
}

#endif // TESS_OPS_SOFTMAX
