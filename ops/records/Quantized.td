//===- Quantized.td - numbers to stored integers, and back ---*- tablegen -*-===//
//
// A cast to or from a quantized dtype becomes one of these. Scale and zero point
// are operands, so that all parameters share one kernel; they are those of the
// dtype, one each or one for each channel.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_QUANTIZED
#define TESS_OPS_QUANTIZED

include "ops/records/Base.td"

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

#endif // TESS_OPS_QUANTIZED
