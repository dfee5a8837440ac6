// Terms that are wrong, of conditions, sizes, orders of axes and values in graphs, stop the generator.
//
// RUN: for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35; do not tess-tblgen -gen-tess-op-table -I. -I/usr/lib/llvm-22/include -DCASE_$n %s 2>&1 | grep error: ; done | FileCheck %s
include "ops/records/Base.td"

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

class Demands<string m, string condition, string got = "x {x}"> : Plain<m> {
  let requires = [Require<"x must be good", condition, got>];
}
// CHECK: error: b: a term must name an operand, got y
#ifdef CASE_1
def Tess_BOp : Demands<"b", "#y == [1]">;
#endif
// CHECK: error: b: a condition must be one, got 'len(#x)'
#ifdef CASE_2
def Tess_BOp : Demands<"b", "len(#x)">;
#endif
// CHECK: error: b: a term must have a condition that no size leaves open behind !, got '!(#x[0] == 1)'
#ifdef CASE_3
def Tess_BOp : Demands<"b", "!(#x[0] == 1)">;
#endif
// CHECK: error: b: a term must have nothing more, got ')' in 'true)'
#ifdef CASE_4
def Tess_BOp : Demands<"b", "true)">;
#endif
// CHECK: error: b: a term must have a word of ops/graphs/Terms.h before (, got 'nothing(#x)'
#ifdef CASE_5
def Tess_BOp : Demands<"b", "nothing(#x)">;
#endif
// CHECK: error: b: a term must have operands that product takes, got 'product(1) == 1'
#ifdef CASE_6
def Tess_BOp : Demands<"b", "product(1) == 1">;
#endif
// CHECK: error: b: a term must have values of one kind beside ==, got '#x == 1'
#ifdef CASE_7
def Tess_BOp : Demands<"b", "#x == 1">;
#endif
// CHECK: error: b: a term must have an attribute behind $, got '$dim == 1'
#ifdef CASE_8
def Tess_BOp : Demands<"b", "$dim == 1">;
#endif
// CHECK: error: b: a message must have operands, numbers, lists, texts and dtypes in braces, got 'true'
#ifdef CASE_9
def Tess_BOp : Demands<"b", "true", "x {true}">;
#endif
// CHECK: error: b: given must name an optional operand, got x
#ifdef CASE_10
def Tess_BOp : Demands<"b", "given(x)">;
#endif
// CHECK: error: b: requires must not come with check, got reducible
#ifdef CASE_11
def Tess_BOp : Demands<"b", "true"> { let check = "reducible"; }
#endif
// CHECK: error: b: sizes must have a shape for each result, got 2
#ifdef CASE_12
def Tess_BOp : Plain<"b"> {
  let shapes = "";
  let sizes = ["#x", "#x"];
}
#endif
// CHECK: error: b: sizes and order must be lists, got '#x[0]'
#ifdef CASE_13
def Tess_BOp : Plain<"b"> {
  let shapes = "";
  let sizes = ["#x[0]"];
}
#endif
// CHECK: error: b: order must come with the lowering View, got '[0]'
#ifdef CASE_14
def Tess_BOp : Plain<"b"> {
  let shapes = "";
  let order = "[0]";
}
#endif
// CHECK: error: b: a View that neither reshapes nor broadcasts must have an order or strides, got Slice
#ifdef CASE_15
def Tess_BOp : Plain<"b"> {
  let attrFacts = [];
  let lowering = View<"Slice">;
}
#endif
// CHECK: error: b: a sample must give values, got '$axis'
#ifdef CASE_16
def Tess_BOp : Plain<"b"> { let samples = [Sample<["2,3"], "axis=$axis">]; }
#endif
// CHECK: error: b: an attribute must be given a value of its kind, got '#x'
#ifdef CASE_17
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a", "axis=#x"> $dout)]; }
#endif
// CHECK: error: b: a term must have attributes that are known before it runs, got '$rate > 0.0'
#ifdef CASE_18
def Tess_BOp : Plain<"b"> {
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$rate);
  let attrFacts = [];
  let gradient = [(when<"$rate > 0.0"> $dout, (op<"a"> $dout))];
}
#endif
// CHECK: error: b: a piece must be one of ops/tblgen/Graphs.cpp with its values and terms, got nothing
#ifdef CASE_19
def Tess_BOp : Plain<"b"> { let gradient = [(piece<"nothing"> $dout)]; }
#endif
// CHECK: error: b: a result must be one of a, got indices
#ifdef CASE_20
def Tess_BOp : Plain<"b"> { let gradient = [(result<"indices"> (op<"a"> $dout))]; }
#endif
// CHECK: error: b: a term must have a condition behind if, got '[i for i < 2 if 1]'
#ifdef CASE_21
def Tess_BOp : Plain<"b"> {
  let shapes = "";
  let sizes = ["[i for i < 2 if 1]"];
}
#endif
// CHECK: error: b: subject must be a text, got '$axis'
#ifdef CASE_22
def Tess_BOp : Plain<"b"> { let requires = [Require<"x must be good", "true", "x {x}", "", "$axis">]; }
#endif
// CHECK: error: b: DTypes must have a dtype for each of the sizes, got 2
#ifdef CASE_23
def Tess_BOp : Plain<"b"> {
  let shapes = "";
  let sizes = ["#x"];
  let dtypes = DTypes<["@x", "@x"]>;
}
#endif
// CHECK: error: b: normalised must name attributes, got dim
#ifdef CASE_24
def Tess_BOp : Plain<"b"> { let normalised = [Normal<"dim", "1">]; }
#endif
// CHECK: error: b: strided must have two lists and come without order, got 1
#ifdef CASE_25
def Tess_BOp : Plain<"b"> {
  let attrFacts = [];
  let lowering = View<"Slice">;
  let strided = ["[0]"];
}
#endif
// CHECK: error: b: a Movement must have copies, others none
#ifdef CASE_26
def Tess_BOp : Plain<"b"> { let lowering = Movement<>; }
#endif
// CHECK: error: b: a CopyRegion must name an operand, or with a range a list of them, got y
#ifdef CASE_27
def Tess_BOp : Plain<"b"> {
  let lowering = Movement<>;
  let copies = [CopyRegion<"y", "[0, 0]", "[0, 0]", "#x">];
}
#endif
// CHECK: error: b: channelAxis must be a number, and the only rule for channels, got '#x'
#ifdef CASE_28
def Tess_BOp : Plain<"b"> { let channelAxis = "#x"; }
#endif
// CHECK: error: b: at must name a list of operands, or of results in a gradient, got $x
#ifdef CASE_29
def Tess_BOp : Plain<"b"> {
  let lowering = Composite<>;
  let forward = [(op<"a"> (at<"0"> $x))];
}
#endif
// CHECK: error: b: forward must have each for a list of values and for nothing else, got out
#ifdef CASE_30
def Tess_BOp : Plain<"b"> {
  let lowering = Composite<>;
  let forward = [(each<"i < 2"> (same $x))];
}
#endif
// CHECK: error: b: sizes of a list of results must be lists, got '#x'
#ifdef CASE_31
def Tess_BOp : Plain<"b"> {
  let results = (outs Variadic<Tess_Float>:$outs);
  let shapes = "";
  let sizes = ["#x"];
}
#endif
// CHECK: error: b: a term must have operands that alike takes, got 'alike(#x)'
#ifdef CASE_32
def Tess_BOp : Demands<"b", "alike(#x)">;
#endif
// CHECK: error: b: a dag must name a value of a list by at, got $inputs
#ifdef CASE_33
def Tess_BOp : Plain<"b"> {
  let arguments = (ins Variadic<Tess_Float>:$inputs, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let shapes = "";
  let dtypes = Promote<["inputs"]>;
  let lowering = Composite<>;
  let forward = [(op<"a"> $inputs)];
}
#endif
// CHECK: error: b: requires must not come with shapeRule, got nonZero
#ifdef CASE_34
def Tess_BOp : Demands<"b", "true"> {
  let shapes = "";
  let shapeRule = "nonZero";
}
#endif
// CHECK: error: b: multiplyAdds must be numbers, got '#out'
#ifdef CASE_35
def Tess_BOp : Plain<"b"> { let multiplyAdds = ["#x[0]", "#out"]; }
#endif
