//===- Quantized.td - numbers to stored integers, and back ---*- tablegen -*-===//
//
// A cast to or from a quantized dtype becomes one of the first two. Scale and zero point
// are operands, so that all parameters share one kernel; they are those of the
// dtype, one each or one for each channel.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_QUANTIZED
#define TESS_OPS_QUANTIZED

include "ops/records/Base.td"
include "ops/records/Conv.td"

defvar scaled = (s_div $x, $scale);
// The largest float32 below 1/2: added away from 0, it takes halves and nothing less over the next integer.
defvar roundedAway = (s_trunc (s_add scaled, (s_mul (s_sign scaled), C<"0.4999999701976776">)));

def Tess_QuantizeOp : Tess_Op<"quantize"> {
  let summary = "numbers as the integers of a quantized dtype";
  let description = [{`out = saturate(round(x / scale) + zero_point)` in float32, halves away from zero, within the
    numbers that dtype stores; NaN is stored as 0. astype calls it with the parameters of dtype. An integer dtype has
    the integers without saying what they stand for.}];
  let arguments = (ins Tess_F32:$x, Tess_F32:$scale, Tess_I32:$zero_point, Tess_DTypeAttr:$dtype);
  let results = (outs Tess_QuantizedOrInt:$out);
  let shapes = "(*D), (*D), (*D) -> (*D)";
  let dtypes = FromAttr<"dtype">;
  let lowering = Elementwise_;
  let scalar = [(s_cast (s_add roundedAway, $zero_point))];
  let attrFacts = [Doc<"dtype", "quantized or integer dtype of the result">];
  let samples = [Sample<["2,3", "", ""], "dtype=qint8<0.5>", "-2; 0.1; 0", "2; 0.2; 1">,
                 Sample<["4", "", ""], "dtype=quint8<0.05:3>", "-2; 0.1; 3", "2; 0.2; 4">,
                 Sample<["2,3", "", ""], "dtype=u8", "-2; 0.1; 3", "2; 0.2; 4">,
                 Sample<["2,0", "", ""], "dtype=qint32<0.5>", "-2; 0.1; 0", "2; 0.2; 1">,
                 Sample<["2,3", "2,1", "2,1"], "dtype=quint4<0.5:1>", "-2; 0.1; 1", "2; 0.2; 3">];
  let oracle = Oracle<"tess_oracle.quantize(x, scale, zero_point, dtype)">;
  let python = Py<"functional.tensor", "quantize", [], "", ["x=inp"]>;
  let onnx = "QuantizeLinear(...)";
}
def Tess_DequantizeOp : Tess_Op<"dequantize"> {
  let summary = "what the integers of a quantized dtype stand for";
  let description = [{`out = (x - zero_point) * scale` in float32. astype calls it with the parameters of the dtype of x. Integers are taken
    as such ones.}];
  let arguments = (ins Tess_QuantizedOrInt:$x, Tess_F32:$scale, Tess_I32:$zero_point);
  let results = (outs Tess_F32:$out);
  let shapes = "(*D), (*D), (*D) -> (*D)";
  let dtypes = Fixed<"f32">;
  let lowering = Elementwise_;
  let scalar = [(s_mul (s_sub (s_cast $x), $zero_point), $scale)];
  let samples = [Sample<["2,3", "", ""], "", "-8; 0.5; 0", "8; 1; 1", ["qint8<0.5>"]>,
                 Sample<["0,3", "", ""], "", "-8; 0.5; 0", "8; 1; 1", ["qint8<0.5>"]>,
                 Sample<["2,3", "1,3", "1,3"], "", "-8; 0.5; 0", "8; 1; 1", ["qint8<0.5>"]>,
                 Sample<["2,3", "", ""], "", "-8; 0.5; 0", "8; 1; 1", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]>];
  let oracle = Oracle<"tess_oracle.dequantize(x, scale, zero_point)">;
  let python = Py<"functional.tensor", "dequantize", [], "", ["x=inp"]>;
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> x = ts.tensor([1.0], dtype=\"qint8<0.5>\")\n",
                           ">>> F.dequantize(x, 0.5, 0).tolist()\n[1.0]");
  let onnx = "DequantizeLinear(...)";
}

