//===- Elementwise.td - one result element from one of each operand -*- tablegen -*-===//
//
// Arithmetic, comparison, logic. Operands broadcast as in NumPy. Functions of
// real analysis are in Math.td, activations in Activation.td.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_ELEMENTWISE
#define TESS_OPS_ELEMENTWISE

include "ops/records/Base.td"

class UnarySamples<string lo = "-2", string hi = "2", string attrs = ""> {
  list<Sample> all = [Sample<[""], attrs, lo, hi>, Sample<["7"], attrs, lo, hi>, Sample<["2,3"], attrs, lo, hi>,
                       Sample<["2,0,3"], attrs, lo, hi>, Sample<["2,3,1,5"], attrs, lo, hi>,
                       Sample<["1,2,3,2,3"], attrs, lo, hi>];
}
class BinarySamples<string lo = "-2", string hi = "2"> {
  list<Sample> all = [Sample<["", ""], "", lo, hi>, Sample<["2,3", "2,3"], "", lo, hi>, Sample<["2,3", "3"], "", lo, hi>,
                       Sample<["", "4"], "", lo, hi>, Sample<["2,1,3", "5,1"], "", lo, hi>,
                       Sample<["2,0,3", "1"], "", lo, hi>, Sample<["1,2,1,2,3", "2,3,1,3"], "", lo, hi>];
}

