//===- Conv.td - convolutions --------------------------------*- tablegen -*-===//
#ifndef TESS_OPS_CONV
#define TESS_OPS_CONV

include "ops/Base.td"

// Windows along `n` axes, which `along` names.
class ConvFacts<int n, string along> {
  list<AttrFact> all = [Length<"strides", n>, Length<"padding", n>, Length<"dilation", n>, Range<"strides", "1", "1e9">,
                        Range<"padding", "0", "1e9">, Range<"dilation", "1", "1e9">, Range<"groups", "1", "1e9">,
                        Doc<"strides", "distance of windows along " # along>,
                        Doc<"padding", "zeros added on both sides of " # along>,
                        Doc<"dilation", "distance of the elements of a window">,
                        Doc<"groups", "number of independent blocks of channels">, BindTime<"strides">,
                        BindTime<"padding">, BindTime<"dilation">, BindTime<"groups">];
}
class ConvOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Library<m>;
  let attrFacts = ConvFacts<2, "height and width">.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
defvar convAttrs = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilation,
                        DefaultValuedAttr<SI64Attr, "1">:$groups);
defvar sameConv = "strides=$strides;padding=$padding;dilation=$dilation;groups=$groups";
defvar convWindows = ["channels of x must be groups times those of weight",
                      "output channels must be a multiple of groups", "window must fit into the padded input"];
defvar convGeometry = !listconcat(["operands must have rank 4"], convWindows);

