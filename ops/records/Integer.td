//===- Integer.td - exact sums of products of bytes ----------*- tablegen -*-===//
//
// The sums of quantized layers (docs/reference/quantized.md): operands are what
// is stored, and zero points are operands.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_INTEGER
#define TESS_OPS_INTEGER

include "ops/records/Base.td"
include "ops/records/Conv.td"

class IntegerOp<string m, string what, list<Trait> traits = []> : Tess_Op<m, traits> {
  let summary = what;
  let results = (outs Tess_I32:$out);
  let dtypes = Fixed<"i32">;
  let lowering = Library<m>;
  let python = Py<"functional.quantized", m>;
}
defvar exactDepth = "depth must keep sums within int32";
defvar exactly = " Sums are exact: a depth at which the largest products could leave int32 is refused.";

def Tess_IntegerMatmulOp : IntegerOp<"integer_matmul", "matrix product of bytes, in int32", [AttrSizedOperandSegments]> {
  let description = !strconcat([{`out[..., m, n] = sum_k (x[..., m, k] - x_zero) * (y[..., k, n] - y_zero)`; leading axes broadcast. Without a
    zero point it is 0. Of quantized operands the stored integers count. As ONNX's MatMulInteger.}], exactly);
  let arguments = (ins Tess_Byte:$x, Tess_Byte:$y, Optional<Tess_I32>:$x_zero, Optional<Tess_I32>:$y_zero,
                   DefaultValuedAttr<BoolAttr, "false">:$transpose_x, DefaultValuedAttr<BoolAttr, "false">:$transpose_y);
  let shapes = "transpose_x ? (*B, K, M) : (*B, M, K), transpose_y ? (*B, N, K) : (*B, K, N), ()?, ()? -> (*B, M, N)";
  let multiplyAdds = ["product(#out)", "#x[$transpose_x ? -2 : -1]"];
  let check = "integerMatmul";
  let constraints = [exactDepth];
  let attrFacts = [Doc<"transpose_x", "swap the last two axes of x first">,
                   Doc<"transpose_y", "swap the last two axes of y first">, BindTime<"transpose_x">, BindTime<"transpose_y">];
  let samples = [Sample<["2,3", "3,4"], "", "-9; -9", "9; 9", ["i8"]>, Sample<["2,3", "3,4", ""], "", "0; 0; 1", "9; 9; 3", ["u8"]>,
                 Sample<["5,2,3", "3,4", "", ""], "", "-9; -9; -2; 1", "9; 9; 0; 4", ["i8"]>,
                 Sample<["2,3", "5,3,4"], "", "0", "9", ["u8"]>,
                 Sample<["3,2", "3,4"], "transpose_x=true", "-9", "9", ["i8"]>,
                 Sample<["2,3", "4,3"], "transpose_y=true", "-9", "9", ["i8"]>,
                 Sample<["2,1,3,2", "5,4,3"], "transpose_x=true;transpose_y=true", "-9", "9", ["i8"]>,
                 Sample<["0,3", "3,4"], "", "-9", "9", ["i8"]>, Sample<["2,0", "0,4", "", ""], "", "-9", "9", ["i8"]>,
                 Sample<["3,70", "70,33", "", ""], "", "0; 0; 3; 3", "255; 255; 200; 200", ["u8"]>];
  let oracle = Oracle<"tess_oracle.integer_matmul(x, y, x_zero, y_zero, transpose_x, transpose_y)">;
  let onnx = "MatMulInteger(...)";
}

class IntegerConv<ConvDims d> : IntegerOp<"integer_conv" # d.name, d.word # " convolution of bytes, in int32"> {
  let description = !strconcat([{`out[n, o, *i]` is the sum over c and *k of `(x[n, c, *i * strides - padding + *k * dilation] - x_zero) *
    weight[o, c, *k]`, c running over the channels of the group of o; beyond its edges x is x_zero, which adds nothing.
    Without a zero point it is 0. x is [N, C, }] # d.image # "], weight [O, C/groups, " # d.kernel # "], the result [N, O, " #
    d.target # "]. Of quantized operands the stored integers count. As ONNX's ConvInteger.", exactly);
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let arguments = !con((ins Tess_Byte:$x, Tess_SignedByte:$weight, Optional<Tess_I32>:$x_zero), d.attrs);
  let shapeRule = "integerConv";
  let multiplyAdds = d.multiplyAdds;
  let attrFacts = d.facts;
  let constraints = !listconcat(d.geometry, ["x_zero must have rank 0", exactDepth]);
  let oracle = Oracle<"tess_oracle.integer_conv(x, weight, x_zero, strides, padding, dilation, groups)">;
}
class IntegerConvTranspose<ConvDims d>
    : IntegerOp<"integer_conv_transpose" # d.name, d.word # " transposed convolution of bytes, in int32"> {
  let description = !strconcat("Each element of x, less x_zero, adds the weight of its channel, multiplied by it, to a window of the " #
    "result. x is [N, C, " # d.image # "], weight [C, O/groups, " # d.kernel # "], the result [N, O, " # d.target #
    "] with the sizes of conv_transpose" # d.name # ". Of quantized operands the stored integers count.", exactly);
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let arguments = !con((ins Tess_Byte:$x, Tess_SignedByte:$weight, Optional<Tess_I32>:$x_zero), d.attrs,
                       (ins DefaultValuedAttr<DenseI64ArrayAttr, d.zeros>:$output_padding));
  let shapeRule = "integerConvTranspose";
  let multiplyAdds = d.transposedMultiplyAdds;
  let attrFacts = !listconcat(d.facts, [Length<"output_padding", !add(d.rank, -2)>, Range<"output_padding", "0", "1e9">,
                                        BindTime<"output_padding">,
                                        Doc<"output_padding", "rows added at the end of " # d.axes>]);
  let constraints = ["operands must have rank " # d.rank, "channels of x must be those of weight",
                     "channels of x must be a multiple of groups", "output_padding must be below strides",
                     "padding must leave elements of the result", "x_zero must have rank 0", exactDepth];
  let oracle = Oracle<"tess_oracle.integer_conv_transpose(x, weight, x_zero, strides, padding, dilation, groups, output_padding)">;
}
// Samples of bytes without and with a zero point.
class SignedSample<list<string> s, string attrs = ""> : Sample<s, attrs, "-9", "9", ["i8"]>;
class UnsignedSample<list<string> s, string attrs = ""> : Sample<!listconcat(s, [""]), attrs, "0; -9; 1", "9; 9; 5", ["u8", "i8"]>;

def Tess_IntegerConv1dOp : IntegerConv<ConvDims<1>> {
  let samples = [SignedSample<["2,3,7", "4,3,3"]>, UnsignedSample<["2,4,8", "6,2,3"], "strides=[2];padding=[1];groups=2">,
                 SignedSample<["1,2,9", "2,1,3"], "dilation=[2];groups=2">, UnsignedSample<["0,3,5", "4,3,1"]>];
}
def Tess_IntegerConv2dOp : IntegerConv<ConvDims<2>> {
  let samples = [SignedSample<["2,3,5,6", "4,3,3,3"]>, UnsignedSample<["2,3,5,6", "4,3,3,2"], "padding=[1, 1]">,
                 UnsignedSample<["1,4,7,7", "6,2,3,3"], "strides=[2, 1];padding=[1, 0];groups=2">,
                 SignedSample<["1,2,9,9", "2,1,3,3"], "dilation=[2, 3];groups=2">, SignedSample<["0,3,5,5", "4,3,1,1"]>,
                 UnsignedSample<["1,9,6,5", "5,9,1,1"]>, UnsignedSample<["1,16,8,7", "18,16,3,3"], "padding=[1, 1]">];
  let onnx = "ConvInteger(...)";
}
def Tess_IntegerConv3dOp : IntegerConv<ConvDims<3>> {
  let samples = [SignedSample<["1,2,3,4,5", "3,2,2,2,2"]>, SignedSample<["1,2,4,5,5", "3,2,2,2,2"], "dilation=[2, 1, 2]">,
                 UnsignedSample<["1,4,3,4,4", "4,2,2,3,3"], "strides=[1, 2, 1];padding=[1, 1, 0];groups=2">];
}
def Tess_IntegerConvTranspose1dOp : IntegerConvTranspose<ConvDims<1>> {
  let samples = [SignedSample<["2,3,5", "3,4,3"]>, UnsignedSample<["2,4,4", "4,2,3"], "strides=[2];padding=[1];output_padding=[1]">,
                 UnsignedSample<["1,4,5", "4,2,2"], "dilation=[2];groups=2">];
}
def Tess_IntegerConvTranspose2dOp : IntegerConvTranspose<ConvDims<2>> {
  let samples = [SignedSample<["1,3,4,3", "3,4,3,3"]>, SignedSample<["1,2,3,3", "2,3,2,2"], "dilation=[2, 1]">,
                 UnsignedSample<["2,4,3,3", "4,2,2,3"], "strides=[2, 2];padding=[1, 0];output_padding=[1, 0];groups=2">];
}
def Tess_IntegerConvTranspose3dOp : IntegerConvTranspose<ConvDims<3>> {
  let samples = [SignedSample<["1,2,2,3,3", "2,3,2,2,2"]>, UnsignedSample<["1,2,2,2,3", "2,2,2,2,2"], "strides=[1, 2, 1]">,
                 UnsignedSample<["1,4,2,2,3", "4,2,2,2,2"],
                                "strides=[1, 2, 1];padding=[0, 1, 0];output_padding=[0, 1, 0];groups=2;dilation=[2, 1, 1]">];
}

#endif // TESS_OPS_INTEGER
