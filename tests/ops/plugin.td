// Rows of a plug-in: what the generator writes of its records, and what it refuses in them.
//
// RUN: tess-tblgen -gen-tess-rows -I. -I/usr/lib/llvm-22/include %s | FileCheck %s
// RUN: for n in 1 2 3 4 5 6 7; do not tess-tblgen -gen-tess-rows -I. -I/usr/lib/llvm-22/include -DCASE_$n %s 2>&1 | grep error: ; done | FileCheck %s --check-prefix=ERROR
include "ops/records/Base.td"

def Demo : Plugin<"demo", "2.1">;

class Plain<string m> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "0.5">>:$alpha);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let samples = [Sample<["2,3"]>];
}
// CHECK:      "format": "tessera records",
// CHECK-NEXT: "library": "demo",
// CHECK-NEXT: "library_version": "2.1",
// CHECK:      "default": "0.5",
// CHECK-NEXT: "kind": "float",
// CHECK-NEXT: "name": "alpha",
// CHECK-NEXT: "runtime": true
// CHECK:      "gradient": {
// CHECK:      "like": "$x"
// CHECK:      "op": "mul"
// CHECK:      "results": [
// CHECK-NEXT: 1
// CHECK:      "lowering": "elementwise",
// CHECK-NEXT: "name": "a",
// CHECK:      "scalar": {
// CHECK:      "function": "operand"
// CHECK:      "constant": "2",
// CHECK:      "function": "mul"
// CHECK:      "text": "(*D) -> (*D)"
// CHECK:      "version": 1
def Tess_AOp : Plain<"a"> {
  let lowering = Elementwise_;
  let scalar = [(s_mul $x, C<"2">)];
  let gradient = [(op<"mul"> $dout, K<"2", "x">)];
}
class Made<string m, dag graph> : Plain<m> {
  let lowering = Composite<>;
  let forward = [graph];
}
// ERROR: error: b: lowering must be Elementwise_ or Composite<> in a plug-in, got
#ifdef CASE_1
def Tess_BOp : Plain<"b"> { let lowering = Library<"test">; }
#endif
// ERROR: error: b: requires must not be given in a plug-in, got it
#ifdef CASE_2
def Tess_BOp : Made<"b", (op<"exp"> $x)> { let requires = [Require<"x must have rank 2", "len(#x) == 2", "x {x}">]; }
#endif
// ERROR: error: b: attributes in dags of a plug-in must be values, $attribute or @operand, got 'axes=[len(#x) - 1]'
#ifdef CASE_3
def Tess_BOp : Made<"b", (op<"sum", "axes=[len(#x) - 1]"> $x)>;
#endif
// ERROR: error: b: dags of a plug-in must be made of op, result, when, K, same and none, got
#ifdef CASE_4
def Tess_BOp : Made<"b", (piece<"as", ["f32"]> $x)>;
#endif
// ERROR: error: b: when must ask for the value of an attribute, or isComplex, in a plug-in, got 'len(#x) == 2'
#ifdef CASE_5
def Tess_BOp : Made<"b", (when<"len(#x) == 2"> $x, (op<"exp"> $x))>;
#endif
// ERROR: error: b: when must choose by the value of one attribute that is known before it runs, got 'alpha=1.0'
#ifdef CASE_6
def Tess_BOp : Made<"b", (when<"alpha=1.0"> $x, (op<"exp"> $x))>;
#endif
// ERROR: error: a plug-in must have one record Plugin, got 2
#ifdef CASE_7
def Other : Plugin<"other", "1">;
#endif
