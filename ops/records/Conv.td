//===- Conv.td - convolutions --------------------------------*- tablegen -*-===//
//
// Of sequences, images and volumes: one family of records for each number of
// dimensions; the kernels are the same ones. A size without its axis stands for
// each of them in the descriptions.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_CONV
#define TESS_OPS_CONV

include "ops/records/Base.td"

// What the records of `n` spatial dimensions have in common.
class ConvDims<int n> {
  string name = n # "d";
  int rank = !add(n, 2);
  string ones = !cond(!eq(n, 1): "{1}", !eq(n, 2): "{1, 1}", true: "{1, 1, 1}");
  string zeros = !cond(!eq(n, 1): "{0}", !eq(n, 2): "{0, 0}", true: "{0, 0, 0}");
  string word = !cond(!eq(n, 1): "one", !eq(n, 2): "two", true: "three") # "-dimensional";
  string axes = !cond(!eq(n, 1): "the sequence", !eq(n, 2): "height and width", true: "depth, height and width");
  string image = !cond(!eq(n, 1): "L", !eq(n, 2): "H, W", true: "D, H, W");
  string kernel = !cond(!eq(n, 1): "K", !eq(n, 2): "KH, KW", true: "KD, KH, KW");
  string target = !cond(!eq(n, 1): "OL", !eq(n, 2): "OH, OW", true: "OD, OH, OW");
  // Factors for a result whose elements have a window each, and for one where each element of x adds to a window.
  list<string> multiplyAdds = ["product(#out)", "product(without(#weight, 0))"];
  list<string> transposedMultiplyAdds = ["product(#x)", "product(without(#weight, 0))"];
  dag attrs = (ins DefaultValuedAttr<DenseI64ArrayAttr, ones>:$strides,
                   DefaultValuedAttr<DenseI64ArrayAttr, zeros>:$padding,
                   DefaultValuedAttr<DenseI64ArrayAttr, ones>:$dilation, DefaultValuedAttr<SI64Attr, "1">:$groups);
  list<AttrFact> facts = [Length<"strides", n>, Length<"padding", n>, Length<"dilation", n>, Range<"strides", "1", "1e9">,
                          Range<"padding", "0", "1e9">, Range<"dilation", "1", "1e9">, Range<"groups", "1", "1e9">,
                          Doc<"strides", "distance of windows along " # axes>,
                          Doc<"padding", "zeros added on both sides of " # axes>,
                          Doc<"dilation", "distance of the elements of a window">,
                          Doc<"groups", "number of independent blocks of channels">, BindTime<"strides">,
                          BindTime<"padding">, BindTime<"dilation">, BindTime<"groups">];
  list<string> geometry = ["operands must have rank " # rank, "channels of x must be groups times those of weight",
                           "output channels must be a multiple of groups", "window must fit into the padded input"];
}
defvar sameConv = "strides=$strides;padding=$padding;dilation=$dilation;groups=$groups";

class ConvBase<string m, string what, ConvDims d, string operands> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Library<m>;
  let attrFacts = d.facts;
  let oracle = Oracle<"tess_oracle." # operands>;
  let python = Py<"functional.conv", m>;
}

