//===- Pool.td - pooling over windows ------------------------*- tablegen -*-===//
#ifndef TESS_OPS_POOL
#define TESS_OPS_POOL

include "ops/Base.td"

defvar poolAttrs = (ins DenseI64ArrayAttr:$kernel_size, DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding);
defvar samePool = "kernel_size=$kernel_size;strides=$strides;padding=$padding";
defvar sameAvgPool = samePool # ";count_include_pad=$count_include_pad";
defvar avgAttrs = !con(poolAttrs, (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad));
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
                        Doc<"output_size", what>];
}
defvar poolFacts = PoolFacts<2, "height and width">.all;
defvar countFacts = [Doc<"count_include_pad", "count padding as elements of value 0">, BindTime<"count_include_pad">];
defvar avgFacts = !listconcat(poolFacts, countFacts);
defvar poolWindows = ["padding must be below the window's size", "window must fit into the padded input"];
defvar poolGeometry = !listconcat(["x must have rank 4"], poolWindows);

class PoolOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Library<m>;
  let attrFacts = poolFacts;
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
def Tess_MaxPool2dOp : PoolOp<"max_pool2d", "largest element of each window",
                              "tess_oracle.max_pool2d(x, kernel_size, strides, padding)"> {
  let description = [{`out[n, c, i, j]` is the largest of `x[n, c, i * strides[0] - padding[0] + p, j *
    strides[1] - padding[1] + q]` for p, q in the window; NaN wins, padding never does. x is [N, C, H, W], the
    result [N, C, OH, OW] with `OH = floor((H + 2 * padding[0] - kernel_size[0]) / strides[0]) + 1`, OW
    likewise.}];
  let keepsAxes = 1;
  let sampleRank = 3;
  let arguments = !con((ins Tess_Float:$x), poolAttrs);
  let lowering = Window<"pool", "Max", "max_pool2d">;
  let shapeRule = "pool";
  let dtypes = Same<"x">;
  let gradient = [(op<"max_pool2d_backward", samePool> $x, $out, $dout)];
  let constraints = poolGeometry;
  let samples = [Sample<["2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 2];padding=[1, 0]">, Sample<["0,2,4,4"], "kernel_size=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[1, 1]">];
  let onnx = "MaxPool";
}
def Tess_MaxPool2dBackwardOp : PoolOp<"max_pool2d_backward", "gradient of max_pool2d",
    "tess_oracle.max_pool2d_backward(x, dout, kernel_size, strides, padding)"> {
  let description = [{The gradient of `sum(max_pool2d(x) * dout)` by x; out is max_pool2d(x). The first of equal
    elements of a window takes the gradient.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$out, Tess_Float:$dout), poolAttrs);
  let results = (outs Tess_Float:$grad);
  let shapes = "(N, C, H, W), (N, C, OH, OW), (N, C, OH, OW) -> (N, C, H, W)";
  let check = "maxPool2dBackward";
  let dtypes = Promote<["x", "out", "dout"]>;
  let lowering = Sequential<"max_pool2d_backward">;
  let gradientRule = "maxPool2dBackward";
  let constraints = !listconcat(poolWindows, ["out and dout must have the shape of the pooling's result"]);
  let samples = [Sample<["2,3,6,8", "2,3,3,4", "2,3,3,4"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5", "1,2,5,5", "1,2,5,5"], "kernel_size=[1, 1]">,
                 Sample<["1,2,5,5", "1,2,5,6", "1,2,5,6"], "kernel_size=[3, 2];padding=[1, 1]">];
}
def Tess_AvgPool2dOp : PoolOp<"avg_pool2d", "mean of each window",
                              "tess_oracle.avg_pool2d(x, kernel_size, strides, padding, count_include_pad)"> {
  let description = [{`out[n, c, i, j]` is the mean of the window of x that max_pool2d would look at; shapes as
    there. Padding counts as elements of value 0, or with count_include_pad false not at all.}];
  let keepsAxes = 1;
  let sampleRank = 3;
  let arguments = !con((ins Tess_Float:$x), avgAttrs);
  let shapeRule = "pool";
  let dtypes = Same<"x">;
  let gradient = [(op<"avg_pool2d_backward", sameAvgPool> $dout, $x)];
  let attrFacts = avgFacts;
  let constraints = poolGeometry;
  let samples = [Sample<["2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 2];padding=[1, 0]">,
                 Sample<["1,2,5,5"], "kernel_size=[3, 3];padding=[1, 1];count_include_pad=false">,
                 Sample<["1,2,5,5"], "kernel_size=[1, 1]">];
  let onnx = "AveragePool";
}
def Tess_AvgPool2dBackwardOp : PoolOp<"avg_pool2d_backward", "gradient of avg_pool2d",
    "tess_oracle.avg_pool2d_backward(dout, like.shape, kernel_size, strides, padding, count_include_pad)"> {
  let description = [{The gradient of `sum(avg_pool2d(x) * dout)` by x: every element of a window takes an equal
    share. Of `like`, in place of x, only the shape counts.}];
  let arguments = !con((ins Tess_Float:$dout, Tess_Float:$like), avgAttrs);
  let results = (outs Tess_Float:$grad);
  let shapes = "(N, C, OH, OW), (N, C, H, W) -> (N, C, H, W)";
  let check = "avgPool2dBackward";
  let dtypes = Promote<["dout", "like"]>;
  let gradient = [(op<"avg_pool2d", sameAvgPool> $dgrad), (none)];
  let attrFacts = avgFacts;
  let constraints = !listconcat(poolWindows, ["dout must have the shape of the pooling's result"]);
  let samples = [Sample<["2,3,3,4", "2,3,6,8"], "kernel_size=[2, 2];strides=[2, 2]">,
                 Sample<["1,2,5,5", "1,2,5,5"], "kernel_size=[3, 3];padding=[1, 1];count_include_pad=false">,
                 Sample<["1,2,5,5", "1,2,5,5"], "kernel_size=[1, 1]">];
}
def Tess_AdaptiveAvgPool2dOp : PoolOp<"adaptive_avg_pool2d", "mean of windows that divide the image into a given size",
                                      "tess_oracle.adaptive_pool2d(x, output_size, np.mean)"> {
  let description = [{`out[n, c, i, j]` is the mean of rows `floor(i * H / OH)` to `ceil((i + 1) * H / OH) - 1`
    and of columns likewise, [OH, OW] being output_size: windows may overlap. As PyTorch's adaptive_avg_pool2d.}];
  let arguments = (ins Tess_Float:$x, DenseI64ArrayAttr:$output_size);
  let shapes = "(N, C, H, W) -> (N, C, *@output_size)";
  let dtypes = Same<"x">;
  let lowering = Composite<"adaptiveAvgPool2d">;
  let attrFacts = AdaptiveFacts<2, "height and width of the result">.all;
  let samples = [Sample<["2,3,6,8"], "output_size=[2, 4]">, Sample<["1,2,5,7"], "output_size=[2, 3]">,
                 Sample<["1,2,3,3"], "output_size=[1, 1]">];
  let onnx = "GlobalAveragePool";
}
def Tess_AdaptiveMaxPool2dOp : PoolOp<"adaptive_max_pool2d",
                                      "largest element of windows that divide the image into a given size",
                                      "tess_oracle.adaptive_pool2d(x, output_size, np.max)"> {
  let description = [{`out[n, c, i, j]` is the largest element of the window that adaptive_avg_pool2d would look at; NaN
    wins. The first of equal elements of a window takes the gradient. As PyTorch's adaptive_max_pool2d.}];
  let arguments = (ins Tess_Float:$x, DenseI64ArrayAttr:$output_size);
  let shapes = "(N, C, H, W) -> (N, C, *@output_size)";
  let dtypes = Same<"x">;
  let lowering = Composite<"adaptiveMaxPool2d">;
  let python = Py<"functional.nn", "adaptive_max_pool2d", [], "", ["x=inp", "output_size=oshp"]>;
  let attrFacts = AdaptiveFacts<2, "height and width of the result">.all;
  let samples = [Sample<["2,3,6,8"], "output_size=[2, 4]">, Sample<["1,2,5,7"], "output_size=[2, 3]">,
                 Sample<["1,2,3,3"], "output_size=[1, 1]">];
  let onnx = "GlobalMaxPool";
}

//===----------------------------------------------------------------------===//
// Of sequences, as images of height 1
//===----------------------------------------------------------------------===//
defvar poolAttrs1d = (ins DenseI64ArrayAttr:$kernel_size, DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$strides,
                          DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding);

class SequencePool<string m, string what, string rule, string expr> : PoolOp<m, what, expr> {
  let keepsAxes = 1;
  let sampleRank = 2;
  let dtypes = Same<"x">;
  let lowering = Composite<rule>;
}
def Tess_MaxPool1dOp : SequencePool<"max_pool1d", "largest element of each window of a sequence", "maxPool1d",
                                    "tess_oracle.max_pool1d(x, kernel_size, strides, padding)"> {
  let description = [{`out[n, c, i]` is the largest of `x[n, c, i * strides[0] - padding[0] + p]` for p in the window;
    NaN wins, padding never does. x is [N, C, L], the result [N, C, OL] with OL as max_pool2d's OH.}];
  let arguments = !con((ins Tess_Float:$x), poolAttrs1d);
  let shapeRule = "pool";
  let attrFacts = PoolFacts<1, "the sequence">.all;
  let constraints = !listconcat(["x must have rank 3"], poolWindows);
  let samples = [Sample<["2,3,6"], "kernel_size=[2];strides=[2]">, Sample<["1,2,5"], "kernel_size=[3];padding=[1]">,
                 Sample<["0,2,4"], "kernel_size=[2]">, Sample<["1,2,5"], "kernel_size=[1]">];
  let onnx = "MaxPool";
}
def Tess_AvgPool1dOp : SequencePool<"avg_pool1d", "mean of each window of a sequence", "avgPool1d",
    "tess_oracle.avg_pool1d(x, kernel_size, strides, padding, count_include_pad)"> {
  let description = [{`out[n, c, i]` is the mean of the window of x that max_pool1d would look at; shapes as there.
    Padding counts as elements of value 0, or with count_include_pad false not at all.}];
  let arguments = !con((ins Tess_Float:$x), poolAttrs1d, (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad));
  let shapeRule = "pool";
  let attrFacts = !listconcat(PoolFacts<1, "the sequence">.all, countFacts);
  let constraints = !listconcat(["x must have rank 3"], poolWindows);
  let samples = [Sample<["2,3,6"], "kernel_size=[2];strides=[2]">, Sample<["1,2,5"], "kernel_size=[3];padding=[1]">,
                 Sample<["1,2,5"], "kernel_size=[3];padding=[1];count_include_pad=false">,
                 Sample<["1,2,5"], "kernel_size=[1]">];
  let onnx = "AveragePool";
}
class AdaptivePool1d<string m, string what, string rule, string expr> : SequencePool<m, what, rule, expr> {
  let keepsAxes = 0;
  let sampleRank = 0;
  let arguments = (ins Tess_Float:$x, DenseI64ArrayAttr:$output_size);
  let shapes = "(N, C, L) -> (N, C, *@output_size)";
  let attrFacts = AdaptiveFacts<1, "length of the result">.all;
  let python = Py<"functional.nn", m, [], "", ["x=inp", "output_size=oshp"]>;
  let samples = [Sample<["2,3,6"], "output_size=[3]">, Sample<["1,2,7"], "output_size=[3]">,
                 Sample<["1,2,3"], "output_size=[1]">];
}
def Tess_AdaptiveAvgPool1dOp : AdaptivePool1d<"adaptive_avg_pool1d",
    "mean of windows that divide the sequence into a given length", "adaptiveAvgPool1d",
    "tess_oracle.adaptive_pool1d(x, output_size, np.mean)"> {
  let description = [{`out[n, c, i]` is the mean of the elements `floor(i * L / OL)` to `ceil((i + 1) * L / OL) - 1`, OL
    being output_size: windows may overlap. As PyTorch's adaptive_avg_pool1d.}];
}
def Tess_AdaptiveMaxPool1dOp : AdaptivePool1d<"adaptive_max_pool1d",
    "largest element of windows that divide the sequence into a given length", "adaptiveMaxPool1d",
    "tess_oracle.adaptive_pool1d(x, output_size, np.max)"> {
  let description = [{`out[n, c, i]` is the largest element of the window that adaptive_avg_pool1d would look at; NaN
    wins. The first of equal elements of a window takes the gradient. As PyTorch's adaptive_max_pool1d.}];
}

#endif // TESS_OPS_POOL
