//===- View.td - other shapes of the same elements -----------*- tablegen -*-===//
//
// No kernel: the result shares the storage. A layout that cannot be viewed in
// the new shape is copied first.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_VIEW
#define TESS_OPS_VIEW

include "ops/records/Base.td"

class ViewOp<string m, string what, string kind, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Moved:$out);
  let dtypes = Same<"x">;
  let lowering = View<kind>;
  let oracle = Oracle<expr>;
  let python = Py<"functional.tensor", m, [], "", ["x=inp"]>;
}
// Of a list of sizes that may have a -1, as terms: whether entry i is one, how many there are, the form without one.
defvar isOpen = "isNumber($shape[i]) && $shape[i] == -1";
defvar shapeKnown = Normal<"shape", "all(hasSize(#out[i]) for i < len(#out)) ? #out : $shape", "-1 in $shape">;
def OpenShape {
  defvar open = !strconcat("count(", isOpen, " for i < len($shape))");
  defvar rest = "product([$shape[i] for i < len($shape) if !isNumber($shape[i]) || $shape[i] != -1])";
  string isOne = !strconcat(open, " <= 1 && all($shape[i] >= -1 for i < len($shape))");
  string fits = !strconcat(open, " == 0 ? product(#x) == ", rest, " : !isNumber(product(#x)) || !isNumber(", rest, ") || (", rest,
                           " != 0 && divides(", rest, ", product(#x)))");
  string sizes = !strconcat("[(", isOpen, " ? product(#x) // ", rest, " : $shape[i]) for i < len($shape)]");
}
def Tess_ReshapeOp : ViewOp<"reshape", "the same elements in another shape", "Reshape", "x.reshape(shape)"> {
  let description = [{The elements keep their row-major order. One entry may be -1: it follows from the others.}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$shape);
  let gradient = [(op<"reshape_like"> $dout, $x)];
  let normalised = [shapeKnown];
  let attrFacts = [Doc<"shape", "new shape">, SizeAttr<"shape">];
  let requires = [Require<"shape must have at most one -1 and otherwise entries >= 0", OpenShape.isOne, "{$shape}">,
                  Require<"number of elements must stay the same", OpenShape.fits, "x {x} and shape {$shape}">];
  let sizes = [OpenShape.sizes];
  let samples = [Sample<["2,3"], "shape=[6]">, Sample<["2,3"], "shape=[3, -1]">, Sample<[""], "shape=[1, 1]">,
                 Sample<["1"], "shape=[]">, Sample<["2,3,4"], "shape=[4, 1, 6]">, Sample<["0,3"], "shape=[3, 0]">];
  let python = Py<"functional.tensor", "reshape", ["reshape", "view"], "", ["x=inp", "shape=target_shape"]>;
  let onnx = "Reshape(...)";
}
def Tess_TransposeOp : ViewOp<"transpose", "axes in another order", "Permute", "np.transpose(x, pattern or None)"> {
  let description = [{Axis i of the result is axis pattern[i] of x; an empty pattern reverses the axes. As
    NumPy's transpose. In Python, "x" in the pattern is a new axis of size 1.}];
  let arguments = (ins Tess_Moved:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pattern);
  let gradient = [(op<"transpose", "pattern=inverse(axis($pattern, len(#x)))"> $dout)];
  defvar reversed = "len($pattern) == 0 ? [len(#x) - 1 - i for i < len(#x)]";
  let requires = [Require<"pattern must name every axis of x", "len($pattern) == 0 || len($pattern) == len(#x)", "{$pattern} and x {x}">];
  let order = reversed # " : axis($pattern, len(#x))";
  // An axis that does not exist stays as it is, and inference refuses it.
  let normalised = [Normal<"pattern", reversed # " : [($pattern[i] < -len(#x) ? $pattern[i] : axis($pattern[i], len(#x)))"
                                      # " for i < len($pattern)]">];
  let attrFacts = [Axis<"pattern", "x">, Doc<"pattern", "axis of x for each axis of the result">];
  let samples = [Sample<["2,3"], "pattern=[1, 0]">, Sample<["2,3,4"], "pattern=[2, 0, 1]">, Sample<["2,3,4"]>,
                 Sample<[""]>, Sample<["2,3"], "pattern=[0, 1]">, Sample<["2,0,3,1,2"], "pattern=[4, 3, 2, 1, 0]">];
  let python = Py<"functional.tensor", "transpose", ["transpose"], "", ["x=inp"]>;
  let onnx = "Transpose(perm=pattern)";
}
def Tess_ExpandDimsOp : ViewOp<"expand_dims", "new axes of size 1", "UnitAxes", "np.expand_dims(x, tuple(axis))"> {
  let description = [{Axes count in the result: [N] with axis [0, -1] is [1, N, 1].}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$axis);
  let gradient = [(op<"squeeze", "axis=$axis"> $dout)];
  defvar rank = "(len(#x) + len($axis))";
  defvar axes = "axis($axis, " # rank # ")";
  let sizes = ["[(i in " # axes # " ? 1 : #x[i - count(" # axes # "[j] < i for j < len($axis))]) for i < " # rank # "]"];
  let attrFacts = [Axis<"axis", "x", 1>, Doc<"axis", "places of the new axes">];
  let samples = [Sample<["2,3"], "axis=[0]">, Sample<["2,3"], "axis=[-1]">, Sample<["2,3"], "axis=[0, 2]">,
                 Sample<[""], "axis=[0]">, Sample<["0,3"], "axis=[1]">];
  let python = Py<"functional.tensor", "expand_dims", ["expand_dims"], "", ["x=inp"]>;
  let onnx = "Unsqueeze(...)";
}
def Tess_SqueezeOp : ViewOp<"squeeze", "axes of size 1 removed", "UnitAxes",
                            "np.squeeze(x, tuple(axis) if axis else None)"> {
  let description = [{The elements keep their order; an empty list removes every axis of size 1.}];
  let arguments = (ins Tess_Moved:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axis);
  let gradient = [(op<"reshape_like"> $dout, $x)];
  let attrFacts = [Axis<"axis", "x">, Doc<"axis", "axes to remove; empty: all of size 1">];
  defvar isNamed = "i in axis($axis, len(#x))";
  let requires = [Require<"dimensions must be known when axis is empty", "len($axis) != 0 || all(hasSize(#x[i]) for i < len(#x))", "x {x}">,
                  Require<"removed axes must have size 1", "len($axis) == 0 || all(!(" # isNamed # ") || #x[i] == 1 for i < len(#x))", "x {x}">];
  let sizes = ["[#x[i] for i < len(#x) if (len($axis) == 0 ? !isNumber(#x[i]) || #x[i] != 1 : !(" # isNamed # "))]"];
  let samples = [Sample<["2,1,3,1"]>, Sample<["2,1,3"], "axis=[1]">, Sample<["1,2,1"], "axis=[0, -1]">, Sample<["1"]>,
                 Sample<["2,3"]>, Sample<["0,1"], "axis=[1]">];
  let python = Py<"functional.tensor", "squeeze", ["squeeze"], "", ["x=inp"]>;
  let onnx = "Squeeze(...)";
}
def Tess_BroadcastToOp : ViewOp<"broadcast_to", "axes of size 1 repeated to a shape", "Broadcast",
                                "tess_oracle.broadcast_to(x, shape)"> {
  let description = [{`out[...] = x[...]`, with index 0 along repeated axes; missing axes are added in front. An
    entry -1 is the size that x has there.}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$shape);
  let gradient = [(op<"sum_to"> $dout, $x)];
  let normalised = [shapeKnown];
  let attrFacts = [Doc<"shape", "shape of the result; -1: the size of x">, SizeAttr<"shape">];
  defvar added = "(len($shape) - len(#x))"; // axes in front, of which x has no size to keep
  defvar filled = !strconcat("[(", isOpen, " ? #x[i - ", added, "] : $shape[i]) for i < len($shape)]");
  let requires = [Require<"shape must have entries >= -1", "all($shape[i] >= -1 for i < len($shape))", "{$shape}">,
                  Require<"x must broadcast to shape", "0 <= " # added # " && all($shape[i] != -1 for i < " # added # ") && fits(#x, "
                          # filled # ")", "x {x} and shape {$shape}">];
  let sizes = [filled];
  let samples = [Sample<["3"], "shape=[2, 3]">, Sample<["2,1,3"], "shape=[4, -1, 5, -1]">, Sample<["2,1"], "shape=[2, 4]">, Sample<[""], "shape=[2, 2]">,
                 Sample<["1,3"], "shape=[0, 3]">, Sample<["2,3"], "shape=[2, 3]">];
  let python = Py<"functional.tensor", "broadcast_to", ["broadcast_to"], "", ["x=inp"]>;
  let onnx = "Expand(...)";
}
def Tess_SliceOp : ViewOp<"slice", "every step-th element from start to stop, for each axis", "Slice",
    "x[tuple(slice(a, None if s < 0 and b < -n else b, s) for a, b, s, n in zip(starts, stops, steps or [1] * x.ndim, x.shape))]"> {
  let description = [{`out = x[starts[0]:stops[0]:steps[0], ...]`, as a Python slice: negative starts and stops
    count from the end, what lies outside is limited to the axis, but for the starts of the axes in_bounds. Empty
    steps are all 1.}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$stops,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$in_bounds);
  let requires = SliceTerms.requires;
  let sizes = [SliceTerms.sizes];
  let strided = [SliceTerms.starts, SliceTerms.steps];
  let channelAxis = !strconcat(SliceTerms.isWhole, " ? i : -1");
  let gradient = [(op<"slice_set", "starts=$starts;stops=$stops;steps=$steps"> (op<"full_like", "value=0.0"> $x), $dout)];
  let normalised = SliceTerms.normalised;
  let attrFacts = [SizeAttr<"starts">, SizeAttr<"stops">, Doc<"starts", "first index for each axis">, Doc<"stops", "first index not taken, for each axis">,
                   Doc<"steps", "distance of taken indices, for each axis">,
                   Axis<"in_bounds", "x">, Doc<"in_bounds", "axes whose start must be an index of x">];
  let samples = [Sample<["6"], "starts=[1];stops=[4]">, Sample<["6"], "starts=[-1];stops=[-7];steps=[-1]">,
                 Sample<["5,6"], "starts=[0, 1];stops=[5, 6];steps=[2, 3]">, Sample<["5,6"], "starts=[2, 4];stops=[2, 9]">,
                 Sample<["5,6"], "starts=[4, 5];stops=[0, 1];steps=[-2, -3]">, Sample<["0,3"], "starts=[0, 0];stops=[1, 2]">,
                 Sample<["5,6"], "starts=[-5, 2];stops=[-4, 4];in_bounds=[0, -1]">,
                 Sample<["2,3,4,2,3"], "starts=[0, 1, 0, 0, 2];stops=[2, 3, 4, 1, -4];steps=[1, 1, 2, 1, -1]">];
  let onnx = "Slice(...)";
  let version = 2;
}
def Tess_FlattenOp : ViewOp<"flatten", "a run of axes made one", "Reshape",
    "x.reshape(x.shape[:start_axis % max(x.ndim, 1)] + (-1,) + x.shape[end_axis % max(x.ndim, 1) + 1:]) if x.size else tess_oracle.flatten(x, start_axis, end_axis)"> {
  let description = [{The axes start_axis to end_axis become one, whose size is their product; the elements keep
    their order. Rank 0 becomes rank 1.}];
  let arguments = (ins Tess_Moved:$x, DefaultValuedAttr<SI64Attr, "0">:$start_axis,
                   DefaultValuedAttr<SI64Attr, "-1">:$end_axis);
  let gradient = [(op<"reshape_like"> $dout, $x)];
  let attrFacts = [Doc<"start_axis", "first axis of the run">, Doc<"end_axis", "last axis of the run">];
  // Rank 0 counts as one axis.
  defvar rank = "max(len(#x), 1)";
  defvar first = "axis($start_axis, " # rank # ")";
  defvar last = "axis($end_axis, " # rank # ")";
  defvar values = "x {x}, start_axis {$start_axis} and end_axis {$end_axis}";
  let requires = [Require<"start_axis and end_axis must be axes of x",
                          "0 <= " # first # " && " # first # " < " # rank # " && 0 <= " # last # " && " # last # " < " # rank, values>,
                  Require<"start_axis must not be above end_axis", first # " <= " # last, values>];
  let sizes = ["len(#x) == 0 ? [1] : merged(#x, " # first # ", " # last # ")"];
  let samples = [Sample<["2,3,4"]>, Sample<["2,3,4"], "start_axis=1">, Sample<["2,3,4,2"], "start_axis=1;end_axis=-2">,
                 Sample<["7"]>, Sample<[""]>, Sample<["2,0,3"], "start_axis=1">];
  let python = Py<"functional.tensor", "flatten", ["flatten"], "", ["x=inp"]>;
  let onnx = "Flatten(...)";
  let version = 2;
  let upgrades = ["1: rename start start_axis", "1: rename end end_axis", "1: default end_axis -1"];
}
def Tess_SwapAxesOp : ViewOp<"swapaxes", "two axes exchanged", "Permute", "np.swapaxes(x, axis1, axis2)"> {
  let description = [{The sizes of axis1 and axis2 are exchanged, and so are the indices along them; other axes
    stay. As NumPy's swapaxes.}];
  let arguments = (ins Tess_Moved:$x, DefaultValuedAttr<SI64Attr, "-1">:$axis1, DefaultValuedAttr<SI64Attr, "-2">:$axis2);
  let gradient = [(op<"swapaxes", "axis1=$axis1;axis2=$axis2"> $dout)];
  let opdef = "SwapAxes";
  defvar first = "axis($axis1, len(#x))";
  defvar second = "axis($axis2, len(#x))";
  let order = "[(i == " # first # " ? " # second # " : i == " # second # " ? " # first # " : i) for i < len(#x)]";
  let attrFacts = [Axis<"axis1", "x">, Axis<"axis2", "x">, Doc<"axis1", "one axis">, Doc<"axis2", "the other">];
  let samples = [Sample<["2,3"]>, Sample<["2,3,4"], "axis1=0;axis2=2">, Sample<["7"], "axis1=0;axis2=0">,
                 Sample<["0,3"], "axis1=0;axis2=1">];
  let python = Py<"functional.tensor", "swapaxes", ["swapaxes"], "", ["x=inp"]>;
}
def Tess_MatchSizeOp : ViewOp<"match_size", "x, whose axis must have a size", "Reshape", "x"> {
  let shapes = "(*D) -> (*D)";
  defvar axis = "axis($axis, len(#x))";
  let requires = [Require<"sizes must match", "#x[" # axis # "] == $size", "axis {" # axis # "} of {x} and {$size}", "", "$user">];
  let description = [{x as it is. A program whose sizes are free refuses a run in which they differ: composites compute
    with operators that would repeat an axis of size 1.}];
  let arguments = (ins Tess_Moved:$x, SI64Attr:$size, DefaultValuedAttr<SI64Attr, "0">:$axis,
                   DefaultValuedStrAttr<StrAttr, "match_size">:$user);
  let gradient = [(same $dout)];
  let attrFacts = [SizeAttr<"size">, Range<"size", "0", "9007199254740992.0">, Axis<"axis", "x">,
                   Doc<"size", "what the axis must have">, Doc<"axis", "axis of x">,
                   Doc<"user", "operator that the refusal names">];
  let samples = [Sample<["2,3"], "size=2">, Sample<["2,3"], "size=3;axis=-1">, Sample<["0,3"], "size=0;user=\"add\"">];
  let onnx = "Identity";
}

//===----------------------------------------------------------------------===//
// The same, with the shape of a tensor
//===----------------------------------------------------------------------===//
class LikeOp<string m, string what, string kind, string must, string condition, string expr> : ViewOp<m, what, kind, expr> {
  let shapes = "(*D), (*L) -> (*L)";
  let requires = [Require<must, condition, "x {x} and like {like}">];
  let arguments = (ins Tess_Moved:$x, Tess_Moved:$like);
}
def Tess_ReshapeLikeOp : LikeOp<"reshape_like", "the elements of x in the shape of another tensor", "Reshape",
    "number of elements must be the same", "product(#x) == product(#like)", "x.reshape(like.shape)"> {
  let description = [{The elements keep their row-major order. Of like only the shape counts.}];
  let gradient = [(op<"reshape_like"> $dout, $x), (none)];
  let samples = [Sample<["2,3", "6"]>, Sample<["2,3", "3,2"]>, Sample<["", "1,1"]>, Sample<["0,2", "3,0"]>];
}
def Tess_BroadcastLikeOp : LikeOp<"broadcast_like", "x repeated to the shape of another tensor", "Broadcast",
    "x must broadcast to like", "fits(#x, #like)", "np.broadcast_to(x, like.shape)"> {
  let description = [{`out[...] = x[...]`, with index 0 along repeated axes; missing axes are added in front. Of
    like only the shape counts.}];
  let gradient = [(op<"sum_to"> $dout, $x), (none)];
  let samples = [Sample<["3", "2,3"]>, Sample<["2,1", "2,4"]>, Sample<["", "2,2"]>, Sample<["1,3", "0,3"]>];
}

#endif // TESS_OPS_VIEW
