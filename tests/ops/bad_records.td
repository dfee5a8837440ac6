// Records that are wrong stop the generator, with the record's place and what is wrong.
//
// RUN: for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do not tess-tblgen -gen-tess-op-table -I. -I/usr/lib/llvm-22/include -DCASE_$n %s 2>&1 | grep error: ; done | FileCheck %s
include "ops/Base.td"

class Plain<string m> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Library<"test">;
  let attrFacts = [BindTime<"axis">];
  let samples = [Sample<["2,3"]>];
}
def Tess_AOp : Plain<"a">;

// CHECK: bad_records.td:{{[0-9]+}}:5: error: b: signature must have a pattern for every operand and result, got '(*D), (*D) -> (*D)'
#ifdef CASE_1
def Tess_BOp : Plain<"b"> { let shapes = "(*D), (*D) -> (*D)"; }
#endif
// CHECK: error: b: symbol must be starred everywhere or nowhere, got D
#ifdef CASE_2
def Tess_BOp : Plain<"b"> { let shapes = "(*D) -> (D)"; }
#endif
// CHECK: error: b: exactly one of shapes and shapeRule must be given
#ifdef CASE_3
def Tess_BOp : Plain<"b"> { let shapeRule = "reshape"; }
#endif
// CHECK: error: b: a dag must be made of known operators, got nothing
#ifdef CASE_4
def Tess_BOp : Plain<"b"> { let gradient = [(op<"nothing"> $dout)]; }
#endif
// CHECK: error: a: attribute text must name an attribute of it, got 'dim=1'
#ifdef CASE_5
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a", "dim=1"> $dout)]; }
#endif
// CHECK: error: b: a dag must name an operand, a result or the gradient of a result, got $y
#ifdef CASE_6
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a"> $y)]; }
#endif
// CHECK: error: b: attrFacts must name an attribute, got dim
#ifdef CASE_7
def Tess_BOp : Plain<"b"> { let attrFacts = [Doc<"dim", "x">]; }
#endif
// CHECK: error: b: an Elementwise_ operator must have one scalar dag for each result
#ifdef CASE_8
def Tess_BOp : Plain<"b"> { let lowering = Elementwise_; }
#endif
// CHECK: error: a: name must be given to one record only
#ifdef CASE_9
def Tess_BOp : Plain<"a">;
#endif
// CHECK: error: b: operator must be one of ops/PythonOperators.h, got +
#ifdef CASE_10
def Tess_BOp : Plain<"b"> { let python = Py<"functional.math", "b", [], "+">; }
#endif
// CHECK: error: b: renamed must be operand=name or attribute=name, got y=inp
#ifdef CASE_11
def Tess_BOp : Plain<"b"> { let python = Py<"functional.math", "b", [], "", ["y=inp"]>; }
#endif
// CHECK: error: b: a constraint must have words of its own, got 'x must be >= -1'
#ifdef CASE_12
def Tess_BOp : Plain<"b"> { let constraints = ["x must be at least minus 1", "x must be >= -1"]; }
#endif
// CHECK: error: b: a constraint must say what must hold, got 'x is positive'
#ifdef CASE_13
def Tess_BOp : Plain<"b"> { let constraints = ["x is positive"]; }
#endif
// CHECK: error: b: description must say what is computed, got none
#ifdef CASE_14
def Tess_BOp : Plain<"b"> { let description = " "; }
#endif
// CHECK: error: b: samples must have a first one, which documentation shows, got none
#ifdef CASE_15
def Tess_BOp : Plain<"b"> { let samples = []; }
#endif
// CHECK: error: b: steps of a Movement must name an attribute, got steps
#ifdef CASE_16
def Tess_BOp : Plain<"b"> { let lowering = Movement<"sliceSet", "steps">; }
#endif
// CHECK: error: b: BindTime must be of an operator that is no view and no reduction, got axis
#ifdef CASE_17
def Tess_BOp : Plain<"b"> { let lowering = Reduction<"Sum">; }
#endif
// CHECK: error: b: numeric attribute must be one of Runtime, BindTime and Static, got axis
#ifdef CASE_18
def Tess_BOp : Plain<"b"> { let attrFacts = []; }
#endif
// CHECK: error: b: upgrades: a line must be 'VERSION: rename|default|drop|retype NAME ...', got '1: retype axis str int'
#ifdef CASE_19
def Tess_BOp : Plain<"b"> {
  let version = 2;
  let upgrades = ["1: retype axis str int"];
}
#endif
// CHECK: error: b: upgrades must be of versions before the record's, got '1: drop dim'
#ifdef CASE_20
def Tess_BOp : Plain<"b"> { let upgrades = ["1: drop dim"]; }
#endif
// CHECK: error: b: a split must be of an older version and have one dag for each result, got version 2
#ifdef CASE_21
def Tess_BOp : Plain<"b"> {
  let version = 2;
  let splits = [Split<2, [(op<"a"> $x)]>];
}
#endif