def Tess_QuantizedConv2dOp : Tess_Op<"quantized_conv2d", [AttrSizedOperandSegments]> {
  defvar d = ConvDims<2>;
  let summary = "convolution, activation and quantization of images of bytes";
  let description = [{`out = quantize(activation(float32(sum + bias_q) * scale + r), out_scale, out_zero)`, sum being that of
    integer_conv2d, `scale = x_scale * weight_scale` of the channel, bias_q quantize(bias, scale, 0) within 2^30 and r the residual
    that dequantize gives: the bits are those of these operators. weight_scale and bias are one number or one for each channel.}];
  let arguments = !con((ins Tess_Byte:$x, Tess_SignedByte:$weight, Tess_F32:$x_scale, Tess_I32:$x_zero, Tess_F32:$weight_scale,
                        Tess_F32:$out_scale, Tess_I32:$out_zero, Tess_F32:$bias, Optional<Tess_Byte>:$residual,
                        Optional<Tess_F32>:$residual_scale, Optional<Tess_I32>:$residual_zero), d.attrs,
                       (ins DefaultValuedStrAttr<StrAttr, "identity">:$activation, DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$dtype));
  let results = (outs Tess_Byte:$out);
  let dtypes = FromAttr<"dtype">;
  let lowering = Library<"quantized_conv2d">;
  let shapeRule = "quantizedConv";
  let multiplyAdds = d.multiplyAdds;
  let constraints = !listconcat(d.geometry,
      !foreach(n, ["x_scale", "x_zero", "out_scale", "out_zero", "residual_scale", "residual_zero"], n # " must have rank 0"),
      ["weight_scale must have rank 0 to 1", "bias must have rank 0 to 1",
       "weight_scale and bias must be one number or one for each output channel", "depth must leave half of int32 to the bias",
       "residual must come with its scale and zero point", "residual must have the shape of the result"]);
  let keepsAxes = 1;
  let sampleRank = 3;
  let attrFacts = !listconcat(d.facts, [Cases<"activation", ["identity", "relu", "hswish"]>, BindTime<"activation">,
                                        Doc<"activation", "function before the result is quantized">,
                                        Doc<"dtype", "quantized or integer dtype of the result, of 8 bits">]);
  defvar low = "-9; -9; 0.1; 0; 0.1; 0.1; 0; -2";
  defvar high = "9; 9; 0.2; 1; 0.2; 0.2; 1; 2";
  let samples = [Sample<["2,3,5,6", "4,3,3,3", "", "", "", "", "", ""], "", low, high, ["i8"]>,
                 Sample<["2,3,5,6", "4,3,3,2", "", "", "4", "", "", "4"], "padding=[1, 1];activation=\"relu\"", low, high, ["i8"]>,
                 Sample<["1,4,9,9", "4,4,3,3", "", "", "", "", "", ""], "dilation=[2, 3];dtype=u8", "0; -9; 0.1; 0; 0.1; 0.1; 0; -2", high,
                        ["u8", "i8"]>,
                 Sample<["1,16,8,7", "18,16,3,3", "", "", "18", "", "", "18", "1,18,8,7", "", ""],
                        "padding=[1, 1];activation=\"hswish\"", low # "; -9; 0.1; 0", high # "; 9; 0.2; 1", ["i8"]>,
                 Sample<["1,4,7,7", "6,2,3,3", "", "", "", "", "", "6", "1,6,4,5", "", ""],
                        "strides=[2, 1];padding=[1, 0];groups=2;dtype=u8", low # "; -9; 0.1; 0", high # "; 9; 0.2; 1", ["i8"]>,
                 Sample<["0,3,5,5", "4,3,1,1", "", "", "", "", "", ""], "dtype=qint8_narrow<0.5>", low, high, ["i8"]>];
  let oracle = Oracle<"tess_oracle.quantized_conv((x, weight, x_scale, x_zero, weight_scale, out_scale, out_zero, bias), " #
                      "(residual, residual_scale, residual_zero), (strides, padding, dilation, groups), activation, dtype)">;
  let python = Py<"functional.quantized", "quantized_conv2d">;
}

#endif // TESS_OPS_QUANTIZED
