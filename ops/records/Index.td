//===- Index.td - elements by their index --------------------*- tablegen -*-===//
//
// Negative indices count from the end. An index out of range is an error of the
// kernel, found when it runs.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_INDEX
#define TESS_OPS_INDEX

include "ops/records/Base.td"

defvar negativeIndices = " A negative index counts from the end; one out of range is an error when the kernel runs.";

class IndexOp<string m, string what, string expr, string py = "functional.tensor"> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Moved:$out);
  let lowering = Sequential<m>;
  let oracle = Oracle<expr>;
  let python = Py<py, m>;
}
// Numbers that count from 0, such as those of classes, for an operator that counts negative ones from the end of an axis
// of `size`: those below 0 go below all that it takes. A caller "op: operand" has errors that name the number itself
// (runtime/device/IndexError.h).
class FromZero<dag number, string like, dag size> {
  dag all = (op<"where"> (op<"less"> number, K<"0", like>), (op<"sub"> number, size), number);
}
defvar allIndices = (each<"k < len(#indices)"> (at<"k"> $indices));
class TakenAlong<dag from> { dag all = (op<"take_along_axes", "axes=$axes;caller=$caller"> from, allIndices); }
class WrittenAlong<string m, dag to, dag value> { dag all = (op<m, "axes=$axes;caller=$caller"> to, value, allIndices); }
class Zeros<dag like> { dag all = (op<"full_like", "value=0.0"> like); }