// One operand, result of the same dtype.
class Unary<string m, string what, dag body, string expr, dag grad, Constraint type = Tess_Number> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins type:$x);
  let results = (outs type:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Elementwise_;
  let scalar = [body];
  let gradient = [grad];
  let inplace = ["x=out"];
  let samples = UnarySamples<>.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.elemwise", m, [m]>;
}
// The same on floats; integers and bool become float32 first.
class FloatUnary<string m, string what, dag body, string expr, dag grad, string lo = "-2", string hi = "2",
                 Constraint type = Tess_Float> : Unary<m, what, body, expr, grad, type> {
  let dtypes = PromoteFloat<["x"]>;
  let gradient = [Arriving<grad>.all];
  let samples = UnarySamples<lo, hi>.all;
}
// A question about one element, a float if it may be other than a finite number.
class Predicate<string m, string what, dag body, string expr> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins Tess_NumberOrBool:$x);
  let results = (outs Tess_Bool:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Fixed<"bool", ["x"]>;
  let lowering = Elementwise_;
  let scalar = [body];
  let samples = UnarySamples<>.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.math", m, [m], "", ["x=inp"]>;
}
class Binary<string m, string what, dag body, string expr, list<dag> grads, string symbol = "",
             Constraint type = Tess_Number> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins type:$x, type:$y);
  let results = (outs type:$out);
  let shapes = "(*D), (*D) -> (*D)";
  let dtypes = Promote<["x", "y"]>;
  let lowering = Elementwise_;
  let scalar = [body];
  let gradient = grads;
  let inplace = ["x=out", "y=out"];
  let samples = BinarySamples<>.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.elemwise", m, [m], symbol>;
}
class FloatBinary<string m, string what, dag body, string expr, list<dag> grads, string symbol = "",
                  Constraint type = Tess_Float> : Binary<m, what, body, expr, grads, symbol, type> {
  let dtypes = PromoteFloat<["x", "y"]>;
  let gradient = !foreach(grad, grads, Arriving<grad>.all);
  let samples = BinarySamples<"0.5", "2">.all;
}
class Compare<string m, string what, dag body, string expr, string symbol, Constraint type = Tess_NumberOrBool>
    : Binary<m, what, body, expr, [], symbol, type> {
  let description = "`out = (x " # symbol # " y)`, compared in the promoted dtype; NaN gives " #
                    !if(!eq(symbol, "!="), "true", "false") # ", -0 equals 0.";
  let results = (outs Tess_Bool:$out);
  let dtypes = Fixed<"bool", ["x", "y"]>;
  let inplace = [];
}
class Logic<string m, string what, dag body, string expr, string symbol = "">
    : Binary<m, what, body, expr, [], symbol, Tess_Bool> {
  let description = "`out = x " # symbol # " y` of bool.";
}
class Bits<string m, string what, dag body, string expr, string symbol, string lo = "-100", string hi = "100">
    : Binary<m, what, body, expr, [], symbol, Tess_Int> {
  let description = "`out = x " # symbol # " y` of the integers as two's complement.";
  let samples = [Sample<["2,3", "2,3"], "", lo, hi>, Sample<["2,3", "3"], "", lo, hi>, Sample<["", "2,0"], "", lo, hi>];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//
def Tess_AddOp : Binary<"add", "sum of two tensors", (s_add $x, $y), "x + y", [(same $dout), (same $dout)], "+",
                        Tess_NumberOrComplex> {
  let description = [{`out = x + y`; integers wrap around.}];
  let onnx = "Add";
}
def Tess_SubOp : Binary<"sub", "difference of two tensors", (s_sub $x, $y), "x - y",
                        [(same $dout), (op<"neg"> $dout)], "-", Tess_NumberOrComplex> {
  let description = [{`out = x - y`; integers wrap around.}];
  let onnx = "Sub";
}
def Tess_MulOp : Binary<"mul", "product of two tensors", (s_mul $x, $y), "x * y",
                        [Arriving<(op<"mul"> $dout, (op<"conj"> $y))>.all, Arriving<(op<"mul"> $dout, (op<"conj"> $x))>.all], "*",
                        Tess_NumberOrComplex> {
  let description = [{`out = x * y`; integers wrap around. Of complex numbers (a, b) and (c, d) it is
    (a c - b d, a d + b c), whatever is infinite or NaN.}];
  let onnx = "Mul";
}
def Tess_DivOp : FloatBinary<"div", "quotient of two tensors", (s_div $x, $y), "x / y",
                             [(op<"div"> $dout, (op<"conj"> $y)),
                              (op<"neg"> (op<"div"> (op<"mul"> $dout, (op<"conj"> $out)), (op<"conj"> $y)))], "/",
                             Tess_FloatOrComplex> {
  let autocast = "high";
  let description = [{`out = x / y`, never rounded to an integer. Division by 0 gives inf, -inf or NaN, as IEEE
    754 says. Of complex numbers both are divided by the larger part of y, so that nothing overflows on the
    way, and multiplied by conj(y); by 0 it is infinite, by an infinite number 0, as in C11, Annex G.5.1.}];
  let onnx = "Div(...)";
}
def Tess_FloorDivOp : Binary<"floor_div", "largest integer not above the quotient", (s_floordiv $x, $y),
                             "np.floor_divide(x, y)", [(op<"full_like", "value=0.0"> $x),
                                                       (op<"full_like", "value=0.0"> $y)], "//"> {
  let description = [{`out = floor(x / y)`, as Python's //. An integer divided by 0 gives 0, a float inf, -inf
    or NaN; the gradient is 0.}];
  let samples = BinarySamples<"1", "9">.all;
}
def Tess_ModOp : Binary<"mod", "remainder with the sign of the divisor", (s_mod $x, $y), "np.mod(x, y)",
                        [(same $dout), Arriving<(op<"neg"> (op<"mul"> $dout, (op<"floor_div"> $x, $y)))>.all], "%"> {
  let description = [{`out = x - floor(x / y) * y`, as Python's %, rounded once. An integer modulo 0 is 0, a
    float NaN.}];
  let samples = BinarySamples<"1", "9">.all;
  let onnx = "Mod(...)";
}
// The slopes y * x^(y - 1) and x^y * log(x). A base of 0 or NaN is replaced where the exponent is 0, and 0 in the
// logarithm, before the function is taken, so that further gradients are finite there, too.
def PowSlopes {
  defvar zero = K<"0", "x">;
  defvar one = K<"1", "x">;
  defvar isZero = (op<"equal"> $x, zero);
  defvar hasSize = (op<"logical_and"> (op<"logical_not"> isZero), (op<"equal"> $x, $x));
  defvar isFlat = (op<"logical_and"> (op<"equal"> $y, zero), (op<"logical_not"> hasSize));
  dag ofX = (op<"mul"> $y, (op<"pow"> (op<"where"> isFlat, one, $x), (op<"sub"> $y, one)));
  dag ofY = (op<"mul"> (op<"where"> isZero, zero, $out), (op<"log"> (op<"where"> isZero, one, $x)));
}
def Tess_PowOp : FloatBinary<"pow", "power", (s_pow $x, $y), "np.power(x, y)",
    [(op<"mul"> $dout, (op<"conj"> PowSlopes.ofX)), (op<"mul"> $dout, (op<"conj"> PowSlopes.ofY))], "**",
    Tess_FloatOrComplex> {
  let autocast = "high";
  let description = [{`out = x^y`, with the special values of C11, Annex F.10.4.4: `x^0` and `1^y` are 1 even of
    NaN; a negative x gives NaN unless y is a whole number. The gradient of y is 0 where x is 0, NaN where x is negative.
    Of complex numbers it is made of products where y is a whole number below 128, else exp(y * log(x)); a power of 0 is
    0 where the real part of y is positive, else NaN.}];
  let onnx = "Pow(...)";
}
// Where 0 arrives and the other factor is infinite or NaN.
class Masked<string m, string what, dag body, string expr, list<dag> grads> : Binary<m, what, body, expr, grads, "", Tess_Float> {
  let samples = !listconcat(BinarySamples<"0.5", "2">.all, [Sample<["8", "8"], "", "-1", "2">]);
}
defvar leftOut = (op<"logical_and"> (op<"equal"> $x, K<"0", "x">), (op<"logical_not"> (op<"isfinite"> $y)));
def Tess_MaskedMulOp : Masked<"masked_mul", "product in which 0 times what is not finite is 0",
    (s_select (s_eq $x, C<"0">), (s_select (s_isnan (s_mul $x, $y)), C<"0">, (s_mul $x, $y)), (s_mul $x, $y)),
    "tess_oracle.masked(x, x * y)",
    [(op<"where"> leftOut, K<"0", "dout">, (op<"masked_mul"> $dout, $y)), (op<"masked_mul"> $dout, $x)]> {
  let description = [{`out = x * y`, and 0 where x is 0 and the product NaN: the gradient x of an element that a mask leaves
    out, whose slope y may be anything.}];
}
def Tess_MaskedDivOp : Masked<"masked_div", "quotient in which 0 divided by 0 is 0",
    (s_select (s_eq $x, C<"0">), (s_select (s_isnan (s_div $x, $y)), C<"0">, (s_div $x, $y)), (s_div $x, $y)),
    "tess_oracle.masked(x, x / y)",
    [(op<"where"> (op<"logical_and"> (op<"equal"> $x, K<"0", "x">), (op<"isnan"> (op<"div"> $x, $y))), K<"0", "dout">,
                  (op<"masked_div"> $dout, $y)),
     (op<"neg"> (op<"masked_div"> (op<"masked_mul"> $dout, $out), $y))]> {
  let description = [{`out = x / y`, and 0 where x is 0 and the quotient NaN: the gradient x of an element that a mask leaves
    out.}];
}
def Tess_MaximumOp : Binary<"maximum", "larger of two elements; NaN if either is", (s_max $x, $y), "np.maximum(x, y)",
    [(op<"where"> (op<"greater_equal"> $x, $y), $dout, K<"0", "dout">),
     (op<"where"> (op<"less"> $x, $y), $dout, K<"0", "dout">)]> {
  let description = [{`out = max(x, y)`. Where the two are equal, x takes the gradient.}];
  let onnx = "Max";
}
def Tess_MinimumOp : Binary<"minimum", "smaller of two elements; NaN if either is", (s_min $x, $y), "np.minimum(x, y)",
    [(op<"where"> (op<"less_equal"> $x, $y), $dout, K<"0", "dout">),
     (op<"where"> (op<"greater"> $x, $y), $dout, K<"0", "dout">)]> {
  let description = [{`out = min(x, y)`. Where the two are equal, x takes the gradient.}];
  let onnx = "Min";
}
def Tess_NegOp : Unary<"neg", "negation", (s_neg $x), "-x", (op<"neg"> $dout), Tess_NumberOrComplex> {
  let description = [{`out = -x`; the lowest integer stays itself, and unsigned integers wrap around.}];
  let python = Py<"functional.elemwise", "neg", ["neg"], "-">;
  let onnx = "Neg";
}
// The gradient of a length: along the number itself, divided by its length; 0 at 0.
def AlongNumber {
  defvar length = (op<"where"> (op<"equal"> $out, K<"0", "out">), K<"1", "out">, $out);
  dag all = (op<"mul"> (op<"cast", "dtype=@x"> (op<"div"> $dout, length)), $x);
}
def Tess_AbsOp : Unary<"abs", "absolute value", (s_abs $x), "np.abs(x)",
                       (when<"isComplex(@x)"> AlongNumber.all, Arriving<(op<"mul"> $dout, (op<"sign"> $x))>.all),
                       Tess_NumberOrComplex> {
  let description = [{`out = |x|`; the lowest integer stays itself. Of a complex number it is the length,
    sqrt(real^2 + imag^2), without overflow on the way, and infinite where a part is. The gradient at 0 is 0.}];
  let results = (outs Tess_Number:$out);
  let dtypes = PartOf<"x">;
  let python = Py<"functional.elemwise", "abs", ["abs"], "abs">;
  let onnx = "Abs";
}
def Tess_SignOp : Unary<"sign", "-1, 0 or 1, as the sign of the element", (s_sign $x), "np.sign(x)",
                        (op<"full_like", "value=0.0"> $x)> {
  let description = [{`out = 1` where x > 0, -1 where x < 0, 0 at both zeros; NaN stays NaN. The gradient is 0.}];
  let python = Py<"functional.math", "sign", ["sign"]>;
  let onnx = "Sign";
}
def Tess_SquareOp : Unary<"square", "the element times itself", (s_square $x), "np.square(x)",
                          Arriving<(op<"mul"> $dout, (op<"conj"> (op<"add"> $x, $x)))>.all, Tess_NumberOrComplex> {
  let description = [{`out = x * x`; integers wrap around.}];
}
def Tess_ClipOp : Unary<"clip", "element limited to a range", (s_min (s_max $x, $lower), $upper),
    "np.clip(x, lower, upper)",
    (op<"where"> (op<"logical_and">
        (op<"greater_equal"> $x, (op<"full", "shape=[];value=$lower;dtype=@x">)),
        (op<"less_equal"> $x, (op<"full", "shape=[];value=$upper;dtype=@x">))), $dout, K<"0", "dout">)> {
  let quant = "rounds";
  let description = [{`out = min(max(x, lower), upper)`: upper where lower is above it. NaN stays NaN; the
    gradient passes at the limits themselves.}];
  let arguments = (ins Tess_Number:$x, Runtime<DefaultValuedAttr<F64Attr, "-INFINITY">>:$lower,
                   Runtime<DefaultValuedAttr<F64Attr, "INFINITY">>:$upper);
  let attrFacts = [Doc<"lower", "smallest value">, Doc<"upper", "largest value">, Fits<"lower", "AtMost">,
                   Fits<"upper", "AtLeast">];
  let samples = !listconcat(UnarySamples<"-9", "9", "lower=-3.0;upper=4.0">.all, [Sample<["2,3"], "lower=0.0">]);
  let onnx = "Clip(...)";
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//
def Tess_EqualOp : Compare<"equal", "whether elements are equal", (s_eq $x, $y), "x == y", "==",
                           Tess_NumberOrBoolOrComplex> {
  let python = Py<"functional.elemwise", "equal", [], "==">; // no method: PyTorch's compares whole tensors
  let onnx = "Equal";
}
def Tess_NotEqualOp : Compare<"not_equal", "whether elements differ", (s_ne $x, $y), "x != y", "!=",
                              Tess_NumberOrBoolOrComplex>;
def Tess_LessOp : Compare<"less", "whether x is below y", (s_lt $x, $y), "x < y", "<"> { let onnx = "Less"; }
def Tess_LessEqualOp : Compare<"less_equal", "whether x is not above y", (s_le $x, $y), "x <= y", "<="> {
  let onnx = "LessOrEqual";
}
def Tess_GreaterOp : Compare<"greater", "whether x is above y", (s_gt $x, $y), "x > y", ">"> { let onnx = "Greater"; }
def Tess_GreaterEqualOp : Compare<"greater_equal", "whether x is not below y", (s_ge $x, $y), "x >= y", ">="> {
  let onnx = "GreaterOrEqual";
}
def Tess_IsnanOp : Predicate<"isnan", "whether the element is NaN", (s_isnan $x), "np.isnan(x)"> {
  let description = [{`out = x != x`, false of integers and bool.}];
  let onnx = "IsNaN";
}
def Tess_IsinfOp : Predicate<"isinf", "whether the element is infinite", (s_isinf $x), "np.isinf(x)"> {
  let description = [{`out = |x| == inf`: true of both infinities, false of NaN, integers and bool.}];
  let onnx = "IsInf";
}
def Tess_IsfiniteOp : Predicate<"isfinite", "whether the element is a finite number", (s_isfinite $x),
                                "np.isfinite(x)"> {
  let description = [{`out = |x| < inf`: false of both infinities and of NaN, true of integers and bool.}];
}
def Tess_WhereOp : Tess_Op<"where"> {
  let summary = "x where the mask is true, y elsewhere";
  let description = [{`out = x` where mask is true, `y` elsewhere. An element that is not taken does not count,
    even if it is NaN, and has the gradient 0.}];
  let arguments = (ins Tess_Bool:$mask, Tess_Moved:$x, Tess_Moved:$y);
  let results = (outs Tess_Moved:$out);
  let shapes = "(*D), (*D), (*D) -> (*D)";
  let dtypes = Promote<["x", "y"]>;
  let lowering = Elementwise_;
  let scalar = [(s_select $mask, $x, $y)];
  let gradient = [(none), (op<"where"> $mask, $dout, K<"0", "dout">), (op<"where"> $mask, K<"0", "dout">, $dout)];
  let inplace = ["x=out", "y=out"];
  let samples = [Sample<["", "", ""]>, Sample<["2,3", "2,3", "2,3"]>, Sample<["3", "2,1", "2,3"]>,
                 Sample<["2,3", "", "3"]>, Sample<["0,3", "3", "1"]>, Sample<["2,1,3,1", "4,1,1", "3,5"]>];
  let oracle = Oracle<"np.where(mask, x, y)">;
  let python = Py<"functional.tensor", "where">;
  let onnx = "Where";
}

//===----------------------------------------------------------------------===//
// Logic and bits
//===----------------------------------------------------------------------===//
def Tess_LogicalAndOp : Logic<"logical_and", "whether both are true", (s_and $x, $y), "np.logical_and(x, y)", "&"> {
  let onnx = "And";
}
def Tess_LogicalOrOp : Logic<"logical_or", "whether one is true", (s_or $x, $y), "np.logical_or(x, y)", "|"> {
  let onnx = "Or";
}
def Tess_LogicalXorOp : Logic<"logical_xor", "whether exactly one is true", (s_xor $x, $y), "np.logical_xor(x, y)",
                              "^"> { let onnx = "Xor"; }
def Tess_LogicalNotOp : Unary<"logical_not", "whether it is false", (s_not $x), "np.logical_not(x)", (none), Tess_Bool> {
  let description = [{`out = not x`.}];
  let gradient = [];
  let python = Py<"functional.elemwise", "logical_not", ["logical_not"], "~">;
  let onnx = "Not";
}
def Tess_LeftShiftOp : Bits<"left_shift", "bits moved up", (s_shl $x, $y), "np.left_shift(x, y)", "<<", "0", "6"> {
  let description = [{`out = x * 2^y`, wrapped around. A shift by the width of the dtype or more, or by a
    negative number, gives 0.}];
  let onnx = "BitShift(...)";
}
def Tess_RightShiftOp : Bits<"right_shift", "bits moved down, the sign kept", (s_shr $x, $y), "np.right_shift(x, y)",
                             ">>", "0", "7"> {
  let description = [{`out = floor(x / 2^y)`. A shift by the width of the dtype or more, or by a negative
    number, gives 0, or -1 where x is negative.}];
  let onnx = "BitShift(...)";
}
def Tess_BitwiseAndOp : Bits<"bitwise_and", "and of each bit", (s_bitand $x, $y), "np.bitwise_and(x, y)", "&", "0"> {
  let onnx = "BitwiseAnd";
}
def Tess_BitwiseOrOp : Bits<"bitwise_or", "or of each bit", (s_bitor $x, $y), "np.bitwise_or(x, y)", "|", "0"> {
  let onnx = "BitwiseOr";
}
def Tess_BitwiseXorOp : Bits<"bitwise_xor", "exclusive or of each bit", (s_bitxor $x, $y), "np.bitwise_xor(x, y)", "^",
                             "0"> { let onnx = "BitwiseXor"; }
def Tess_BitwiseNotOp : Unary<"bitwise_not", "each bit inverted", (s_bitnot $x), "np.invert(x)", (none), Tess_Int> {
  let description = [{`out = ~x`, which is -x - 1 in two's complement and the largest number - x of unsigned
    integers.}];
  let gradient = [];
  let samples = UnarySamples<"0", "100">.all;
  let python = Py<"functional.elemwise", "bitwise_not", ["bitwise_not"], "~">;
  let onnx = "BitwiseNot";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//
defvar realDTypes = ["f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool",
                     "f8e4m3fn", "f8e5m2", "intb1", "intb2", "intb4"];
def Tess_CastOp : Tess_Op<"cast"> {
  let summary = "elements converted to another dtype";
  let description = [{Floats become integers by rounding towards zero; what lies beyond the integer's range
    becomes the nearest end of it, NaN 0. Integers become narrower ones by wrapping around, numbers become
    floats by one rounding to nearest even; anything becomes bool by comparison with zero. A float8 is a
    float here: what lies beyond the largest number of float8_e5m2 becomes infinite, of float8_e4m3fn, which
    has no infinity, NaN, and no gradient goes through either. A number becomes complex with an imaginary
    part of 0, and a complex one becomes complex or bool only: real and imag take its parts. What becomes
    intb1, intb2 or intb4 goes to the nearest number of the dtype, even integers away from zero, 0 and NaN to 1.}];
  let arguments = (ins Tess_Unquantized:$x, Tess_DTypeAttr:$dtype);
  let results = (outs Tess_Unquantized:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = FromAttr<"dtype">;
  let lowering = Elementwise_;
  let scalar = [(s_cast $x)];
  let gradient = [(op<"cast", "dtype=@x"> $dout)];
  let samples = [Sample<["2,3"], "dtype=f32", "-2", "2", realDTypes>, Sample<[""], "dtype=f64", "-2", "2", realDTypes>,
                 Sample<["2,3"], "dtype=i32", "-2", "2", realDTypes>, Sample<["0,2"], "dtype=i64", "-2", "2", realDTypes>,
                 Sample<["5"], "dtype=f16", "-2", "2", realDTypes>, Sample<["5"], "dtype=bf16", "-2", "2", realDTypes>,
                 Sample<["5"], "dtype=i8", "-2", "2", realDTypes>, Sample<["5"], "dtype=u8", "0", "2", realDTypes>,
                 Sample<["5"], "dtype=i16", "-2", "2", realDTypes>, Sample<["5"], "dtype=u16", "0", "2", realDTypes>,
                 Sample<["5"], "dtype=u32", "0", "2", realDTypes>, Sample<["5"], "dtype=u64", "0", "2", realDTypes>,
                 Sample<["5"], "dtype=f8e4m3fn", "-2", "2", realDTypes>,
                 Sample<["5"], "dtype=f8e5m2", "-2", "2", realDTypes>, Sample<["3,5"], "dtype=c64">,
                 Sample<["5"], "dtype=intb1", "-2", "2", realDTypes>, Sample<["7"], "dtype=intb2", "-5", "5", realDTypes>,
                 Sample<["9"], "dtype=intb4", "-20", "20", realDTypes>,
                 Sample<["5"], "dtype=c128">, Sample<["2,3,1,2,2"], "dtype=bool">];
  let attrFacts = [Doc<"dtype", "dtype of the result">];
  let requires = [Require<"x must be real where dtype is neither complex nor bool",
                          "!isComplex(@x) || isComplex($dtype) || $dtype == bool", "x {x}">];
  let oracle = Oracle<"tess_oracle.cast(x, dtype)">;
  let python = Py<"functional.tensor", "astype", ["astype"], "", ["x=inp"]>;
  let onnx = "Cast(...)";
}
def Tess_CopyOp : Unary<"copy", "the same elements in new contiguous memory", (s_id $x), "x", (same $dout), Tess_Moved> {
  let description = [{`out = x`, in row-major order whatever the layout of x.}];
  let inplace = [];
  let python = Py<"functional.tensor", "copy", ["copy", "clone"], "", ["x=inp"]>;
  let onnx = "Identity";
}

#endif // TESS_OPS_ELEMENTWISE
