//===- Simulated.td - quantization in training ---------------*- tablegen -*-===//
//
// Numbers on the grid of a quantized dtype, and steps 1 to 3 of
// docs/reference/quantized.md on float32 operands: sums are those of the integers,
// gradients those of the float operators.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_SIMULATED
#define TESS_OPS_SIMULATED

include "ops/records/Integer.td"
include "ops/records/Quantized.td"

//===----------------------------------------------------------------------===//
// Numbers on the grid of a quantized dtype
//===----------------------------------------------------------------------===//
defvar noZero = (op<"full", "shape=[];value=0;dtype=i32">);
defvar gridAttrs = (ins Runtime<DefaultValuedAttr<F64Attr, "-128.0">>:$qmin, Runtime<DefaultValuedAttr<F64Attr, "127.0">>:$qmax);
defvar gridFacts = [Doc<"qmin", "smallest integer of the dtype">, Doc<"qmax", "largest integer of the dtype">,
                    Range<"qmin", "-2147483648.0", "2147483647.0">, Range<"qmax", "-2147483648.0", "2147483647.0">];

// Whether x is stored without saturating, and what gradients of scales need.
class OnGrid<dag step, dag zero> {
  dag rounded = (op<"quantize", "dtype=i32"> $x, step, noZero);
  dag lower = (op<"sub"> (op<"full", "shape=[];value=$qmin;dtype=i32">), zero);
  dag upper = (op<"sub"> (op<"full", "shape=[];value=$qmax;dtype=i32">), zero);
  dag isInside = (op<"logical_and"> (op<"greater_equal"> rounded, lower), (op<"less_equal"> rounded, upper));
  dag passed = (op<"where"> isInside, $dout, K<"0", "dout">);
  // The slope by the step: of an element within the range how far rounding moved it, in steps, and beyond it the end.
  dag moved = (op<"sub"> (op<"cast", "dtype=f32"> rounded), (op<"div"> $x, step));
  dag ends = (op<"cast", "dtype=f32"> (op<"minimum"> (op<"maximum"> rounded, lower), upper));
  dag slope = (op<"mul"> $dout, (op<"where"> isInside, moved, ends));
}