class AlongAxes<string m, string what, string expr> : IndexOp<m, what, expr> {
  let channelAxis = "i in axis($axes, len(#x)) ? -1 : i";
  let attrFacts = [Axis<"axes", "x">, Static<"axes", "it decides which strides of x the code follows">,
                   Doc<"axes", "axis of x for each index">, Doc<"caller", "operator that errors name">];
  defvar kept = "[(i in axis($axes, len(#x)) ? 1 : #x[i]) for i < len(#x)]";
  string elements = "broadcast(" # kept # ", broadcastAll(#indices))";
  Require oneForEach = Require<"there must be an index for each axis of axes", "0 < len($axes) && len($axes) == len(#indices)",
                               "{len(#indices)} and axes {$axes}">;
  Require haveAxes = Require<"indices must have at most the axes of x", "all(len(#indices[k]) <= len(#x) for k < len(#indices))",
                             "x {x} and {indices}">;
  // What takes all elements that are named, and whose shape it is.
  string fit = "fits(" # kept # ", WHOLE) && all(fits(#indices[k], WHOLE) for k < len(#indices))";
}
def Tess_TakeAlongAxesOp : AlongAxes<"take_along_axes", "elements at the indices that others hold",
                                     "tess_oracle.take_along_axes(x, indices, axes)"> {
  let description = !strconcat([{`out[i] = x[j]`, where j is i but for `j[axes[k]] = indices[k][i]`. All have the axes of the
    result: x has its sizes, or 1, besides axes, and the indices broadcast. Where several places take one element, their
    gradients add up. `caller` is the operator that errors name.}], negativeIndices);
  let arguments = (ins Tess_Moved:$x, Variadic<Tess_Index>:$indices, DenseI64ArrayAttr:$axes,
                   DefaultValuedStrAttr<StrAttr, "take_along_axes">:$caller);
  let lowering = Lookup_;
  let requires = [oneForEach, haveAxes, Require<"dimensions besides axes must match", !subst("WHOLE", elements, fit), "x {x} and {indices}">];
  let sizes = [elements];
  let dtypes = Same<"x">;
  // In float32 as pieces::callWrite() does it.
  defvar sum = WrittenAlong<"add_along_axes", Zeros<(same $x)>.all, (same $dout)>.all;
  defvar wideZeros = (op<"cast", "dtype=f32"> Zeros<(same $x)>.all);
  defvar wideSum = WrittenAlong<"add_along_axes", wideZeros, (op<"cast", "dtype=f32"> $dout)>.all;
  let gradient = [(when<"@x == f16 || @x == bf16"> (op<"cast", "dtype=@x"> wideSum), sum), (none)];
  let samples = [Sample<["5,3", "2,3"], "axes=[0]", "-2; 0", "2; 5">, Sample<["5,3", "2,1"], "axes=[0]", "-2; -5", "2; 5">,
                 Sample<["5,3,4", "2,1,1", "1,1,2"], "axes=[0, 2]", "-2; 0; 0", "2; 5; 4">,
                 Sample<["5,2,4", "5,3,1"], "axes=[1];caller=\"gather\"", "-2; 0", "2; 2">,
                 Sample<["5,3", "0,1"], "axes=[0]", "-2; 0", "2; 5">];
  let onnx = "GatherND(...)";
}
class WriteAlongAxes<string m, string fn, string what, string text, string collision, string expr> : AlongAxes<m, what, expr> {
  let description = !strconcat("`out = x` but for ", text, [{, where j is i but for `j[axes[k]] = indices[k][i]`, and 0 where x
    has size 1 besides axes. value has all axes, the indices broadcast to it. }], collision,
    " `caller` is the operator that errors name.", negativeIndices);
  let arguments = (ins Tess_Number:$x, Tess_Number:$value, Variadic<Tess_Index>:$indices, DenseI64ArrayAttr:$axes,
                   DefaultValuedStrAttr<StrAttr, m>:$caller);
  let results = (outs Tess_Number:$out);
  let lowering = Scatter<fn>;
  let shapes = "(*D), (*V), (*I)* -> (*D)";
  let requires = [oneForEach, haveAxes,
                  Require<"dimensions besides axes must match", "len(#value) == len(#x) && " # !subst("WHOLE", "#value", fit),
                          "x {x}, value {value} and {indices}">];
  let dtypes = Promote<["x", "value"]>;
  let samples = [Sample<["5,3", "2,3", "2,3"], "axes=[0]", "-2; -2; 0", "2; 2; 5">,
                 Sample<["5,3", "7,3", "7,1"], "axes=[0]", "-2; -2; -5", "2; 2; 5">,
                 Sample<["5,3,4", "2,3,2", "2,1,1", "1,1,2"], "axes=[0, 2]", "-2; -2; 0; 0", "2; 2; 5; 4">,
                 Sample<["5,2,4", "5,3,4", "5,3,1"], "axes=[1];caller=\"gather\"", "-2; -2; 0", "2; 2; 2">,
                 Sample<["7", "5", "5"], "axes=[0]", "-2; -2; 0", "2; 2; 7">, Sample<["5,1", "4,3", "4,1"], "axes=[0]", "-2; -2; 0", "2; 2; 5">,
                 Sample<["5,3", "0,3", "0,1"], "axes=[0]", "-2; -2; 0", "2; 2; 5">];
  let onnx = "ScatterND(...)";
}
def Tess_SetAlongAxesOp : WriteAlongAxes<"set_along_axes", "", "the tensor with elements replaced at indices", "`out[j] = value[i]`",
    "Of several values for one element the last in the order of value wins, and has its gradient.",
    "tess_oracle.set_along_axes(x, value, indices, axes)"> {
  let arguments = (ins Tess_Moved:$x, Tess_Moved:$value, Variadic<Tess_Index>:$indices, DenseI64ArrayAttr:$axes,
                   DefaultValuedStrAttr<StrAttr, "set_along_axes">:$caller);
  let results = (outs Tess_Moved:$out);
  // Of several values for one element the last has the gradient, which a number for each of them tells.
  defvar grad = (op<"broadcast_like"> TakenAlong<(same $dout)>.all, $value);
  defvar count = (op<"cumsum", "axis=0"> (op<"flatten"> (op<"cast", "dtype=i32"> (op<"real"> (op<"full_like", "value=1.0"> grad)))));
  defvar number = (op<"reshape_like"> count, grad);
  defvar numbers = WrittenAlong<"set_along_axes", (op<"cast", "dtype=i32"> (op<"real"> Zeros<(same $x)>.all)), number>.all;
  defvar ofLast = (op<"where"> (op<"equal"> TakenAlong<numbers>.all, number), grad, Zeros<grad>.all);
  let gradient = [WrittenAlong<"set_along_axes", (same $dout), Zeros<(same $value)>.all>.all,
                  (when<"isNumber(product(#value)) && product(#value) < 2"> grad, ofLast), (none)];
}
def Tess_AddAlongAxesOp : WriteAlongAxes<"add_along_axes", "Add", "the tensor with values added at indices", "`out[j] += value[i]`",
    "Every value counts, in the order of value.", "tess_oracle.add_along_axes(x, value, indices, axes)"> {
  let arguments = (ins Tess_NumberOrComplex:$x, Tess_NumberOrComplex:$value, Variadic<Tess_Index>:$indices,
                   DenseI64ArrayAttr:$axes, DefaultValuedStrAttr<StrAttr, "add_along_axes">:$caller);
  let results = (outs Tess_NumberOrComplex:$out);
  let gradient = [(same $dout), (op<"broadcast_like"> TakenAlong<(same $dout)>.all, $value), (none)];
}
defvar extremeGradient = "NaN wins. The elements that equal the result share its gradient.";
class ExtremeAlongAxes<string m, string fn, string what, string text, string expr>
    : WriteAlongAxes<m, fn, what, text, extremeGradient, expr> {
  defvar xIsBest = (op<"equal"> $x, $out);
  defvar valueIsBest = (op<"equal"> $value, TakenAlong<(same $out)>.all);
  defvar count = WrittenAlong<"add_along_axes", (op<"cast", "dtype=@out"> xIsBest), (op<"cast", "dtype=@out"> valueIsBest)>.all;
  defvar share = (op<"div"> $dout, count);
  defvar taken = TakenAlong<share>.all;
  let gradient = [(op<"where"> xIsBest, share, Zeros<share>.all), (op<"where"> valueIsBest, taken, Zeros<taken>.all), (none)];
}
def Tess_MaxAlongAxesOp : ExtremeAlongAxes<"max_along_axes", "Max", "the tensor, or values at indices where these are larger",
    "`out[j] = max(out[j], value[i])`", "tess_oracle.max_along_axes(x, value, indices, axes)">;
