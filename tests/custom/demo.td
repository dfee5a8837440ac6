// Records of a plug-in, which tests load.
#ifndef TESS_TESTS_DEMO
#define TESS_TESTS_DEMO

include "ops/records/Base.td"

def Demo : Plugin<"records", "1.0">;

def Demo_SoftClipOp : Tess_Op<"soft_clip"> {
  let summary = "the element, bent towards a limit";
  let description = [{`out = limit * tanh(x / limit)`.}];
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$limit);
  let results = (outs Tess_Float:$out);
  let attrFacts = [Range<"limit", "0.001", "1000">, Doc<"limit", "what it never reaches">];
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Elementwise_;
  let scalar = [(s_mul $limit, (s_tanh (s_div $x, $limit)))];
  defvar bent = (op<"tanh"> (op<"div"> $x, K<"$limit", "x">));
  let gradient = [(op<"mul"> $dout, (op<"sub"> K<"1", "x">, (op<"mul"> bent, bent)))];
  let inplace = ["x=out"];
  let samples = [Sample<["2,3"], "limit=2.0">];
}

def Demo_GatedOp : Tess_Op<"gated"> {
  let summary = "the element times a sigmoid";
  let description = [{`out = x * sigmoid(gate)`.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$gate);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D), (*D) -> (*D)";
  let dtypes = Promote<["x", "gate"]>;
  let lowering = Elementwise_;
  let scalar = [(s_mul $x, (s_sigmoid $gate))];
  defvar open = (op<"sigmoid"> $gate);
  let gradient = [(op<"mul"> $dout, open),
                  (when<"isComplex(@dout)"> $dout, (op<"mul"> (op<"mul"> $dout, $x),
                      (op<"mul"> open, (op<"sub"> K<"1", "gate">, open))))];
  let samples = [Sample<["2,3", "3"]>];
}

// A composite of Tessera's operators, which is differentiated through them.
def Demo_CenteredOp : Tess_Op<"centered"> {
  let summary = "the element without the mean along axes";
  let description = [{`out = x - mean(x, axes)`.}];
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<DenseI64ArrayAttr, "{-1}">:$axes);
  let results = (outs Tess_Float:$out);
  let attrFacts = [AxisSet<"axes", "x">, Static<"axes", loopAxes>];
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  let forward = [(op<"sub"> $x, (op<"mean", "axes=$axes;keepdims=true"> $x))];
  let samples = [Sample<["2,3"], "axes=[1]">];
}

// One of operators of this file, whose shapes follow from them.
def Demo_ClippedRowsOp : Tess_Op<"clipped_rows"> {
  let summary = "sums of rows that are centred and bent";
  let description = [{`out = sum(soft_clip(centered(x)))` along the last axis, in one of two forms.}];
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "2.0">>:$limit,
                   DefaultValuedAttr<BoolAttr, "true">:$centre);
  let results = (outs Tess_Float:$out);
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar moved = (when<"centre=true"> (op<"records.centered"> $x), $x);
  let forward = [(op<"sum", "axes=[-1]"> (op<"records.soft_clip", "limit=$limit"> moved))];
  let samples = [Sample<["2,3"]>];
}

#endif // TESS_TESTS_DEMO
