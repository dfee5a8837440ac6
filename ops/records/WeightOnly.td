//===- WeightOnly.td - products by quantized weights ---------*- tablegen -*-===//
//
// Layers whose weights alone are quantized (docs/reference/quantized.md, "Weights
// alone"): activations are floats, or become int8 in the call.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_WEIGHTONLY
#define TESS_OPS_WEIGHTONLY

include "ops/records/Base.td"

// Operands x, weight and scale, and a bias where there is a fourth operand.
class WeightOnlySample<list<string> s, string attrs = "">
    : Sample<s, attrs, "-2; -99; 0.01" # !if(!eq(!size(s), 4), "; -2", ""), "2; 99; 0.1" # !if(!eq(!size(s), 4), "; 2", "")>;

// The weight as float32 numbers (O, I), of the operands weight, scale and x and the attributes bits and group.
class DequantizedWeight {
  defvar four = (op<"full", "shape=[];value=4;dtype=i8">);
  defvar lower = (op<"right_shift"> (op<"left_shift"> $weight, four), four);
  defvar halves = (op<"stack", "axis=2"> lower, (op<"right_shift"> $weight, four));
  defvar flat = (op<"reshape", "shape=[#weight[0], 2 * #weight[1]]"> halves);
  defvar numbers = (when<"$bits == 8"> $weight, Slice<flat, "2", "1", "0", "#x[-1]">.all);
  defvar ofGroups = (op<"repeat", "repeats=$group;axis=1"> $scale);
  defvar scales = (when<"$group == 0"> (op<"expand_dims", "axis=[1]"> $scale), Slice<ofGroups, "2", "1", "0", "#x[-1]">.all);
  dag all = (op<"mul"> (op<"cast", "dtype=f32"> numbers), scales);
}

def Tess_WeightOnlyLinearOp : Tess_Op<"weight_only_linear"> {
  let summary = "linear by a quantized weight";
  let description = [{`out[..., o] = sum_g scale[o, g] * sum_{k in g} x[..., k] * weight[o, k] + bias[o]` over groups g of
    `group` neighbours along k, or all k. Sums are float32 in one fixed order, and the result is rounded once. Numbers of 4
    bits k and k + 1, for even k, share a byte, the first in its lower half, in two's complement, as ONNX's int4.
    `activations="int8"` sums over the integers of each row of x, by its own scale, and multiplies by that scale.}];
  let arguments = (ins Tess_HalfOrF32:$x, Tess_I8:$weight, Tess_F32:$scale, Optional<Tess_HalfOrF32>:$bias,
                   DefaultValuedAttr<SI64Attr, "8">:$bits, DefaultValuedAttr<SI64Attr, "0">:$group,
                   DefaultValuedStrAttr<StrAttr, "float">:$activations);
  let results = (outs Tess_HalfOrF32:$out);
  let shapes = "(*B, I), (O, W), (O, *G), (O)? -> (*B, O)";
  let dtypes = Promote<["x", "bias"]>;
  let requires = [Require<"bits must be 4 or 8", "$bits == 4 || $bits == 8", "{$bits}">,
      Require<"group must be 0 or a power of 2 from 8 to 256", "$group in [0, 8, 16, 32, 64, 128, 256]", "{$group}">,
      Require<"weight must have the numbers of each column of x", "#weight[1] == ($bits == 8 ? #x[-1] : (#x[-1] + 1) // 2)",
              "x {x}, weight {weight} and bits {$bits}">,
      Require<"scale must have one for each channel, or for each group of it",
              "$group == 0 ? len(#scale) == 1 : len(#scale) == 2 && #scale[1] == (#x[-1] + $group - 1) // $group",
              "scale {scale}, x {x} and group {$group}">];
  let lowering = Library<"weight_only_linear">;
  let multiplyAdds = ["product(#x)", "#weight[0]"];
  defvar rows = (op<"reshape", "shape=[-1, #weight[0]]"> $dout);
  let gradient = [(op<"reshape_like"> (op<"matmul"> (op<"cast", "dtype=f32"> rows), DequantizedWeight<>.all), $x), (none), (none),
                  (op<"sum", "axes=[0]"> rows)];
  let attrFacts = [Doc<"bits", "4 or 8, of each number of weight">, Doc<"group", "numbers that share a scale; 0: a channel's">,
                   Cases<"activations", ["float", "int8"]>, Range<"group", "0", "256">, BindTime<"bits">, BindTime<"group">,
                   Doc<"activations", "\"float\" as they are, or \"int8\" by a scale for each row">, BindTime<"activations">];
  let samples = [WeightOnlySample<["2,3", "4,3", "4"]>, WeightOnlySample<["2,3", "4,3", "4", "4"]>,
                 WeightOnlySample<["5,2,37", "4,19", "4,5"], "bits=4;group=8">,
                 WeightOnlySample<["3,16", "4,8", "4,1", "4"], "bits=4;group=32">,
                 WeightOnlySample<["2,40", "33,40", "33,3"], "group=16">, WeightOnlySample<["7", "4,4", "4"], "bits=4">,
                 WeightOnlySample<["3,300", "5,300", "5", "5"], "activations=\"int8\"">,
                 WeightOnlySample<["2,2,37", "4,19", "4,5"], "bits=4;group=8;activations=\"int8\"">,
                 WeightOnlySample<["0,3", "4,3", "4"]>, WeightOnlySample<["2,0", "4,0", "4"]>];
  let oracle = Oracle<"tess_oracle.weight_only_linear(x, weight, scale, bias, bits, group, activations)">;
  let python = Py<"functional.quantized", "weight_only_linear">;
}

#endif // TESS_OPS_WEIGHTONLY
