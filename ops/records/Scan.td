//===- Scan.td - running results along an axis ---------------*- tablegen -*-===//
//
// Elements are taken one by one in their order, so that a result is that of a
// plain loop, whatever computes it.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_SCAN
#define TESS_OPS_SCAN

include "ops/records/Base.td"

class ScanSamples<string lo = "-2", string hi = "2"> {
  list<Sample> all = [Sample<["2,3"], "axis=1", lo, hi>, Sample<["7"], "axis=0;exclusive=true", lo, hi>,
                      Sample<["2,3,4"], "axis=-2;reverse=true", lo, hi>, Sample<["0,3"], "axis=0", lo, hi>,
                      Sample<["2,3,20"], "axis=0;exclusive=true;reverse=true", lo, hi>,
                      Sample<["2,1,37"], "axis=-1;reverse=true", lo, hi>, Sample<["3,1"], "axis=1;exclusive=true", lo, hi>,
                      Sample<["1,2,3,2,17"], "axis=4;exclusive=true", lo, hi>];
}
defvar scanFacts = [Axis<"axis", "x">, Static<"axis", loopAxes>, Doc<"axis", "axis to go along">,
                    Doc<"exclusive", "leave the element itself out">, Doc<"reverse", "go from the last element to the first">];
class ScanOp<string m, string what, string function, Constraint type> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins type:$x, SI64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                   DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs type:$out);
  let compute = "out[*a, t, *b] = scan(" # function # ", t, exclusive, reverse) x[*a, t:axis, *b]";
  let dtypes = Same<"x">;
  let lowering = Compute_;
  let attrFacts = scanFacts;
  let samples = ScanSamples<>.all;
  let python = Py<"functional.tensor", m, [m], "", ["x=inp"]>;
}
def Tess_CumSumOp : ScanOp<"cumsum", "sums up to each element along an axis", "+", Tess_NumberOrBoolOrComplex> {
  let autocast = "high";
  let description = [{`out[t] = out[t - 1] + x[t]`, each addition rounded, as NumPy does it; exclusive sums begin with 0.
    Integers keep their dtype and wrap around, bool becomes int32; float16 and bfloat16 are added in
    float32, and each result is rounded once.}];
  let dtypes = SumOf<"x">;
  let oracle = Oracle<"tess_oracle.scan(np.cumsum, 0, x, axis, exclusive, reverse)">;
  let onnx = "CumSum(...)";
}
def Tess_CumProdOp : ScanOp<"cumprod", "products up to each element along an axis", "*", Tess_Number> {
  let autocast = "high";
  let description = [{`out[t] = out[t - 1] * x[t]`, each product rounded, as NumPy does it; exclusive products begin
    with 1. Integers keep their dtype and wrap around; float16 and bfloat16 are multiplied in float32, and each
    result is rounded once. The gradient divides by nothing, so zeros are like other numbers.}];
  let samples = ScanSamples<"-1", "2">.all;
  let oracle = Oracle<"tess_oracle.scan(np.cumprod, 1, x, axis, exclusive, reverse)">;
  let onnx = "CumProd(...)";
}
class RunningExtremum<string m, string what, string function, string accumulate, string start>
    : ScanOp<m, what, function, Tess_Number> {
  let description = "`out[t] = " # function # [{(out[t - 1], x[t])`; NaN wins. Exclusive ones begin with what every
    element beats: an infinity, or the lowest or highest integer. The first of equal elements has their
    gradient.}];
  let python = Py<"functional.tensor", m, [], "", ["x=inp"]>; // no methods: PyTorch's give indices too
  let oracle = Oracle<"tess_oracle.scan(" # accumulate # ", " # start # ", x, axis, exclusive, reverse)">;
}
def Tess_CumMaxOp : RunningExtremum<"cummax", "largest elements up to each one along an axis", "max",
                                    "np.maximum.accumulate", "tess_oracle.lowest(x.dtype)">;
def Tess_CumMinOp : RunningExtremum<"cummin", "smallest elements up to each one along an axis", "min",
                                    "np.minimum.accumulate", "tess_oracle.highest(x.dtype)">;
def Tess_LogCumSumExpOp : ScanOp<"logcumsumexp", "logarithms of the sums of exponentials up to each element",
                                 "logaddexp", Tess_Float> {
  let autocast = "high";
  let description = [{`out[t] = log(exp(out[t - 1]) + exp(x[t]))`, computed as logaddexp does it, so that nothing
    overflows; exclusive ones begin with -inf. Where all elements so far are -inf their gradient is 0, where one is inf NaN.}];
  let dtypes = PromoteFloat<["x"]>;
  let oracle = Oracle<"tess_oracle.scan(np.logaddexp.accumulate, -np.inf, x, axis, exclusive, reverse)">;
}

def Tess_LinearRecurrenceOp : Tess_Op<"linear_recurrence"> {
  let autocast = "high";
  let summary = "sums that are weighted anew at each element along an axis";
  let description = [{`out[t] = out[t - 1] * weight[t] + x[t]`, product and sum each rounded; the first weight does
    not count, and exclusive results begin with 0. With weights below 1 it is a decaying sum; the gradients of
    running products and logarithms of sums are made of it.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$weight, SI64Attr:$axis,
                   DefaultValuedAttr<BoolAttr, "false">:$exclusive, DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Tess_Float:$out);
  let compute = "out[*a, t, *b] = scan(linear, t, exclusive, reverse) x[*a, t:axis, *b], weight[*a, t, *b]";
  let dtypes = Promote<["x", "weight"]>;
  let lowering = Compute_;
  let attrFacts = scanFacts;
  let samples = !foreach(s, ScanSamples<>.all, Sample<!listconcat(s.shapes, s.shapes), s.attrText>);
  let oracle = Oracle<"tess_oracle.linear_recurrence(x, weight, axis, exclusive, reverse)">;
  let python = Py<"functional.tensor", "linear_recurrence", [], "", ["x=inp"]>;
}

#endif // TESS_OPS_SCAN