def Tess_MinAlongAxesOp : ExtremeAlongAxes<"min_along_axes", "Min", "the tensor, or values at indices where these are smaller",
    "`out[j] = min(out[j], value[i])`", "tess_oracle.min_along_axes(x, value, indices, axes)">;
def Tess_GatherOp : IndexOp<"gather", "elements along an axis, by an index for each of them",
                            "np.take_along_axis(x, index, axis)"> {
  let description = !strconcat([{`out[i, j] = x[index[i, j], j]` for axis 0 of two, and likewise for others, as by
    NumPy's take_along_axis. Where several places take one element, their gradients add up.}], negativeIndices);
  let arguments = (ins Tess_Moved:$x, Tess_Index:$index, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let compute = "out[*a, i, *b] = x[*a, index[*a, i, *b]:axis, *b]";
  let dtypes = Same<"x">;
  let lowering = Compute_;
  let oldKernel = "gather";
  let channelAxis = besidesAxis;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", "it decides which strides of x the code follows">,
                   Doc<"axis", "axis the indices count along">];
  let samples = [Sample<["5", "3"], "", "-2; 0", "2; 5">, Sample<["4,3", "2,3"], "", "-2; 0", "2; 4">,
                 Sample<["4,3", "4,5"], "axis=1", "-2; -3", "2; 3">, Sample<["4,3", "0,3"], "", "-2; 0", "2; 4">];
  let python = Py<"functional.tensor", "gather", ["gather"]>;
  let onnx = "GatherElements(axis=axis)";
}
class ScatterOp<string m, string sign, string what, string text, string collision> : IndexOp<m, what, "tess_oracle." # m # "(x, index, source, axis)"> {
  let description = !strconcat("`out = x` but for ", text, [{, for axis 0 of two, and likewise for others. }], collision, negativeIndices);
  let arguments = (ins Tess_Number:$x, Tess_Index:$index, Tess_Number:$source, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tess_Number:$out);
  let compute = "out[*a, n, *b] = x[*a, n:axis, *b]; out[*a, index[*a, i, *b], *b] " # sign # " source[*a, i, *b]";
  let dtypes = Promote<["x", "source"]>;
  let lowering = Compute_;
  let channelAxis = besidesAxis;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", "it decides which strides of x the code follows">,
                   Doc<"axis", "axis the indices count along">];
  let samples = [Sample<["5", "1", "1"], "", "-2; 0; -2", "2; 5; 2">, Sample<["4,3", "1,3", "1,3"], "", "-2; 0; -2", "2; 4; 2">,
                 Sample<["4,3", "4,1", "4,1"], "axis=1", "-2; 0; -2", "2; 3; 2">,
                 Sample<["4,3", "5,3", "5,3"], "", "-2; -4; -2", "2; 4; 2">];
  let python = Py<"functional.tensor", m, [m]>;
  let onnx = "ScatterElements(...)";
}
def Tess_ScatterOp : ScatterOp<"scatter", "=", "the tensor with elements along an axis replaced", "`out[index[i, j], j] = source[i, j]`",
    "Of several sources for one element the last wins, and has its gradient; NumPy's put_along_axis promises none."> {
  let arguments = (ins Tess_Moved:$x, Tess_Index:$index, Tess_Moved:$source, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tess_Moved:$out);
  let oldKernel = "scatter";
  let onnx = "ScatterElements(axis=axis)";
}
def Tess_ScatterAddOp : ScatterOp<"scatter_add", "+=", "the tensor with values added along an axis", "`out[index[i, j], j] += source[i, j]`",
    "Every source counts, in the order of source."> {
  let arguments = (ins Tess_NumberOrComplex:$x, Tess_Index:$index, Tess_NumberOrComplex:$source, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tess_NumberOrComplex:$out);
}
def Tess_ScatterMaxOp : ScatterOp<"scatter_max", "max=", "the tensor, or sources along an axis where these are larger",
    "`out[index[i, j], j] = max(out[index[i, j], j], source[i, j])`", extremeGradient>;
def Tess_ScatterMinOp : ScatterOp<"scatter_min", "min=", "the tensor, or sources along an axis where these are smaller",
    "`out[index[i, j], j] = min(out[index[i, j], j], source[i, j])`", extremeGradient>;
class AdvancedIndex<string m, string what, string expr> : IndexOp<m, what, expr> {
  let attrFacts = [Axis<"axes", "x">, Static<"axes", "it decides the order of axes in the code">,
                   Doc<"axes", "axis of x for each index">];
  let oldKernel = m;
}
defvar indexing = ["there must be an index for each axis of axes", "indices must broadcast"];

def Tess_IndexGetOp : AdvancedIndex<"index_get", "elements by arrays of indices along some axes",
                                    "tess_oracle.index_get(x, indices, axes)"> {
  let description = !strconcat([{`out = x[..., indices, ...]`, as in NumPy: the indices broadcast, and their axes
    stand where the indexed axes stood, or first when these were not neighbours.}], negativeIndices);
  let arguments = (ins Tess_Moved:$x, Variadic<Tess_Index>:$indices, DenseI64ArrayAttr:$axes);
  let shapeRule = "indexGet";
  let lowering = Composite<"indexGet">;
  let dtypes = Same<"x">;
  let channels = "indexGet";
  let constraints = indexing;
  let samples = [Sample<["5,3", "4"], "axes=[0]", "-2; 0", "2; 5">, Sample<["5,3", "2,2"], "axes=[1]", "-2; -3", "2; 3">,
                 Sample<["5,3,4", "2", "2"], "axes=[0, 2]", "-2; 0; 0", "2; 5; 4">,
                 Sample<["5,3,4", "2,1", "3"], "axes=[0, 1]", "-2; 0; 0", "2; 5; 3">, Sample<["5,3", "0"], "axes=[0]", "-2; 0", "2; 5">];
}
class IndexWrite<string m, string what, string expr> : AdvancedIndex<m, what, expr> {
  let arguments = (ins Tess_Moved:$x, Tess_Moved:$value, Variadic<Tess_Index>:$indices, DenseI64ArrayAttr:$axes);
  let shapes = "(*D), (*V), (*I)* -> (*D)";
  let check = "indexSet";
  let dtypes = Promote<["x", "value"]>;
  let inplace = ["x=out"];
  let constraints = ["there must be an index for each axis of axes", "value must broadcast to the indexed elements"];
  let samples = [Sample<["5,3", "1,3", "1"], "axes=[0]", "-2; -2; 0", "2; 2; 5">,
                 Sample<["5,3,4", "3", "1", "1"], "axes=[0, 2]", "-2; -2; 0; 0", "2; 2; 5; 4">];
}
def Tess_IndexSetOp : IndexWrite<"index_set", "the tensor with elements replaced, by arrays of indices",
                                 "tess_oracle.index_set(x, value, indices, axes)"> {
  let description = !strconcat([{`out = x` but for `out[..., indices, ...] = value`, value broadcast to what
    index_get gives. Of several values for one element the last wins, and has its gradient.}], negativeIndices);
  let channels = "indexSet";
  let lowering = Composite<"indexSet">;
}
def Tess_IndexAddOp : IndexWrite<"index_add", "the tensor with values added to elements, by arrays of indices",
                                 "tess_oracle.index_add(x, value, indices, axes)"> {
  let description = !strconcat([{`out = x` but for `out[..., indices, ...] += value`, value broadcast to what
    index_get gives. Every value counts, in the order of the indices, as by NumPy's add.at.}], negativeIndices);
  let arguments = (ins Tess_NumberOrComplex:$x, Tess_NumberOrComplex:$value, Variadic<Tess_Index>:$indices,
                   DenseI64ArrayAttr:$axes);
  let results = (outs Tess_NumberOrComplex:$out);
  let lowering = Composite<"indexAdd">;
}
def Tess_MaskGetOp : IndexOp<"mask_get", "elements where the mask is true", "x[mask]"> {
  let description = [{`out = x[mask]`, in row-major order. The mask has the first axes of x; the result has one
    axis in their place, whose size is known when the kernel has run.}];
  let arguments = (ins Tess_Moved:$x, Tess_Bool:$mask);
  let shapeRule = "maskGet";
  let boundRule = "maskGetBound";
  let dtypes = Same<"x">;
  let gradientRule = "maskGet";
  let channels = "maskGet";
  let constraints = ["mask must have the first axes of x, at least one"];
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> mask = ts.tensor([True, False, True])\n",
                           ">>> F.mask_get(ts.tensor([1, 2, 3]), mask).tolist()\n[1, 3]");
  let samples = [Sample<["7", "7"]>, Sample<["2,3", "2,3"]>, Sample<["4,3", "4"]>, Sample<["0", "0"]>];
}
def Tess_NonZeroOp : IndexOp<"non_zero", "positions of the elements that are not zero", "np.argwhere(x).astype(np.int32)"> {
  let description = [{One row for each element that is not zero, NaN among them, in row-major order: its index
    along every axis, as int32. The number of rows is known when the kernel has run.}];
  let arguments = (ins Tess_NumberOrBoolOrComplex:$x);
  let results = (outs Tess_I32:$out);
  let shapeRule = "nonZero";
  let boundRule = "nonZeroBound";
  let constraints = [fitsInt32];
  let dtypes = Fixed<"i32">;
  let samples = [Sample<["7"]>, Sample<["2,3"]>, Sample<["0,3"]>];
  let python = Py<"functional.tensor", "non_zero", ["non_zero"]>;
  let onnx = "NonZero(...)";
}
def Tess_ArgsortOp : IndexOp<"argsort", "elements in order along the last axis, and where they were",
                             "tess_oracle.argsort(x, descending)", "functional.math"> {
  let description = [{`out[..., i] = x[..., indices[..., i]]`, the smallest first, or with descending the
    largest; indices are int32. Equal elements keep their order; NaN is larger than every number.}];
  let arguments = (ins Tess_Number:$x, DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Tess_Number:$out, Tess_I32:$indices);
  let shapes = "(*B, N) -> (*B, N), (*B, N)";
  let requires = [FitsInt32<"#x[-1]", "x">];
  let dtypes = Same<"x">;
  let gradientRule = "sorted";
  let attrFacts = [Doc<"descending", "largest first">, BindTime<"descending">];
  let python = Py<"functional.math", "sort", ["sort"], "", ["x=inp"]>;
  let samples = [Sample<["7"]>, Sample<["2,5"], "descending=true">, Sample<["2,0"]>, Sample<["2,3,4"]>];
}
def Tess_TopkOp : IndexOp<"topk", "the first k elements in order along the last axis, and where they were",
                          "tess_oracle.topk(x, k, descending)", "functional.math"> {
  let description = [{The first k of what argsort gives: the largest ones, or unless descending the smallest
    ones. Equal elements keep their order; NaN is larger than every number.}];
  let arguments = (ins Tess_Number:$x, SI64Attr:$k, DefaultValuedAttr<BoolAttr, "true">:$descending);
  let results = (outs Tess_Number:$out, Tess_I32:$indices);
  let shapes = "(*B, N) -> (*B, @k), (*B, @k)";
  let requires = [Require<"k must not be above the size of the last axis", "$k <= #x[-1]", "{$k} and x {x}">,
                  FitsInt32<"#x[-1]", "x">];
  let dtypes = Same<"x">;
  let gradientRule = "sorted";
  let attrFacts = [Doc<"k", "how many">, Range<"k", "0", "1e9">, BindTime<"k">, SizeAttr<"k">, BindTime<"descending">,
                   Doc<"descending", "largest first">];
  let python = Py<"functional.math", "topk", ["topk"], "", ["x=inp"]>;
  let samples = [Sample<["7"], "k=3">, Sample<["2,5"], "k=5;descending=false">, Sample<["2,5"], "k=0">];
  let onnx = "TopK(...)";
}
def Tess_SearchSortedOp : IndexOp<"searchsorted", "where elements would stand in a sorted axis",
                                  "tess_oracle.searchsorted(sorted, values, side)", "functional.math"> {
  let description = [{`out[..., i]` counts the elements of sorted that are below values[..., i], or, of side "right", not
    above it: there it would stand, before or behind those that equal it. sorted must ascend along the last axis, which
    nobody checks; NaN is larger than every number. Leading axes broadcast; the counts are int32.}];
  let arguments = (ins Tess_Number:$sorted, Tess_Number:$values, DefaultValuedStrAttr<StrAttr, "left">:$side);
  let results = (outs Tess_I32:$out);
  let shapes = "(*B, N), (*B, M) -> (*B, M)";
  let requires = [FitsInt32<"#sorted[-1]", "sorted">];
  let dtypes = Fixed<"i32", ["sorted", "values"]>;
  let attrFacts = [Cases<"side", ["left", "right"]>, BindTime<"side">, Doc<"side", "of equal elements the place before, or behind">];
  let samples = [Sample<["7", "5"]>, Sample<["2,7", "2,3"], "side=\"right\"">, Sample<["3", "4,1,5"], "side=\"right\"", "0", "3">,
                 Sample<["2,0", "2,3"]>, Sample<["4", "0"]>];
  let python = Py<"functional.math", "searchsorted", ["searchsorted"]>;
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//
def Tess_BincountOp : IndexOp<"bincount", "sums of the weights of each number",
                              "tess_oracle.bincount(x, weights, length)", "functional.math"> {
  let description = [{`out[k]` is the sum of the weights that stand where x is k, in their order, for k below length; of
    weights of 1 it is how often k occurs. A number below 0, or not below length, is an error when the kernel runs.}];
  let arguments = (ins Tess_Index:$x, Tess_Number:$weights, SI64Attr:$length);
  let results = (outs Tess_Number:$out);
  let shapes = "(N), (N) -> (@length)";
  let dtypes = Same<"weights">;
  let lowering = Composite<>;
  defvar zeros = (op<"full", "shape=[$length];value=0.0;dtype=@weights">);
  defvar index = FromZero<(same $x), "x", (op<"scalar_tensor", "value=$length;dtype=@x">)>.all;
  let forward = [(op<"add_along_axes", "axes=[0];caller=\"bincount: x\""> zeros, $weights, index)];
  let attrFacts = [Range<"length", "0", "1e9">, BindTime<"length">, SizeAttr<"length">, Doc<"length", "how many numbers there are">];
  let samples = [Sample<["7", "7"], "length=4", "0; -2", "4; 2">, Sample<["0", "0"], "length=0">, Sample<["0", "0"], "length=3">];
}
def Tess_EmbeddingOp : IndexOp<"embedding", "rows of a table", "weight[ids]", "functional.nn"> {
  let description = !strconcat([{`out[..., :] = weight[ids[...], :]`. A row that is taken several times gets the sum
    of the gradients.}], negativeIndices);
  let arguments = (ins Tess_Float:$weight, Tess_Index:$ids);
  let results = (outs Tess_Float:$out);
  let compute = "out[*i, e] = weight[ids[*i], e]";
  let dtypes = Same<"weight">;
  let lowering = Compute_;
  let samples = [Sample<["7,3", "4"], "", "-2; 0", "2; 7">, Sample<["7,3", "2,2"], "", "-2; 0", "2; 7">,
                 Sample<["7,3", ""], "", "-2; 0", "2; 7">, Sample<["7,3", "0"], "", "-2; 0", "2; 7">];
  let onnx = "Gather(...)";
}
def Tess_PickOp : IndexOp<"pick", "the element of the given index along the last axis",
                          "tess_oracle.indexing_one_hot(x, index, -1, False)"> {
  let description = !strconcat([{`out[...] = x[..., index[...]]`; MXNet's pick. `caller` is the operator that errors name. The
    gradient is a choice among all elements, which becomes part of another operator's kernel.}], negativeIndices);
  let arguments = (ins Tess_Moved:$x, Tess_Index:$index, DefaultValuedStrAttr<StrAttr, "pick">:$caller);
  let shapes = "(*D, N), (*I) -> (*D)";
  let requires = [Require<"index must have the shape of x without its last axis", "without(#x, -1) == #index", "x {x} and index {index}">];
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar last = "len(#x) - 1";
  let forward = [(op<"squeeze", "axis=[" # last # "]">
      (op<"take_along_axes", "axes=[" # last # "];caller=$caller"> $x, (op<"expand_dims", "axis=[-1]"> $index)))];
  // The index, taken from one that is repeated along the axis: a program that has the gradient alone refuses it as well.
  defvar row = (op<"expand_dims", "axis=[-1]"> $index);
  defvar known = (op<"take_along_axes", "axes=[" # last # "];caller=$caller"> (op<"broadcast_to", "shape=#x"> row), row);
  defvar fromStart = (op<"mod"> (op<"cast", "dtype=i64"> known), (piece<"extent", [last, "i64"]> $x));
  defvar isPicked = (op<"one_hot_like"> fromStart, $x);
  let gradient = [(op<"where"> isPicked, (op<"expand_dims", "axis=[-1]"> $dout), K<"0", "dout">), (none)];
  let attrFacts = [Doc<"caller", "operator that errors name">];
  let samples = [Sample<["4,5", "4"], "", "-2; -5", "2; 5">, Sample<["2,3,5", "2,3"], "", "-2; 0", "2; 5">, Sample<["5", ""], "caller=\"gather\"", "-2; 0", "2; 5">,
                 Sample<["0,5", "0"]>];
}
def Tess_IndexingOneHotOp : IndexOp<"indexing_one_hot", "the element of the given index along an axis",
    "tess_oracle.indexing_one_hot(x, index, axis, keepdims)", "functional.nn"> {
  let description = !strconcat([{`out[i] = x[i, index[i]]` for axis 1 of two, and likewise for others.
   }], negativeIndices);
  let arguments = (ins Tess_Moved:$x, Tess_Index:$index, DefaultValuedAttr<SI64Attr, "1">:$axis,
                   DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let shapes = "(*D), (*I) -> (*D / axis)";
  defvar axisOfX = "axis($axis, len(#x))";
  let requires = [Require<"index must have the shape of x without the axis", "without(#x, " # axisOfX # ") == #index",
                          "x {x} and index {index}">];
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar byAxis = (when<axisOfX # " == len(#x) - 1"> $x,
                        (op<"transpose", "pattern=" # LastAxis<"len(#x)", axisOfX>.pattern> $x));
  defvar picked = (op<"pick", "caller=\"indexing_one_hot\""> byAxis, $index);
  let forward = [(when<"$keepdims"> (op<"expand_dims", "axis=[" # axisOfX # "]"> picked), picked)];
  let attrFacts = [Axis<"axis", "x">, Static<"axis", "it decides the order of axes in the code">,
                   Doc<"axis", "axis to pick along">, Doc<"keepdims", "keep the axis with size 1">];
  let python = Py<"functional.nn", "indexing_one_hot", [], "", ["x=src"]>;
  let samples = [Sample<["4,5", "4"], "", "-2; 0", "2; 5">, Sample<["2,5,3", "2,3"], "keepdims=true", "-2; 0", "2; 5">,
                 Sample<["5,4", "4"], "axis=0", "-2; 0", "2; 5">];
}
def Tess_TopkAccuracyOp : Tess_Op<"topk_accuracy"> {
  let summary = "share of the rows whose target is among the largest elements";
  let description = [{`out` is the mean over i of whether target[i] is among the indices of the k largest elements of
    logits[i], of which equal ones count in their order. The mean of none is NaN. A target that is no index of logits[i]
    is an error when the kernel runs.}];
  let arguments = (ins Tess_Number:$logits, Tess_Index:$target, DefaultValuedAttr<SI64Attr, "1">:$k);
  let results = (outs Tess_F32:$out);
  let shapes = "(N, C), (N) -> ()";
  let requires = [Require<"k must not be above the size of the last axis", "$k <= #logits[-1]", "{$k} and logits {logits}">];
  let dtypes = Fixed<"f32">;
  let lowering = Composite<>;
  defvar found = (op<"cast", "dtype=@target"> (result<"indices"> (op<"topk", "k=$k"> $logits)));
  defvar size = (op<"scalar_tensor", "value=#logits[1];dtype=@target">);
  defvar known = (op<"take_along_axes", "axes=[0];caller=\"topk_accuracy: target\"">
      (op<"arange", "num=#logits[1];dtype=@target">), FromZero<(same $target), "target", size>.all);
  defvar isTarget = (op<"equal"> found, (op<"expand_dims", "axis=[1]"> known));
  let forward = [(op<"mean"> (op<"sum", "axes=[1]"> (op<"cast", "dtype=f32"> isTarget)))];
  let noGradient = 1;
  let attrFacts = [Doc<"k", "how many largest elements count">, Range<"k", "1", "1e9">, BindTime<"k">];
  let samples = [Sample<["6,5", "6"], "", "-2; 0", "2; 5">, Sample<["6,5", "6"], "k=3", "-2; 0", "2; 5">];
  let oracle = Oracle<"np.mean((tess_oracle.topk(logits, k, True)[1] == target[:, None]).any(1))">;
  let python = Py<"functional.math", "topk_accuracy", [], "", ["k=topk"]>;
}

#endif // TESS_OPS_INDEX