class Conv<ConvDims d>
    : ConvBase<"conv" # d.name, d.word # " convolution (cross-correlation)", d,
               "conv(x, weight, strides, padding, dilation, groups)"> {
  let autocast = "low";
  let description = [{`out[n, o, *i]` is the sum over c and *k of `x[n, c, *i * strides - padding + *k * dilation] *
    weight[o, c, *k]`, c running over the channels of the group of o; beyond its edges x is 0. x is [N, C, }] # d.image #
    "], weight [O, C/groups, " # d.kernel # "], the result [N, O, " # d.target # [{] with sizes `floor((size + 2 * padding -
    dilation * (window - 1) - 1) / strides) + 1`.}];
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), d.attrs);
  let shapeRule = "conv";
  let multiplyAdds = d.multiplyAdds;
  let dtypes = Promote<["x", "weight"]>;
  let gradient = [(op<"conv" # d.name # "_backward_data", sameConv> $weight, $dout, $x),
                  (op<"conv" # d.name # "_backward_weight", sameConv> $x, $dout, $weight)];
  let constraints = d.geometry;
  let onnx = "Conv(...)";
}
class ConvBackwardData<ConvDims d>
    : ConvBase<"conv" # d.name # "_backward_data", "gradient of a " # d.word # " convolution for its input", d,
               "conv_backward_data(weight, dout, like.shape, strides, padding, dilation, groups)"> {
  let description = "The gradient of `sum(conv" # d.name # [{(x, weight) * dout)` by x, which is the transposed
    convolution of dout. Of `like`, in place of x, only the shape counts; elements of x that no window covers get 0.}];
  let arguments = !con((ins Tess_Float:$weight, Tess_Float:$dout, Tess_Float:$like), d.attrs);
  let shapes = "(O, I, *K), (N, O, *R), (N, C, *S) -> (N, C, *S)";
  let check = "convBackwardData";
  let multiplyAdds = ["product(#dout)", "product(without(#weight, 0))"];
  let dtypes = Promote<["weight", "dout", "like"]>;
  let gradient = [(op<"conv" # d.name # "_backward_weight", sameConv> $dgrad, $dout, $weight),
                  (op<"conv" # d.name, sameConv> $dgrad, $weight), (none)];
  let results = (outs Tess_Float:$grad);
  let constraints = !listconcat(d.geometry, ["dout must have the shape of the convolution's result"]);
}
class ConvBackwardWeight<ConvDims d>
    : ConvBase<"conv" # d.name # "_backward_weight", "gradient of a " # d.word # " convolution for its weight", d,
               "conv_backward_weight(x, dout, like.shape, strides, padding, dilation, groups)"> {
  let description = "The gradient of `sum(conv" # d.name # [{(x, weight) * dout)` by weight. Of `like`, in place of
    weight, only the shape counts.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$dout, Tess_Float:$like), d.attrs);
  let shapes = "(N, C, *S), (N, O, *R), (O, I, *K) -> (O, I, *K)";
  let check = "convBackwardWeight";
  let multiplyAdds = ["product(#dout)", "product(without(#like, 0))"];
  let dtypes = Promote<["x", "dout", "like"]>;
  let gradient = [(op<"conv" # d.name # "_backward_data", sameConv> $dgrad, $dout, $x),
                  (op<"conv" # d.name, sameConv> $x, $dgrad), (none)];
  let results = (outs Tess_Float:$grad);
  let constraints = !listconcat(d.geometry, ["dout must have the shape of the convolution's result"]);
}
class ConvTranspose<ConvDims d>
    : ConvBase<"conv_transpose" # d.name, d.word # " transposed convolution", d,
               "conv_transpose(x, weight, strides, padding, dilation, groups, output_padding)"> {
  let autocast = "low";
  let description = "The gradient of a convolution with this weight by its input, where x is the gradient of its " #
    "result: each element of x adds the weight of its channel, multiplied by it, to a window of the result. x is [N, C, " #
    d.image # "], weight [C, O/groups, " # d.kernel # "], the result [N, O, " # d.target # [{] with sizes `(size - 1) *
    strides - 2 * padding + dilation * (window - 1) + 1 + output_padding`. V. Dumoulin, F. Visin: A Guide to
    Convolution Arithmetic for Deep Learning, arXiv:1603.07285.}];
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), d.attrs,
                       (ins DefaultValuedAttr<DenseI64ArrayAttr, d.zeros>:$output_padding));
  let attrFacts = !listconcat(d.facts, [Length<"output_padding", !add(d.rank, -2)>, Range<"output_padding", "0", "1e9">,
                                        BindTime<"output_padding">,
                                        Doc<"output_padding", "rows added at the end of " # d.axes>]);
  let shapeRule = "convTranspose";
  let multiplyAdds = d.transposedMultiplyAdds;
  let dtypes = Promote<["x", "weight"]>;
  let gradient = [(op<"conv" # d.name, sameConv> $dout, $weight),
                  (op<"conv" # d.name # "_backward_weight", sameConv> $dout, $x, $weight)];
  let constraints = ["operands must have rank " # d.rank, "channels of x must be those of weight",
                     "channels of x must be a multiple of groups", "output_padding must be below strides",
                     "padding must leave elements of the result"];
  let onnx = "ConvTranspose(...)";
}

def Tess_Conv1dOp : Conv<ConvDims<1>> {
  let samples = [Sample<["2,3,7", "4,3,3"]>, Sample<["2,4,8", "6,2,3"], "strides=[2];padding=[1];groups=2">,
                 Sample<["1,2,9", "2,1,3"], "dilation=[2];groups=2">, Sample<["0,3,5", "4,3,1"]>];
}
def Tess_Conv1dBackwardDataOp : ConvBackwardData<ConvDims<1>> {
  let samples = [Sample<["4,3,3", "2,4,5", "2,3,7"]>, Sample<["6,2,3", "2,6,4", "2,4,8"], "strides=[2];padding=[1];groups=2">,
                 Sample<["2,1,3", "1,2,5", "1,2,9"], "dilation=[2];groups=2">];
}
def Tess_Conv1dBackwardWeightOp : ConvBackwardWeight<ConvDims<1>> {
  let samples = [Sample<["2,3,7", "2,4,5", "4,3,3"]>, Sample<["2,4,8", "2,6,4", "6,2,3"], "strides=[2];padding=[1];groups=2">,
                 Sample<["1,2,9", "1,2,5", "2,1,3"], "dilation=[2];groups=2">];
}
def Tess_ConvTranspose1dOp : ConvTranspose<ConvDims<1>> {
  let samples = [Sample<["2,3,5", "3,4,3"]>, Sample<["2,4,4", "4,2,3"], "strides=[2];padding=[1];output_padding=[1]">,
                 Sample<["1,4,5", "4,2,2"], "dilation=[2];groups=2">, Sample<["0,3,5", "3,4,1"]>];
}
def Tess_Conv2dOp : Conv<ConvDims<2>> {
  let samples = [Sample<["2,3,5,6", "4,3,3,3"]>, Sample<["2,3,5,6", "4,3,3,2"], "padding=[1, 1]">,
                 Sample<["1,4,7,7", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["1,2,9,9", "2,1,3,3"], "dilation=[2, 3];groups=2">, Sample<["0,3,5,5", "4,3,1,1"]>];
}
def Tess_Conv2dBackwardDataOp : ConvBackwardData<ConvDims<2>> {
  let samples = [Sample<["4,3,3,3", "2,4,3,4", "2,3,5,6"]>,
                 Sample<["6,2,3,3", "1,6,4,5", "1,4,7,7"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["4,3,3,3", "2,4,3,5", "2,3,7,7"], "dilation=[2, 1]">];
}
def Tess_Conv2dBackwardWeightOp : ConvBackwardWeight<ConvDims<2>> {
  let samples = [Sample<["2,3,5,6", "2,4,3,4", "4,3,3,3"]>,
                 Sample<["1,4,7,7", "1,6,4,5", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["2,3,7,7", "2,4,3,5", "4,3,3,3"], "dilation=[2, 1]">];
}
def Tess_ConvTranspose2dOp : ConvTranspose<ConvDims<2>> {
  let samples = [Sample<["2,3,4,5", "3,4,3,3"]>, Sample<["1,4,4,5", "4,3,3,2"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 Sample<["1,2,3,4", "2,3,3,3"], "strides=[2, 3];dilation=[2, 1];output_padding=[1, 2]">,
                 Sample<["0,3,4,4", "3,4,1,1"]>];
}
def Tess_Conv3dOp : Conv<ConvDims<3>> {
  let samples = [Sample<["2,2,3,4,5", "3,2,2,3,3"]>, Sample<["1,2,3,4,3", "2,2,1,3,2"], "padding=[1, 0, 1]">,
                 Sample<["1,4,3,5,4", "2,2,2,3,1"], "strides=[1, 2, 3];padding=[1, 1, 0];groups=2">,
                 Sample<["1,1,5,3,5", "2,1,2,1,3"], "dilation=[3, 1, 2]">, Sample<["0,2,3,3,3", "4,2,1,1,1"]>];
}
def Tess_Conv3dBackwardDataOp : ConvBackwardData<ConvDims<3>> {
  let samples = [Sample<["3,2,2,3,3", "2,3,2,2,3", "2,2,3,4,5"]>,
                 Sample<["2,2,2,3,1", "1,2,4,3,2", "1,4,3,5,4"], "strides=[1, 2, 3];padding=[1, 1, 0];groups=2">,
                 Sample<["2,1,2,1,3", "1,2,2,3,1", "1,1,5,3,5"], "dilation=[3, 1, 2]">];
}
def Tess_Conv3dBackwardWeightOp : ConvBackwardWeight<ConvDims<3>> {
  let samples = [Sample<["2,2,3,4,5", "2,3,2,2,3", "3,2,2,3,3"]>,
                 Sample<["1,4,3,5,4", "1,2,4,3,2", "2,2,2,3,1"], "strides=[1, 2, 3];padding=[1, 1, 0];groups=2">,
                 Sample<["1,1,5,3,5", "1,2,2,3,1", "2,1,2,1,3"], "dilation=[3, 1, 2]">];
}
def Tess_ConvTranspose3dOp : ConvTranspose<ConvDims<3>> {
  let samples = [Sample<["2,2,2,3,2", "2,3,2,1,3"]>,
                 Sample<["1,4,2,3,2", "4,1,2,3,1"], "strides=[1, 2, 3];padding=[0, 1, 0];groups=2">,
                 Sample<["1,1,2,2,3", "1,2,2,2,1"], "strides=[2, 1, 2];dilation=[1, 2, 1];output_padding=[1, 0, 1]">,
                 Sample<["0,2,3,3,3", "2,3,1,1,1"]>];
}

#endif // TESS_OPS_CONV
