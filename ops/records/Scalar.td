//===- Scalar.td - functions of one element ------------------------------===//
//
// What bodies of operators are written in: (s_mul $x, C<"0.5">). One record is
// one function: the enumerator of ScalarFn, its name in bodies and in the text
// of kernels, and what lowering asks of it are generated from here. A function
// needs besides: its expansion (of an ExpansionFn of one argument in
// compiler/lanes/VectorMath*.cpp, else in ScalarFunctions.cpp beside them) and
// a row in tests/compiler/kernel/math_test.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_SCALAR
#define TESS_OPS_SCALAR

class ScalarFn<string n, int count> {
  string enumerator = n;
  int arity = count;
  string args = "Common"; // of ScalarArgs: the types in which the arguments enter
  string type = "Any";    // of ScalarType: the types that a value may have
  int cost = 1;           // in vector instructions, roughly
  bit isLeaf = 0;
  bit readsIndex = 0; // the value depends on where the element stands
  // Largest error in units of the last place; "0.5" is correctly rounded, "0" never rounded.
  string ulp32 = "0";
  string ulp64 = "0";
}

class LeafFn<string n> : ScalarFn<n, 0> { let isLeaf = 1; }
class IndexFn<string n> : ScalarFn<n, 0> { let readsIndex = 1; }
class RoundedFn<string n, int arity, int instructions = 1> : ScalarFn<n, arity> {
  let cost = instructions;
  let ulp32 = "0.5";
  let ulp64 = "0.5";
}
// An expansion of our own; edge cases as C99 Annex F says.
class ExpansionFn<string n, int arity, string bound32 = "2", string bound64 = "4"> : ScalarFn<n, arity> {
  let type = "Float";
  let cost = 25;
  let ulp32 = bound32;
  let ulp64 = bound64;
}
class BitsFn<string n, int arity> : ScalarFn<n, arity> { let type = "Integer"; }
class LogicFn<string n, int arity> : ScalarFn<n, arity> {
  let args = "Bool";
  let type = "Bool";
}
class PredicateFn<string n, int arity> : ScalarFn<n, arity> { let type = "Bool"; }
// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011) of a seed and a counter.
class PhiloxFn<string n> : ScalarFn<n, 2> {
  let args = "Own";
  let type = "Float";
  let cost = 50;
}

def s_operand : LeafFn<"Operand">; // `a`: its index
def s_attr : LeafFn<"Attr">;       // `a`: its index; a runtime operand of the kernel, a constant when the attribute is static
def s_const : LeafFn<"Const">;     // `constant`, converted to the compute type

def s_index : IndexFn<"Index">;       // the row-major index of the element in the result (i64)
def s_dimindex : IndexFn<"DimIndex">; // `a`: an axis counted from the last; the index along it (i64)

def s_add : RoundedFn<"Add", 2>;
def s_sub : RoundedFn<"Sub", 2>;
def s_mul : RoundedFn<"Mul", 2>;
def s_div : RoundedFn<"Div", 2, 4>; // of integers: floor
def s_square : RoundedFn<"Square", 1>;
def s_sqrt : RoundedFn<"Sqrt", 1, 4> { let type = "Float"; }
def s_rsqrt : ExpansionFn<"Rsqrt", 1, "2", "2"> { let cost = 8; }
def s_neg : ScalarFn<"Neg", 1>;
def s_abs : ScalarFn<"Abs", 1>;
def s_sign : ScalarFn<"Sign", 1>;
def s_max : ScalarFn<"Max", 2>; // NaN wins
def s_min : ScalarFn<"Min", 2>; // NaN wins
def s_floor : ScalarFn<"Floor", 1>;
def s_ceil : ScalarFn<"Ceil", 1>;
def s_round : ScalarFn<"Round", 1>; // half to even
def s_trunc : ScalarFn<"Trunc", 1>;
// Python's: the sign of the divisor. Exact before one rounding.
def s_mod : ExpansionFn<"Mod", 2, "1", "1"> { let type = "Any"; let cost = 20; }
def s_floordiv : ExpansionFn<"FloorDiv", 2, "1", "1"> { let type = "Any"; let cost = 20; }
def s_pow : ExpansionFn<"Pow", 2, "2", "8"> { let type = "Any"; let cost = 50; }

foreach n = ["Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh",
             "Acosh", "Atanh", "Erf", "Erfc", "Sigmoid"] in
  def s_#!tolower(n) : ExpansionFn<n, 1>;
def s_tan : ExpansionFn<"Tan", 1, "4">;
def s_atan2 : ExpansionFn<"Atan2", 2>;
def s_logaddexp : ExpansionFn<"LogAddExp", 2>; // units of the larger operand where the result is near 0

foreach n = ["Shl", "Shr", "BitAnd", "BitOr", "BitXor"] in
  def s_#!tolower(n) : BitsFn<n, 2>;
def s_bitnot : BitsFn<"BitNot", 1>;

foreach n = ["And", "Or", "Xor"] in
  def s_#!tolower(n) : LogicFn<n, 2>;
def s_not : LogicFn<"Not", 1>;

foreach n = ["Eq", "Ne", "Lt", "Le", "Gt", "Ge"] in
  def s_#!tolower(n) : PredicateFn<n, 2>;
foreach n = ["IsNan", "IsInf", "IsFinite"] in
  def s_#!tolower(n) : PredicateFn<n, 1>;

def s_signbit : PredicateFn<"SignBit", 1>; // of a float also where it is 0 or NaN

// Of complex numbers, which are made of other functions otherwise (compiler/lowering/ComplexLowering.cpp). A real number
// is its own real part and conjugate.
class PartFn<string n, int arity> : ScalarFn<n, arity> { let args = "Own"; }
def s_real : PartFn<"Real", 1>;
def s_imag : PartFn<"Imag", 1>;
def s_conj : PartFn<"Conj", 1>;
def s_complex : PartFn<"Complex", 2>; // of its parts

def s_select : ScalarFn<"Select", 3> { let args = "Own"; } // a condition, then two values of the result's type
def s_cast : ScalarFn<"Cast", 1> { let args = "Own"; }     // to the result's dtype

def s_philoxuniform : PhiloxFn<"PhiloxUniform">; // in [0, 1)
def s_philoxnormal : PhiloxFn<"PhiloxNormal">;   // the standard normal distribution

// (s_id $x): the argument itself.
def s_id;

#endif // TESS_OPS_SCALAR
