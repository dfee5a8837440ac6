//===- Pool.td - pooling over windows ------------------------*- tablegen -*-===//
#ifndef TESS_OPS_POOL
#define TESS_OPS_POOL

include "ops/records/Base.td"

// The attributes of windows along `n` axes.
class PoolAttrs<int n> {
  defvar ones = !cond(!eq(n, 1) : "{1}", !eq(n, 2) : "{1, 1}", true : "{1, 1, 1}");
  defvar zeros = !subst("1", "0", ones);
  dag all = (ins DenseI64ArrayAttr:$kernel_size, DefaultValuedAttr<DenseI64ArrayAttr, ones>:$strides,
                 DefaultValuedAttr<DenseI64ArrayAttr, zeros>:$padding);
}
defvar countAttr = (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad);
defvar samePool = "kernel_size=$kernel_size;strides=$strides;padding=$padding";
defvar sameAvgPool = samePool # ";count_include_pad=$count_include_pad";
// Windows along `n` axes, which `along` names.
class PoolFacts<int n, string along> {
  list<AttrFact> all = [Length<"kernel_size", n>, Length<"strides", n>, Length<"padding", n>,
                        Range<"kernel_size", "1", "1e9">, Range<"strides", "1", "1e9">, Range<"padding", "0", "1e9">,
                        Doc<"kernel_size", "size of a window along " # along>,
                        Doc<"strides", "distance of windows along " # along>,
                        Doc<"padding", "elements added on both sides of " # along>, BindTime<"kernel_size">,
                        BindTime<"strides">, BindTime<"padding">];
}
class AdaptiveFacts<int n, string what> {
  list<AttrFact> all = [Length<"output_size", n>, Range<"output_size", "1", "1e9">, BindTime<"output_size">,
                        Doc<"output_size", what>, BindTime<"uneven">,
                        Doc<"uneven", "PyTorch's windows, whose sizes differ where output_size does not divide x's">];
}
defvar unevenAttr = (ins DefaultValuedAttr<BoolAttr, "false">:$uneven);
defvar unevenWindows = [{along each axis `stride = floor(size / output_size)`, and a window is `size - (output_size
    - 1) * stride` long: windows may overlap. As MegEngine's. With uneven a window goes from `floor(i * size /
    output_size)` to `ceil((i + 1) * size / output_size) - 1`, as PyTorch's does, so that there may be more windows
    than elements.}];
defvar countFacts = [Doc<"count_include_pad", "count padding as elements of value 0">, BindTime<"count_include_pad">];
// The reduction of windows along `n` axes, whose positions are *s and whose elements are *k.
class Windows<string function> {
  string text = "out[n, c, *s] = " # function # "(*k) x[n, c, *s * *strides + *k - *padding] where *k < *kernel_size";
}
defvar poolWindows = ["padding must be below the window's size", "window must fit into the padded input"];

// Images of n axes, of 2 or 3: words and parts of texts.
class Images<int n> {
  int axes = n;
  string name = n # "d";
  string along = !if(!eq(n, 2), "height and width", "depth, height and width");
  string image = !if(!eq(n, 2), "H, W", "D, H, W");
  string pooled = !if(!eq(n, 2), "OH, OW", "OD, OH, OW");
  dag attrs = PoolAttrs<n>.all;
  list<AttrFact> facts = PoolFacts<n, along>.all;
}

class PoolOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Library<m>;
  let oracle = Oracle<expr>;
  let python = Py<"functional.pool", m>;
}
class MaxPool<Images d> : PoolOp<"max_pool" # d.name, "largest element of each window",
                                 "tess_oracle.max_pool(x, kernel_size, strides, padding)"> {
  let quant = "rounds";
  let description = [{`out[n, c, *i]` is the largest of `x[n, c, *i * strides - padding + *k]` for *k in the window; NaN
    wins, padding never does. x is [N, C, }] # d.image # [{], the result [N, C, }] # d.pooled # [{] with sizes
    `floor((size + 2 * padding - kernel_size) / strides) + 1`.}];
  let keepsAxes = 1;
  let sampleRank = !add(d.axes, 1);
  let arguments = !con((ins Tess_Float:$x), d.attrs);
  let lowering = Window_;
  let oldKernel = !if(!eq(d.axes, 2), "max_pool2d", "");
  let compute = Windows<"max">.text;
  let dtypes = Same<"x">;
  let gradient = [(op<"max_pool" # d.name # "_backward", samePool> $x, $out, $dout)];
  let attrFacts = d.facts;
  let onnx = "MaxPool(...)";
}
class MaxPoolBackward<Images d> : PoolOp<"max_pool" # d.name # "_backward", "gradient of max_pool" # d.name,
    "tess_oracle.max_pool_backward(x, dout, kernel_size, strides, padding)"> {
  let description = "The gradient of `sum(max_pool" # d.name # "(x) * dout)` by x; out is `max_pool" # d.name # [{(x)`. The
    first of equal elements of a window takes the gradient.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$out, Tess_Float:$dout), d.attrs);
  let results = (outs Tess_Float:$grad);
  let shapes = "(N, C, " # d.image # "), (N, C, " # d.pooled # "), (N, C, " # d.pooled # ") -> (N, C, " # d.image # ")";
  let check = "maxPoolBackward";
  let dtypes = Promote<["x", "out", "dout"]>;
  let lowering = Sequential<"max_pool2d_backward">; // it takes images of three axes, too
  let gradientRule = "maxPoolBackward";
  let attrFacts = d.facts;
  let constraints = !listconcat(poolWindows, ["out and dout must have the shape of the pooling's result"]);
}
class AvgPool<Images d> : PoolOp<"avg_pool" # d.name, "mean of each window",
                                 "tess_oracle.avg_pool(x, kernel_size, strides, padding, count_include_pad)"> {
  let quant = "rounds";
  let description = "`out[n, c, *i]` is the mean of the window of x that max_pool" # d.name # [{ would look at; shapes as
    there. Padding counts as elements of value 0, or with count_include_pad false not at all.}];
  let keepsAxes = 1;
  let sampleRank = !add(d.axes, 1);
  let arguments = !con((ins Tess_Float:$x), d.attrs, countAttr);
  let compute = Windows<"mean">.text;
  let dtypes = Same<"x">;
  let lowering = Library<"avg_pool2d">; // it takes images of three axes, too
  let gradient = [(op<"avg_pool" # d.name # "_backward", sameAvgPool> $dout, $x)];
  let attrFacts = !listconcat(d.facts, countFacts);
  let onnx = "AveragePool(...)";
}
class AvgPoolBackward<Images d> : PoolOp<"avg_pool" # d.name # "_backward", "gradient of avg_pool" # d.name,
    "tess_oracle.avg_pool_backward(dout, like.shape, kernel_size, strides, padding, count_include_pad)"> {
  let description = "The gradient of `sum(avg_pool" # d.name # [{(x) * dout)` by x: every element of a window takes an equal
    share. Of `like`, in place of x, only the shape counts.}];
  let arguments = !con((ins Tess_Float:$dout, Tess_Float:$like), d.attrs, countAttr);
  let results = (outs Tess_Float:$grad);
  let shapes = "(N, C, " # d.pooled # "), (N, C, " # d.image # ") -> (N, C, " # d.image # ")";
  let check = "avgPoolBackward";
  let dtypes = Promote<["dout", "like"]>;
  let lowering = Library<"avg_pool2d_backward">;
  let gradient = [(op<"avg_pool" # d.name, sameAvgPool> $dgrad), (none)];
  let attrFacts = !listconcat(d.facts, countFacts);
  let constraints = !listconcat(poolWindows, ["dout must have the shape of the pooling's result"]);
}

def Tess_MaxPool2dOp : MaxPool<Images<2>> {
  let samples = [Sample<["2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 2];padding=[1, 0]">, Sample<["0,2,4,4"], "kernel_size=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[1, 1]">];
}
def Tess_MaxPool3dOp : MaxPool<Images<3>> {
  let samples = [Sample<["1,2,4,3,6"], "kernel_size=[2, 1, 3];strides=[2, 1, 1];padding=[1, 0, 1]">,
                 Sample<["2,1,3,3,4"], "kernel_size=[3, 2, 2]">, Sample<["1,0,2,2,2"], "kernel_size=[2, 2, 2]">,
                 Sample<["1,2,2,3,3"], "kernel_size=[1, 1, 1]">];
}
def Tess_MaxPool2dBackwardOp : MaxPoolBackward<Images<2>> {
  let samples = [Sample<["2,3,6,8", "2,3,3,4", "2,3,3,4"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5", "1,2,5,5", "1,2,5,5"], "kernel_size=[1, 1]">,
                 Sample<["1,2,5,5", "1,2,5,6", "1,2,5,6"], "kernel_size=[3, 2];padding=[1, 1]">];
}
def Tess_MaxPool3dBackwardOp : MaxPoolBackward<Images<3>> {
  let samples = [Sample<["2,2,4,2,4", "2,2,2,1,3", "2,2,2,1,3"], "kernel_size=[2, 2, 2];strides=[2, 1, 1]">,
                 Sample<["1,1,2,3,2", "1,1,2,3,2", "1,1,2,3,2"], "kernel_size=[1, 1, 1]">,
                 Sample<["1,1,3,2,3", "1,1,3,2,4", "1,1,3,2,4"], "kernel_size=[3, 1, 2];padding=[1, 0, 1]">];
}
def Tess_AvgPool2dOp : AvgPool<Images<2>> {
  let samples = [Sample<["2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 2];padding=[1, 0]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 3];padding=[1, 1];count_include_pad=false">,
                 Sample<["1,2,5,5"], "kernel_size=[1, 1]">];
}
def Tess_AvgPool3dOp : AvgPool<Images<3>> {
  let samples = [Sample<["2,2,4,3,6"], "kernel_size=[2, 1, 3];strides=[2, 1, 1];padding=[1, 0, 1]">,
                 Sample<["1,2,3,4,3"], "kernel_size=[3, 2, 2];padding=[1, 1, 0];count_include_pad=false">,
                 Sample<["1,2,2,3,3"], "kernel_size=[1, 1, 1]">];
}
def Tess_AvgPool2dBackwardOp : AvgPoolBackward<Images<2>> {
  let samples = [Sample<["2,3,3,4", "2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5", "1,2,5,5"], "kernel_size=[3, 3];padding=[1, 1];count_include_pad=false">,
                 Sample<["1,2,5,5", "1,2,5,5"], "kernel_size=[1, 1]">];
}
def Tess_AvgPool3dBackwardOp : AvgPoolBackward<Images<3>> {
  let samples = [Sample<["2,2,2,1,3", "2,2,4,2,4"], "kernel_size=[2, 2, 2];strides=[2, 1, 1]">,
                 Sample<["1,1,3,3,3", "1,1,3,2,3"], "kernel_size=[3, 2, 3];padding=[1, 1, 1];count_include_pad=false">,
                 Sample<["1,1,2,3,2", "1,1,2,3,2"], "kernel_size=[1, 1, 1]">];
}
// Of a pooling along axis `number` of the image: run p of output_size[number], which cover the axis.
class Run<Images d, int number, string p, dag x> {
  defvar size = "#x[" # !add(number, 2) # "]";
  defvar count = "$output_size[" # number # "]";
  string start = p # " * " # size # " // " # count;
  string stop = "((" # p # " + 1) * " # size # " + " # count # " - 1) // " # count;
  dag part = Slice<x, !cast<string>(!add(d.axes, 2)), !cast<string>(!add(number, 2)), start, stop>.all;
  // Its mean, or its largest element, which is that of windows of one size.
  dag mean = (op<"mean", "axes=[" # !add(number, 2) # "];keepdims=true"> part);
  dag max = (op<"max_pool" # d.name, "kernel_size=[(i == " # number # " ? " # stop # " - " # start # " : 1) for i < " # d.axes
                 # "];strides=[1 for i < " # d.axes # "]"> part);
}
class Runs<Images d, int number, string function, dag x> {
  defvar one = Run<d, number, "0", x>;
  defvar any = Run<d, number, "p", x>;
  defvar parts = (each<"p < $output_size[" # number # "]"> !if(!eq(function, "np.mean"), any.mean, any.max));
  dag all = (when<"$output_size[" # number # "] == 1"> !if(!eq(function, "np.mean"), one.mean, one.max),
             (op<"concat", "axis=" # !add(number, 2)> parts));
}
class AdaptivePool<Images d, string m, string what, string pool, string function>
    : PoolOp<m, what, "tess_oracle.adaptive_pool(x, output_size, uneven, " # function # ")"> {
  let quant = "rounds";
  let keepsAxes = 1;
  let arguments = !con((ins Tess_Float:$x, DenseI64ArrayAttr:$output_size), unevenAttr);
  let shapes = "(N, C, " # d.image # ") -> (N, C, *@output_size)";
  let dtypes = Same<"x">;
  let requires = [Require<"output_size must not be above the sizes of x",
                          "$uneven || all(#x[i + 2] >= $output_size[i] for i < " # d.axes # ")", "{$output_size} and x {x}">];
  let lowering = Composite<>;
  // Windows of one size and distance, or runs of one axis after the other, as a window is a product of runs: the last
  // axis first for the largest element, so that the first of equal ones is the one that a pooling would find.
  defvar stride = "#x[i + 2] // $output_size[i]";
  defvar even = (op<pool # d.name, "kernel_size=[#x[i + 2] - ($output_size[i] - 1) * (" # stride # ") for i < " # d.axes
                        # "];strides=[" # stride # " for i < " # d.axes # "]"> $x);
  defvar numbers = !if(!eq(d.axes, 2), [0, 1], [0, 1, 2]);
  defvar axes = !if(!eq(function, "np.mean"), numbers, !foreach(i, numbers, !sub(!sub(d.axes, 1), i)));
  defvar uneven = !foldl((same $x), axes, x, i, Runs<d, i, function, x>.all);
  defvar windows = (when<"!$uneven || all(#x[i + 2] % $output_size[i] == 0 for i < " # d.axes # ")"> even, uneven);
  // One window for all is a reduction, which sums in lanes; a window is summed in sequence.
  defvar whole = (op<"mean", "axes=[i + 2 for i < " # d.axes # "];keepdims=true"> $x);
  let forward = [(must<d.along # " must be known and not 0",
                       "all(isNumber(#x[i + 2]) && #x[i + 2] != 0 for i < " # d.axes # ")", "{x}">
      !if(!eq(function, "np.mean"), (when<"all($output_size[i] == 1 for i < " # d.axes # ")"> whole, windows), windows))];
  let attrFacts = AdaptiveFacts<d.axes, d.along # " of the result">.all;
  let version = 2;
  let upgrades = ["1: default uneven true"];
}
class AdaptiveAvgPool<Images d> : AdaptivePool<d, "adaptive_avg_pool" # d.name,
    "mean of windows of an image, so many that the result has a given size", "avg_pool", "np.mean"> {
  let description = !strconcat("`out[n, c, *i]` is the mean of a window of the image: ", unevenWindows);
  let onnx = "GlobalAveragePool(...)";
}
class AdaptiveMaxPool<Images d> : AdaptivePool<d, "adaptive_max_pool" # d.name,
    "largest element of windows of an image, so many that the result has a given size", "max_pool", "np.max"> {
  let description = "`out[n, c, *i]` is the largest element of the window that adaptive_avg_pool" # d.name # [{ would look
    at; NaN wins. The first of equal elements of a window takes the gradient.}];
  let python = Py<"functional.pool", "adaptive_max_pool" # d.name, [], "", ["x=inp", "output_size=oshp"]>;
  let onnx = "GlobalMaxPool(...)";
}
defvar adaptiveSamples2d = [Sample<["2,3,6,8"], "output_size=[2, 4]">, Sample<["1,2,5,7"], "output_size=[2, 3]">,
                            Sample<["1,2,5,7"], "output_size=[3, 5];uneven=true">,
                            Sample<["1,2,3,3"], "output_size=[1, 1]">];
defvar adaptiveSamples3d = [Sample<["2,2,2,4,6"], "output_size=[1, 2, 3]">,
                            Sample<["1,2,3,5,2"], "output_size=[2, 3, 1]">,
                            Sample<["1,2,3,5,2"], "output_size=[2, 3, 3];uneven=true">,
                            Sample<["1,2,2,2,3"], "output_size=[1, 1, 1]">];
def Tess_AdaptiveAvgPool2dOp : AdaptiveAvgPool<Images<2>> { let samples = adaptiveSamples2d; }
def Tess_AdaptiveAvgPool3dOp : AdaptiveAvgPool<Images<3>> { let samples = adaptiveSamples3d; }
def Tess_AdaptiveMaxPool2dOp : AdaptiveMaxPool<Images<2>> { let samples = adaptiveSamples2d; }
def Tess_AdaptiveMaxPool3dOp : AdaptiveMaxPool<Images<3>> { let samples = adaptiveSamples3d; }

//===----------------------------------------------------------------------===//
// Of sequences, as images of height 1
//===----------------------------------------------------------------------===//
class SequencePool<string m, string what, string expr> : PoolOp<m, what, expr> {
  let quant = "rounds";
  let keepsAxes = 1;
  let sampleRank = 2;
  let dtypes = Same<"x">;
}
// A value as images of height 1, and back; the windows that these have.
defvar imageOfX = (op<"expand_dims", "axis=[2]"> $x);
defvar imageOfOut = (op<"expand_dims", "axis=[2]"> $out);
defvar imageOfGrad = (op<"expand_dims", "axis=[2]"> $dout);
class Sequence<dag image> { dag all = (op<"squeeze", "axis=[2]"> image); }
defvar flatWindows = "kernel_size=[1, *$kernel_size];strides=[1, *$strides];padding=[0, *$padding]";
def Tess_MaxPool1dOp : SequencePool<"max_pool1d", "largest element of each window of a sequence",
                                    "tess_oracle.max_pool(x, kernel_size, strides, padding)"> {
  let description = [{`out[n, c, i]` is the largest of `x[n, c, i * strides[0] - padding[0] + p]` for p in the window;
    NaN wins, padding never does. x is [N, C, L], the result [N, C, OL] with OL as max_pool2d's sizes.}];
  let arguments = !con((ins Tess_Float:$x), PoolAttrs<1>.all);
  let compute = Windows<"max">.text;
  let lowering = Window_;
  let gradient = [Sequence<(op<"max_pool2d_backward", flatWindows> imageOfX, imageOfOut, imageOfGrad)>.all];
  let attrFacts = PoolFacts<1, "the sequence">.all;
  let samples = [Sample<["2,3,6"], "kernel_size=[2];strides=[2]">, Sample<["1,2,5"], "kernel_size=[3];padding=[1]">,
                 Sample<["0,2,4"], "kernel_size=[2]">, Sample<["1,2,5"], "kernel_size=[1]">];
  let onnx = "MaxPool(...)";
}
def Tess_AvgPool1dOp : SequencePool<"avg_pool1d", "mean of each window of a sequence",
    "tess_oracle.avg_pool(x, kernel_size, strides, padding, count_include_pad)"> {
  let description = [{`out[n, c, i]` is the mean of the window of x that max_pool1d would look at; shapes as there.
    Padding counts as elements of value 0, or with count_include_pad false not at all.}];
  let arguments = !con((ins Tess_Float:$x), PoolAttrs<1>.all, countAttr);
  let compute = Windows<"mean">.text;
  let lowering = Composite<>;
  let forward = [Sequence<(op<"avg_pool2d", flatWindows # ";count_include_pad=$count_include_pad"> imageOfX)>.all];
  let attrFacts = !listconcat(PoolFacts<1, "the sequence">.all, countFacts);
  let samples = [Sample<["2,3,6"], "kernel_size=[2];strides=[2]">, Sample<["1,2,5"], "kernel_size=[3];padding=[1]">,
                 Sample<["1,2,5"], "kernel_size=[3];padding=[1];count_include_pad=false">,
                 Sample<["1,2,5"], "kernel_size=[1]">];
  let onnx = "AveragePool(...)";
}
class AdaptivePool1d<string m, string what, string function> : SequencePool<m, what,
    "tess_oracle.adaptive_pool(x, output_size, uneven, " # function # ")"> {
  let keepsAxes = 0;
  let sampleRank = 0;
  let arguments = !con((ins Tess_Float:$x, DenseI64ArrayAttr:$output_size), unevenAttr);
  let shapes = "(N, C, L) -> (N, C, *@output_size)";
  let lowering = Composite<>;
  let forward = [Sequence<(op<!subst("1d", "2d", m), "output_size=[1, *$output_size];uneven=$uneven"> imageOfX)>.all];
  let attrFacts = AdaptiveFacts<1, "length of the result">.all;
  let python = Py<"functional.pool", m, [], "", ["x=inp", "output_size=oshp"]>;
  let version = 2;
  let upgrades = ["1: default uneven true"];
  let samples = [Sample<["2,3,6"], "output_size=[3]">, Sample<["1,2,7"], "output_size=[3]">,
                 Sample<["1,2,7"], "output_size=[5];uneven=true">, Sample<["1,2,3"], "output_size=[1]">];
}
def Tess_AdaptiveAvgPool1dOp : AdaptivePool1d<"adaptive_avg_pool1d",
    "mean of windows of a sequence, so many that the result has a given length", "np.mean"> {
  let description = !strconcat("`out[n, c, i]` is the mean of a window of the sequence: ", unevenWindows);
}
def Tess_AdaptiveMaxPool1dOp : AdaptivePool1d<"adaptive_max_pool1d",
    "largest element of windows of a sequence, so many that the result has a given length", "np.max"> {
  let description = [{`out[n, c, i]` is the largest element of the window that adaptive_avg_pool1d would look at; NaN
    wins. The first of equal elements of a window takes the gradient.}];
}

#endif // TESS_OPS_POOL