def Tess_Conv2dOp : ConvOp<"conv2d", "two-dimensional convolution (cross-correlation)",
                           "tess_oracle.conv2d(x, weight, strides, padding, dilation, groups)"> {
  let description = [{`out[n, o, i, j]` is the sum over c, p, q of `x[n, c, i * strides[0] - padding[0] + p *
    dilation[0], j * strides[1] - padding[1] + q * dilation[1]] * weight[o, c, p, q]`, c running over the
    channels of the group of o; beyond its edges x is 0. x is [N, C, H, W], weight [O, C/groups, KH, KW], the
    result [N, O, OH, OW] with `OH = floor((H + 2 * padding[0] - dilation[0] * (KH - 1) - 1) / strides[0]) + 1`,
    OW likewise.}];
  let keepsAxes = 1;
  let sampleRank = 3;
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), convAttrs);
  let shapeRule = "conv";
  let dtypes = Promote<["x", "weight"]>;
  let gradient = [(op<"conv2d_backward_data", sameConv> $weight, $dout, $x),
                  (op<"conv2d_backward_weight", sameConv> $x, $dout, $weight)];
  let constraints = convGeometry;
  let samples = [Sample<["2,3,5,6", "4,3,3,3"]>, Sample<["2,3,5,6", "4,3,3,2"], "padding=[1, 1]">,
                 Sample<["1,4,7,7", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["1,2,9,9", "2,1,3,3"], "dilation=[2, 3];groups=2">, Sample<["0,3,5,5", "4,3,1,1"]>];
  let onnx = "Conv";
}
def Tess_Conv2dBackwardDataOp : ConvOp<"conv2d_backward_data", "gradient of a convolution for its input",
    "tess_oracle.conv2d_backward_data(weight, dout, like.shape, strides, padding, dilation, groups)"> {
  let description = [{The gradient of `sum(conv2d(x, weight) * dout)` by x, which is the transposed convolution
    of dout. Of `like`, in place of x, only the shape counts; elements of x that no window covers get 0.}];
  let arguments = !con((ins Tess_Float:$weight, Tess_Float:$dout, Tess_Float:$like), convAttrs);
  let shapes = "(O, I, KH, KW), (N, O, OH, OW), (N, C, H, W) -> (N, C, H, W)";
  let check = "conv2dBackwardData";
  let dtypes = Promote<["weight", "dout", "like"]>;
  let gradient = [(op<"conv2d_backward_weight", sameConv> $dgrad, $dout, $weight), (op<"conv2d", sameConv> $dgrad, $weight),
                  (none)];
  let results = (outs Tess_Float:$grad);
  let constraints = !listconcat(convWindows, ["dout must have the shape of the convolution's result"]);
  let samples = [Sample<["4,3,3,3", "2,4,3,4", "2,3,5,6"]>,
                 Sample<["6,2,3,3", "1,6,4,5", "1,4,7,7"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["4,3,3,3", "2,4,3,5", "2,3,7,7"], "dilation=[2, 1]">];
}
def Tess_Conv2dBackwardWeightOp : ConvOp<"conv2d_backward_weight", "gradient of a convolution for its weight",
    "tess_oracle.conv2d_backward_weight(x, dout, like.shape, strides, padding, dilation, groups)"> {
  let description = [{The gradient of `sum(conv2d(x, weight) * dout)` by weight. Of `like`, in place of weight,
    only the shape counts.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$dout, Tess_Float:$like), convAttrs);
  let shapes = "(N, C, H, W), (N, O, OH, OW), (O, I, KH, KW) -> (O, I, KH, KW)";
  let check = "conv2dBackwardWeight";
  let dtypes = Promote<["x", "dout", "like"]>;
  let gradient = [(op<"conv2d_backward_data", sameConv> $dgrad, $dout, $x), (op<"conv2d", sameConv> $x, $dgrad),
                  (none)];
  let results = (outs Tess_Float:$grad);
  let constraints = !listconcat(convWindows, ["dout must have the shape of the convolution's result"]);
  let samples = [Sample<["2,3,5,6", "2,4,3,4", "4,3,3,3"]>,
                 Sample<["1,4,7,7", "1,6,4,5", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["2,3,7,7", "2,4,3,5", "4,3,3,3"], "dilation=[2, 1]">];
}

//===----------------------------------------------------------------------===//
// Of sequences, as images of height 1
//===----------------------------------------------------------------------===//
defvar convAttrs1d = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$strides,
                          DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding,
                          DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation,
                          DefaultValuedAttr<SI64Attr, "1">:$groups);

def Tess_Conv1dOp : ConvOp<"conv1d", "one-dimensional convolution (cross-correlation)",
                           "tess_oracle.conv1d(x, weight, strides, padding, dilation, groups)"> {
  let description = [{`out[n, o, i]` is the sum over c, p of `x[n, c, i * strides[0] - padding[0] + p * dilation[0]] *
    weight[o, c, p]`, c running over the channels of the group of o; beyond its ends x is 0. x is [N, C, L], weight
    [O, C/groups, K], the result [N, O, OL] with OL as conv2d's OH.}];
  let keepsAxes = 1;
  let sampleRank = 2;
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), convAttrs1d);
  let shapeRule = "conv";
  let dtypes = Promote<["x", "weight"]>;
  let lowering = Composite<"conv1d">;
  let attrFacts = ConvFacts<1, "the sequence">.all;
  let constraints = !listconcat(["operands must have rank 3"], convWindows);
  let samples = [Sample<["2,3,7", "4,3,3"]>, Sample<["2,4,8", "6,2,3"], "strides=[2];padding=[1];groups=2">,
                 Sample<["1,2,9", "2,1,3"], "dilation=[2];groups=2">, Sample<["0,3,5", "4,3,1"]>];
  let onnx = "Conv";
}

//===----------------------------------------------------------------------===//
// Transposed
//===----------------------------------------------------------------------===//
class ConvTransposeOp<string m, string what, string expr, int n, string along> : ConvOp<m, what, expr> {
  let description = [{The gradient of a convolution by its input: every element of x adds its multiple of the weight at
    `i * strides - padding`. x is [N, C, ...], weight [C, O/groups, ...], the result [N, O, ...] with sizes `(L - 1) *
    strides - 2 * padding + dilation * (K - 1) + output_padding + 1`. V. Dumoulin, F. Visin: A Guide to Convolution
    Arithmetic for Deep Learning, arXiv:1603.07285.}];
  let keepsAxes = 1;
  let sampleRank = !add(n, 1);
  let shapeRule = "convTranspose";
  let dtypes = Promote<["x", "weight"]>;
  let lowering = Composite<"convTranspose">;
  let attrFacts = !listconcat(ConvFacts<n, along>.all, [Length<"output_padding", n>, Range<"output_padding", "0", "1e9">,
      BindTime<"output_padding">, Doc<"output_padding", "elements added after the result along " # along>]);
  let onnx = "ConvTranspose";
}
defvar convTransposeSizes = ["channels of x must be those of weight", "channels of x must be a multiple of groups",
                             "output_padding must be below strides", "padding must leave elements of the result"];

def Tess_ConvTranspose1dOp : ConvTransposeOp<"conv_transpose1d", "one-dimensional transposed convolution",
    "tess_oracle.conv_transpose1d(x, weight, strides, padding, dilation, groups, output_padding)", 1, "the sequence"> {
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), convAttrs1d,
                       (ins DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$output_padding));
  let constraints = !listconcat(["operands must have rank 3"], convTransposeSizes);
  let samples = [Sample<["2,3,5", "3,4,3"]>, Sample<["2,4,4", "4,2,3"], "strides=[2];padding=[1];output_padding=[1]">,
                 Sample<["1,4,5", "4,2,2"], "dilation=[2];groups=2">, Sample<["0,3,5", "3,4,1"]>];
}
def Tess_ConvTranspose2dOp : ConvTransposeOp<"conv_transpose2d", "two-dimensional transposed convolution",
    "tess_oracle.conv_transpose2d(x, weight, strides, padding, dilation, groups, output_padding)", 2, "height and width"> {
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), convAttrs,
                       (ins DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$output_padding));
  let constraints = !listconcat(["operands must have rank 4"], convTransposeSizes);
  let samples = [Sample<["2,3,4,5", "3,4,3,2"]>,
                 Sample<["1,4,4,3", "4,2,3,3"], "strides=[2, 3];padding=[1, 0];output_padding=[1, 2];groups=2">,
                 Sample<["1,2,3,4", "2,3,2,2"], "dilation=[2, 1]">, Sample<["0,3,2,2", "3,4,1,1"]>];
}

#endif // TESS_OPS_CONV
