//===- Conv.td - convolutions --------------------------------*- tablegen -*-===//
#ifndef TESS_OPS_CONV
#define TESS_OPS_CONV

include "ops/Base.td"

class ConvOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Library<m>;
  let attrFacts = [Length<"strides", 2>, Length<"padding", 2>, Length<"dilation", 2>, Range<"strides", "1", "1e9">,
                   Range<"padding", "0", "1e9">, Range<"dilation", "1", "1e9">, Range<"groups", "1", "1e9">,
                   Doc<"strides", "distance of windows along height and width">,
                   Doc<"padding", "zeros added on both sides of height and width">,
                   Doc<"dilation", "distance of the elements of a window">,
                   Doc<"groups", "number of independent blocks of channels">, BindTime<"strides">, BindTime<"padding">,
                   BindTime<"dilation">, BindTime<"groups">];
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
defvar convAttrs = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilation,
                        DefaultValuedAttr<SI64Attr, "1">:$groups);
defvar sameConv = "strides=$strides;padding=$padding;dilation=$dilation;groups=$groups";
defvar convGeometry = ["operands must have rank 4", "channels of x must be groups times those of weight",
                       "output channels must be a multiple of groups", "window must fit into the padded input"];

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
  let shapeRule = "conv2d";
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
  let constraints = !listconcat(!tail(convGeometry), ["dout must have the shape of the convolution's result"]);
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
  let constraints = !listconcat(!tail(convGeometry), ["dout must have the shape of the convolution's result"]);
  let samples = [Sample<["2,3,5,6", "2,4,3,4", "4,3,3,3"]>,
                 Sample<["1,4,7,7", "1,6,4,5", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["2,3,7,7", "2,4,3,5", "4,3,3,3"], "dilation=[2, 1]">];
}

#endif // TESS_OPS_CONV
