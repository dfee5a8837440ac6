// Names and expressions of records that others than the generator read: a wrong one stops it at the record.
//
// RUN: for n in 1 2 3 4 5 6 7 8 9 10 11; do not tess-tblgen -gen-tess-op-table -I. -I/usr/lib/llvm-22/include -DCASE_$n %s 2>&1 | grep error: ; done | FileCheck %s
include "ops/records/Base.td"

class Plain<string m> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Library<"test">;
  let samples = [Sample<["2,3"]>];
}
def Tess_AOp : Plain<"a">;

// CHECK: error: AddOne: name must be in snake_case, got 'AddOne'
#ifdef CASE_1
def Tess_BOp : Plain<"AddOne">;
#endif
class Elements<string m, dag body> : Plain<m> {
  let lowering = Elementwise_;
  let scalar = [body];
}
// CHECK: error: b: s_add must have 2 arguments, got 1
#ifdef CASE_2
def Tess_BOp : Elements<"b", (s_add $x)>;
#endif
// CHECK: error: b: s_exp must have 1 argument, got 2
#ifdef CASE_3
def Tess_BOp : Elements<"b", (s_add (s_exp $x, $x), $x)>;
#endif
// CHECK: error: b: a constant must be a number, got 'one'
#ifdef CASE_4
def Tess_BOp : Elements<"b", (s_add $x, C<"one">)>;
#endif
// CHECK: error: b: module must be one of PythonModules in ops/records/Names.td, got 'functional.maths', did you mean 'functional.math'?
#ifdef CASE_5
def Tess_BOp : Plain<"b"> { let python = Py<"functional.maths", "b">; }
#endif
// CHECK: error: b: onnx must be an operator of OnnxOperators in ops/records/Names.td, got 'Geluu', did you mean 'Gelu'?
#ifdef CASE_6
def Tess_BOp : Plain<"b"> { let onnx = "Geluu(...)"; }
#endif
// CHECK: error: b: onnx must be an operator of OnnxOperators in ops/records/Names.td, got 'NothingLikeIt'
#ifdef CASE_7
def Tess_BOp : Plain<"b"> { let onnx = "NothingLikeIt"; }
#endif
// CHECK: error: b: oracle must be an expression of Python, got no ) in 'np.abs(x'
#ifdef CASE_8
def Tess_BOp : Plain<"b"> { let oracle = Oracle<"np.abs(x">; }
#endif
// CHECK: error: b: oracle must be an expression of Python, got an unexpected ')' in 'x[0)]'
#ifdef CASE_9
def Tess_BOp : Plain<"b"> { let oracle = Oracle<"x[0)]">; }
#endif
// CHECK: error: b: oracle must be an expression of Python, got nothing behind '*' in 'x *'
#ifdef CASE_10
def Tess_BOp : Plain<"b"> { let oracle = Oracle<"x *">; }
#endif
// CHECK: error: b: scalar must call functions of ops/records/Scalar.td, got Doc_of{{.*}}
#ifdef CASE_11
def Doc_of;
def Tess_BOp : Elements<"b", (Doc_of $x)>;
#endif