def Tess_FakeQuantOp : Tess_Op<"fake_quant"> {
  let summary = "numbers on the grid of a quantized dtype";
  let description = [{`out = (q - zero_point) * scale` with `q = clip(round(x / scale) + zero_point, qmin, qmax)`, in float32 with halves
    away from zero: dequantize of quantize. The gradient of x passes where nothing saturates (straight through: Y. Bengio
    et al., arXiv:1308.3432), and the parameters have none. NaN becomes the integer 0.}];
  let arguments = !con((ins Tess_F32:$x, Tess_F32:$scale, Tess_I32:$zero_point), gridAttrs);
  let results = (outs Tess_F32:$out);
  let shapes = "(*D), (*D), (*D) -> (*D)";
  let dtypes = Fixed<"f32">;
  let lowering = Elementwise_;
  defvar limited = (s_min (s_max (s_add roundedAway, $zero_point), $qmin), $qmax);
  let scalar = [(s_mul (s_sub (s_select (s_isnan scaled), C<"0">, limited), $zero_point), $scale)];
  let gradient = [OnGrid<(same $scale), (same $zero_point)>.passed, (none), (none)];
  let attrFacts = gridFacts;
  let samples = [Sample<["2,3", "", ""], "", "-2; 0.1; 0", "2; 0.2; 1">,
                 Sample<["4", "", ""], "qmin=0.0;qmax=255.0", "-2; 0.05; 3", "2; 0.2; 4">,
                 Sample<["2,3", "2,1", "2,1"], "qmin=0.0;qmax=15.0", "-2; 0.1; 1", "2; 0.2; 3">, Sample<["2,0", "", ""]>];
  let oracle = Oracle<"tess_oracle.fake_quant(x, scale, zero_point, qmin, qmax)">;
  let python = Py<"functional.tensor", "fake_quant">;
}
def Tess_TqtOp : Tess_Op<"tqt"> {
  let summary = "numbers on a grid whose step is a trained power of two";
  let description = [{fake_quant without a zero point and with the step `2 ** ceil(scale)`. The gradient of scale is that of S. R. Jain et al.,
    Trained Quantization Thresholds, arXiv:1903.08066, equation 6: the step times ln 2 times `round(x / step) - x / step` where
    nothing saturates, else times the end.}];
  let arguments = !con((ins Tess_F32:$x, Tess_F32:$scale), gridAttrs);
  let results = (outs Tess_F32:$out);
  let shapes = "(*D), (*D) -> (*D)";
  let dtypes = Fixed<"f32">;
  let lowering = Composite<>;
  // Exact in float32.
  defvar power = (op<"pow"> (op<"full", "shape=[];value=2.0;dtype=f64">), (op<"cast", "dtype=f64"> (op<"ceil"> $scale)));
  defvar step = (op<"cast", "dtype=f32"> power);
  defvar grid = OnGrid<step, noZero>;
  let forward = [(op<"fake_quant", "qmin=$qmin;qmax=$qmax"> $x, step, noZero)];
  let gradient = [grid.passed, (op<"mul"> grid.slope, (op<"mul"> step, K<"0.6931471805599453", "scale">))];
  let attrFacts = gridFacts;
  let samples = [Sample<["2,3", ""], "", "-2; -3", "2; -2">, Sample<["2,3", ""], "qmin=-8.0;qmax=7.0", "-2; -3", "2; -2">,
                 Sample<["2,3", "2,1"], "", "-2; -3", "2; -2">, Sample<["0", ""]>];
  let oracle = Oracle<"tess_oracle.fake_quant(x, 2 ** np.ceil(scale), 0, qmin, qmax)">;
  let python = Py<"functional.tensor", "tqt">;
}
def Tess_LsqOp : Tess_Op<"lsq"> {
  let summary = "numbers on a grid whose step is trained";
  let description = [{fake_quant. The gradient of scale is that of S. K. Esser et al., Learned Step Size Quantization, arXiv:1902.08153,
    equation 3, times grad_scale: `round(x / scale) - x / scale` where nothing saturates, else the end.}];
  let arguments = !con((ins Tess_F32:$x, Tess_F32:$scale, Tess_I32:$zero_point, Tess_F32:$grad_scale), gridAttrs);
  let results = (outs Tess_F32:$out);
  let shapes = "(*D), (*D), (*D), () -> (*D)";
  let dtypes = Fixed<"f32">;
  let lowering = Composite<>;
  defvar grid = OnGrid<(same $scale), (same $zero_point)>;
  let forward = [(op<"fake_quant", "qmin=$qmin;qmax=$qmax"> $x, $scale, $zero_point)];
  let gradient = [grid.passed, (op<"mul"> grid.slope, $grad_scale), (none), (none)];
  let attrFacts = gridFacts;
  let samples = [Sample<["2,3", "", "", ""], "", "-2; 0.1; 0; 0.5", "2; 0.2; 1; 1">,
                 Sample<["2,3", "", "", ""], "qmin=0.0;qmax=15.0", "-2; 0.1; 3; 0.5", "2; 0.2; 4; 1">,
                 Sample<["2,3", "2,1", "2,1", ""], "", "-2; 0.1; 0; 0.5", "2; 0.2; 1; 1">, Sample<["0", "", "", ""]>];
  let oracle = Oracle<"tess_oracle.fake_quant(x, scale, zero_point, qmin, qmax)">;
  let python = Py<"functional.tensor", "lsq">;
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//
// Scales of channels along the first axis of a tensor, or one for all.
class AlongFirst<dag scale, string name, string ones> {
  dag all = (when<"len(#" # name # ") == 1"> (op<"reshape", "shape=[-1" # ones # "]"> scale), scale);
}
class SimulatedOp<string m, string what> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_F32:$out);
  let dtypes = Fixed<"f32">;
  let lowering = Composite<>;
  let python = Py<"functional.quantized", m>;
}
// The description of `float` by integers.
class ByIntegers<string float> {
  string text = float # " of operands that are quantized by x_scale and x_zero as dtype, and weight by weight_scale as int8: " #
    "the integers are summed, and the bias is added as an integer of scale x_scale * weight_scale. weight_scale is one " #
    "number or one for each output channel. Gradients are those of " # float # " at the operands as they are (straight through).";
}
defvar scaleFacts = [Doc<"dtype", "int8 or uint8, of the integers of x">];
defvar productScale = (op<"mul"> $x_scale, $weight_scale);
defvar integersOfX = (op<"quantize", "dtype=$dtype"> $x, $x_scale, $x_zero);
// `sum` with its bias, scaled; `ones` are the axes behind those of channels.
class ScaledSum<dag sum, string ones> {
  defvar integers = (op<"quantize", "dtype=i32"> $bias, productScale, noZero);
  defvar limited = (op<"clip", "lower=-1073741824.0;upper=1073741824.0"> integers);
  defvar biased = (when<"given(bias)"> (op<"add"> sum, (op<"reshape", "shape=[-1" # ones # "]"> limited)), sum);
  dag all = (op<"mul"> (op<"cast", "dtype=f32"> biased), AlongFirst<productScale, "weight_scale", ones>.all);
}
// The integers of x are of `dtype`, without a zero point where that is int8.
class WithoutZero<dag symmetric, dag withZero> { dag all = (when<"$dtype == i8"> symmetric, withZero); }
class SimulatedNeeds<string depth, string channels = "#weight[0]", string more = ""> {
  list<Require> all = [Require<"dtype must be int8 or uint8", "$dtype == i8 || $dtype == u8", "{$dtype}">,
      Require<"weight_scale must have rank 0 to 1", "len(#weight_scale) <= 1", "weight_scale {weight_scale}">,
      Require<"weight_scale must be one number or one for each output channel",
              "len(#weight_scale) == 0 || (#weight_scale[0] == " # channels # more # ")",
              "weight_scale {weight_scale} and weight {weight}">,
      Require<"depth must leave half of int32 to the bias", "given(bias) ? " # depth # " <= ($dtype == i8 ? 65535 : 32896) : true",
              "weight {weight}">];
}

// Operand `name`, whose rank is fixed.
class HasRank<string name, int rank> : Require<name # " must have rank " # rank, "len(#" # name # ") == " # rank, name # " {" # name # "}">;
class ConvRanks<int rank> {
  list<Require> all = [HasRank<"x", rank>, HasRank<"weight", rank>, HasRank<"x_scale", 0>, HasRank<"x_zero", 0>];
}

def Tess_SimulatedLinearOp : SimulatedOp<"simulated_linear", "linear whose sums are those of integers"> {
  let description = ByIntegers<"linear">.text;
  let arguments = (ins Tess_F32:$x, Tess_F32:$weight, Tess_F32:$x_scale, Tess_I32:$x_zero, Tess_F32:$weight_scale,
                   Optional<Tess_F32>:$bias, DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$dtype);
  let shapes = "(*B, I), (O, I), (), (), (*S), (O)? -> (*B, O)";
  let requires = SimulatedNeeds<"#weight[1]">.all;
  defvar row = (when<"len(#x) == 1"> (op<"expand_dims", "axis=[0]"> integersOfX), integersOfX);
  defvar integers = (op<"quantize", "dtype=i8"> $weight, AlongFirst<(same $weight_scale), "weight_scale", ", 1">.all, noZero);
  defvar sums = WithoutZero<(op<"integer_matmul", "transpose_y=true"> row, integers),
                            (op<"integer_matmul", "transpose_y=true"> row, integers, $x_zero)>.all;
  defvar sum = (when<"len(#x) == 1"> (op<"squeeze", "axis=[0]"> sums), sums);
  let forward = [ScaledSum<sum, "">.all];
  defvar rows = (op<"reshape", "shape=[-1, #weight[1]]"> $x);
  defvar drows = (op<"reshape", "shape=[-1, #weight[0]]"> $dout);
  let gradient = [(op<"reshape_like"> (op<"matmul"> drows, $weight), $x), (op<"matmul", "transpose_x=true"> drows, rows),
                  (none), (none), (none), (op<"sum", "axes=[0]"> drows)];
  let attrFacts = scaleFacts;
  let samples = [Sample<["2,3", "4,3", "", "", ""], "", "-2; -2; 0.02; 0; 0.02", "2; 2; 0.03; 1; 0.03">,
                 Sample<["5,2,3", "4,3", "", "", "4", "4"], "dtype=u8", "-2; -2; 0.02; 99; 0.02; -2", "2; 2; 0.03; 120; 0.03; 2">,
                 Sample<["3", "4,3", "", "", "", "4"], "", "-2; -2; 0.02; 0; 0.02; -2", "2; 2; 0.03; 1; 0.03; 2">,
                 Sample<["0,3", "4,3", "", "", ""], "", "-2; -2; 0.02; 0; 0.02", "2; 2; 0.03; 1; 0.03">];
  let oracle = Oracle<"tess_oracle.simulated_linear(x, weight, x_scale, x_zero, weight_scale, bias, dtype)">;
}
def Tess_SimulatedMatmulOp : SimulatedOp<"simulated_matmul", "matrix product whose sums are those of integers"> {
  let description = [{matmul of operands that are quantized by x_scale and x_zero as dtype, and by y_scale and y_zero as y_dtype: the integers are
    summed. Gradients are those of matmul at the operands as they are (straight through).}];
  let arguments = (ins Tess_F32:$x, Tess_F32:$y, Tess_F32:$x_scale, Tess_I32:$x_zero, Tess_F32:$y_scale, Tess_I32:$y_zero,
                   DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$dtype, DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$y_dtype,
                   DefaultValuedAttr<BoolAttr, "false">:$transpose_x, DefaultValuedAttr<BoolAttr, "false">:$transpose_y);
  let shapes = "transpose_x ? (*B, K, M) : (*B, M, K), transpose_y ? (*B, N, K) : (*B, K, N), (), (), (), () -> (*B, M, N)";
  let requires = [Require<"dtypes must be int8 or uint8", "($dtype == i8 || $dtype == u8) && ($y_dtype == i8 || $y_dtype == u8)",
                          "{$dtype} and {$y_dtype}">];
  defvar integersOfY = (op<"quantize", "dtype=$y_dtype"> $y, $y_scale, $y_zero);
  defvar as = "transpose_x=$transpose_x;transpose_y=$transpose_y";
  defvar plain = (op<"integer_matmul", as> integersOfX, integersOfY);
  defvar withZeros = (op<"integer_matmul", as> integersOfX, integersOfY, $x_zero, $y_zero);
  defvar sum = (when<"$dtype == i8 && $y_dtype == i8"> plain, withZeros);
  let forward = [(op<"mul"> (op<"cast", "dtype=f32"> sum), (op<"mul"> $x_scale, $y_scale))];
  let gradient = [(when<"transpose_x=true"> (when<"transpose_y=true"> (op<"matmul", "transpose_x=true;transpose_y=true"> $y, $dout),
                                                                      (op<"matmul", "transpose_y=true"> $y, $dout)),
                                            (when<"transpose_y=true"> (op<"matmul"> $dout, $y), (op<"matmul", "transpose_y=true"> $dout, $y))),
                  (when<"transpose_y=true"> (when<"transpose_x=true"> (op<"matmul", "transpose_x=true;transpose_y=true"> $dout, $x),
                                                                      (op<"matmul", "transpose_x=true"> $dout, $x)),
                                            (when<"transpose_x=true"> (op<"matmul"> $x, $dout), (op<"matmul", "transpose_x=true"> $x, $dout))),
                  (none), (none), (none), (none)];
  let attrFacts = !listconcat(scaleFacts, [Doc<"y_dtype", "int8 or uint8, of the integers of y">,
                   Doc<"transpose_x", "swap the last two axes of x first">, Doc<"transpose_y", "swap the last two axes of y first">,
                   BindTime<"transpose_x">, BindTime<"transpose_y">]);
  defvar low = "-2; -2; 0.02; 0; 0.02; 0";
  defvar high = "2; 2; 0.03; 1; 0.03; 1";
  let samples = [Sample<["2,3", "3,4", "", "", "", ""], "", low, high>,
                 Sample<["5,2,3", "5,4,3", "", "", "", ""], "transpose_y=true;dtype=u8;y_dtype=u8", "-2; -2; 0.02; 99; 0.02; 88",
                        "2; 2; 0.03; 120; 0.03; 99">,
                 Sample<["3,2", "3,4", "", "", "", ""], "transpose_x=true", low, high>,
                 Sample<["2,1,3,2", "5,4,3", "", "", "", ""], "transpose_x=true;transpose_y=true", low, high>,
                 Sample<["2,0", "0,4", "", "", "", ""], "", low, high>];
  let oracle = Oracle<"tess_oracle.simulated_matmul(x, y, x_scale, x_zero, y_scale, y_zero, dtype, y_dtype, transpose_x, transpose_y)">;
}

// Axes behind those of channels, and the elements of a window over all its channels.
class Spatial<int n> {
  string ones = !cond(!eq(n, 1): ", 1", !eq(n, 2): ", 1, 1", true: ", 1, 1, 1");
  string axes = !cond(!eq(n, 1): "[0, 2]", !eq(n, 2): "[0, 2, 3]", true: "[0, 2, 3, 4]");
  string window = !cond(!eq(n, 1): "#weight[2]", !eq(n, 2): "#weight[2] * #weight[3]", true: "#weight[2] * #weight[3] * #weight[4]");
}
class SimulatedConv<int n> : SimulatedOp<"simulated_conv" # n # "d", ConvDims<n>.word # " convolution whose sums are those of integers"> {
  defvar d = ConvDims<n>;
  defvar s = Spatial<n>;
  defvar name = "conv" # d.name;
  let description = ByIntegers<name>.text;
  let arguments = !con((ins Tess_F32:$x, Tess_F32:$weight, Tess_F32:$x_scale, Tess_I32:$x_zero, Tess_F32:$weight_scale,
                        Optional<Tess_F32>:$bias, DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$dtype), d.attrs);
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let requires = !listconcat(ConvRanks<d.rank>.all, SimulatedNeeds<"#weight[1] * " # s.window>.all);
  defvar integers = (op<"quantize", "dtype=i8"> $weight, AlongFirst<(same $weight_scale), "weight_scale", ", 1" # s.ones>.all, noZero);
  defvar sum = WithoutZero<(op<"integer_" # name, sameConv> integersOfX, integers),
                           (op<"integer_" # name, sameConv> integersOfX, integers, $x_zero)>.all;
  let forward = [ScaledSum<sum, s.ones>.all];
  let gradient = [(op<name # "_backward_data", sameConv> $weight, $dout, $x), (op<name # "_backward_weight", sameConv> $x, $dout, $weight),
                  (none), (none), (none), (op<"sum", "axes=" # s.axes> $dout)];
  let attrFacts = !listconcat(scaleFacts, d.facts);
  let oracle = Oracle<"tess_oracle.simulated_conv(x, weight, x_scale, x_zero, weight_scale, bias, dtype, strides, padding, dilation, groups)">;
}
class SimulatedSample<list<string> s, string attrs = ""> : Sample<s, attrs, "-2; -2; 0.02; 0; 0.02; -2", "2; 2; 0.03; 1; 0.03; 2">;
class UnbiasedSample<list<string> s, string attrs = ""> : Sample<s, attrs, "-2; -2; 0.02; 0; 0.02", "2; 2; 0.03; 1; 0.03">;

def Tess_SimulatedConv1dOp : SimulatedConv<1> {
  let samples = [SimulatedSample<["2,3,7", "4,3,3", "", "", "", "4"]>, UnbiasedSample<["2,3,7", "6,3,4", "", "", "6"]>,
                 SimulatedSample<["2,3,7", "6,3,4", "", "", "6", "6"]>,
                 SimulatedSample<["1,2,9", "2,1,3", "", "", "", "2"], "dilation=[2];groups=2">,
                 SimulatedSample<["2,4,8", "6,2,3", "", "", "6", "6"], "strides=[2];padding=[1];groups=2;dtype=u8">];
}
def Tess_SimulatedConv2dOp : SimulatedConv<2> {
  let samples = [SimulatedSample<["2,3,5,6", "4,3,3,3", "", "", "", "4"]>, UnbiasedSample<["2,3,5,6", "4,3,3,2", "", "", "4"], "padding=[1, 1]">,
                 SimulatedSample<["1,2,9,9", "2,1,3,3", "", "", "", "2"], "dilation=[2, 3];groups=2">,
                 SimulatedSample<["1,4,7,7", "6,2,3,3", "", "", "6", "6"], "strides=[2, 1];padding=[1, 0];groups=2;dtype=u8">];
}
def Tess_SimulatedConv3dOp : SimulatedConv<3> {
  let samples = [SimulatedSample<["1,2,3,4,5", "3,2,2,2,2", "", "", "3", "3"]>, UnbiasedSample<["1,2,3,4,5", "6,2,2,2,2", "", "", "6"]>,
                 SimulatedSample<["1,2,3,4,5", "6,2,2,2,2", "", "", "6", "6"]>,
                 SimulatedSample<["1,2,4,5,5", "3,2,2,2,2", "", "", "", "3"], "dilation=[2, 1, 2]">,
                 SimulatedSample<["1,4,3,4,4", "4,2,2,3,3", "", "", "", "4"], "strides=[1, 2, 1];padding=[1, 1, 0];groups=2;dtype=u8">];
}
class SimulatedConvTranspose<int n>
    : SimulatedOp<"simulated_conv_transpose" # n # "d", ConvDims<n>.word # " transposed convolution whose sums are those of integers"> {
  defvar d = ConvDims<n>;
  defvar s = Spatial<n>;
  defvar name = "conv_transpose" # d.name;
  let description = ByIntegers<name>.text;
  let arguments = !con((ins Tess_F32:$x, Tess_F32:$weight, Tess_F32:$x_scale, Tess_I32:$x_zero, Tess_F32:$weight_scale,
                        Optional<Tess_F32>:$bias, DefaultValuedStrAttr<Tess_DTypeAttr, "i8">:$dtype), d.attrs,
                       (ins DefaultValuedAttr<DenseI64ArrayAttr, d.zeros>:$output_padding));
  let keepsAxes = 1;
  let sampleRank = !add(d.rank, -1);
  let requires = !listconcat(ConvRanks<d.rank>.all,
                             SimulatedNeeds<"#weight[0] // $groups * " # s.window, "#weight[1]", " && $groups == 1">.all);
  defvar scaleOfWeight = (when<"len(#weight_scale) == 1"> (op<"reshape", "shape=[1, -1" # s.ones # "]"> $weight_scale), $weight_scale);
  defvar integers = (op<"quantize", "dtype=i8"> $weight, scaleOfWeight, noZero);
  defvar attrs = sameConv # ";output_padding=$output_padding";
  defvar sum = WithoutZero<(op<"integer_" # name, attrs> integersOfX, integers),
                           (op<"integer_" # name, attrs> integersOfX, integers, $x_zero)>.all;
  let forward = [ScaledSum<sum, s.ones>.all];
  let gradient = [(op<"conv" # d.name, sameConv> $dout, $weight), (op<"conv" # d.name # "_backward_weight", sameConv> $dout, $x, $weight),
                  (none), (none), (none), (op<"sum", "axes=" # s.axes> $dout)];
  let attrFacts = !listconcat(scaleFacts, d.facts, [Length<"output_padding", n>, Range<"output_padding", "0", "1e9">,
                              BindTime<"output_padding">, Doc<"output_padding", "rows added at the end of " # d.axes>]);
  let oracle = Oracle<"tess_oracle.simulated_conv_transpose(x, weight, x_scale, x_zero, weight_scale, bias, dtype, strides, padding, dilation, groups, output_padding)">;
}
def Tess_SimulatedConvTranspose1dOp : SimulatedConvTranspose<1> {
  let samples = [SimulatedSample<["2,3,5", "3,4,3", "", "", "4", "4"]>,
                 UnbiasedSample<["2,4,4", "4,2,3", "", "", ""],
                                 "strides=[2];padding=[1];output_padding=[1];dilation=[2];groups=2;dtype=u8">];
}
def Tess_SimulatedConvTranspose2dOp : SimulatedConvTranspose<2> {
  let samples = [SimulatedSample<["1,3,4,3", "3,4,3,3", "", "", "4", "4"]>,
                 UnbiasedSample<["1,3,4,3", "3,4,3,3", "", "", ""], "dilation=[2, 1]">,
                 SimulatedSample<["2,4,3,3", "4,2,2,3", "", "", "", "4"],
                                 "strides=[2, 2];padding=[1, 0];output_padding=[1, 0];groups=2;dtype=u8">];
}
def Tess_SimulatedConvTranspose3dOp : SimulatedConvTranspose<3> {
  let samples = [SimulatedSample<["1,2,2,3,3", "2,3,2,2,2", "", "", "3", "3"]>,
                 UnbiasedSample<["1,4,2,2,3", "4,2,2,2,2", "", "", ""],
                   "strides=[1, 2, 1];padding=[0, 1, 0];output_padding=[0, 1, 0];groups=2;dilation=[2, 1, 1];dtype=u8">];
}

#endif // TESS_OPS_SIMULATED
