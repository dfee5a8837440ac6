//===- Complex.td - complex numbers and their parts ----------*- tablegen -*-===//
//
// Arithmetic on complex numbers is that of the records that real ones have. The
// gradient of a real loss L by z = a + b i is dL/da + i dL/db, as PyTorch has it:
// a step against it makes L smaller.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_COMPLEX
#define TESS_OPS_COMPLEX

include "ops/records/Elementwise.td"

// What one number has as a real one.
class Part<string m, string what, dag body, string expr, dag grad, Constraint type = Tess_NumberOrComplex,
           Constraint result = Tess_Number> : Unary<m, what, body, expr, grad, type> {
  let results = (outs result:$out);
  let dtypes = PartOf<"x">;
  let inplace = [];
  let python = Py<"functional.tensor", m, [], "", ["x=complex"]>;
}
def Tess_RealOp : Part<"real", "real part", (s_real $x), "np.real(x)", (op<"complex"> $dout, K<"0", "dout">)> {
  let description = [{`out = a` of x = a + b i; of a real number itself.}];
}
def Tess_ImagOp : Part<"imag", "imaginary part", (s_imag $x), "np.imag(x)", (op<"complex"> K<"0", "dout">, $dout)> {
  let description = [{`out = b` of x = a + b i; 0 of a real number.}];
}
// 0 and infinite numbers have no slope of their angle: 0 takes their place, and 1 that of their length.
defvar lengthOfX = (op<"abs"> $x);
defvar hasAngle = (op<"logical_and"> (op<"greater"> lengthOfX, K<"0", "out">), (op<"isfinite"> lengthOfX));
defvar pointOfX = (op<"where"> hasAngle, $x, K<"0", "x">);
defvar lengthOfPoint = (op<"where"> hasAngle, lengthOfX, K<"1", "out">);
def Tess_AngleOp : Part<"angle", "angle of a complex number", (s_atan2 (s_imag $x), (s_real $x)), "np.angle(x)",
    (op<"mul"> (op<"complex"> (op<"neg"> (op<"div"> (op<"imag"> pointOfX), lengthOfPoint)), (op<"div"> (op<"real"> pointOfX), lengthOfPoint)),
               (op<"complex"> (op<"div"> $dout, lengthOfPoint), K<"0", "dout">)),
    Tess_FloatOrComplex, Tess_Float> {
  let description = [{`out = arctan2(b, a)` of x = a + b i, in [-pi, pi]: 0 or pi of a real number. The
    gradient at 0, and of an infinite number, is 0.}];
  let python = Py<"functional.math", "angle", ["angle"], "", ["x=inp"]>;
}
def Tess_ConjOp : Unary<"conj", "conjugate of a complex number", (s_conj $x), "np.conj(x)", (op<"conj"> $dout),
                        Tess_NumberOrComplex> {
  let description = [{`out = a - b i` of x = a + b i; of a real number itself.}];
  let python = Py<"functional.math", "conj", ["conj"], "", ["x=inp"]>;
}
// A complex number of two floats.
class OfTwo<string m, string what, string first, string second, dag body, string expr, list<dag> grads> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Complex:$out);
  let shapes = "(*D), (*D) -> (*D)";
  let dtypes = ComplexOf<[first, second]>;
  let lowering = Elementwise_;
  let scalar = [body];
  let gradient = grads;
  let samples = BinarySamples<"0.5", "2">.all;
  let oracle = Oracle<expr>;
  let python = Py<"functional.tensor", m>;
}
def Tess_ComplexOp : OfTwo<"complex", "complex number of its parts", "real", "imag", (s_complex $real, $imag),
                           "tess_oracle.complex_of(real, imag)", [(op<"real"> $dout), (op<"imag"> $dout)]> {
  let description = [{`out = real + imag i`; parts that are narrower than float32 become float32.}];
  let arguments = (ins Tess_Float:$real, Tess_Float:$imag);
}
def Tess_PolarOp : OfTwo<"polar", "complex number of its length and angle", "abs", "angle",
    (s_complex (s_mul $abs, (s_cos $angle)), (s_mul $abs, (s_sin $angle))),
    "tess_oracle.complex_of(abs * np.cos(angle), abs * np.sin(angle))",
    [(op<"add"> (op<"mul"> (op<"cast", "dtype=@abs"> (op<"real"> $dout)), (op<"cos"> $angle)),
                (op<"mul"> (op<"cast", "dtype=@abs"> (op<"imag"> $dout)), (op<"sin"> $angle))),
     (op<"mul"> $abs, (op<"sub"> (op<"mul"> (op<"cast", "dtype=@abs"> (op<"imag"> $dout)), (op<"cos"> $angle)),
                                 (op<"mul"> (op<"cast", "dtype=@abs"> (op<"real"> $dout)), (op<"sin"> $angle))))]> {
  let description = [{`out = abs (cos(angle) + sin(angle) i)`; operands that are narrower than float32 become
    float32.}];
  let arguments = (ins Tess_Float:$abs, Tess_Float:$angle);
}

#endif // TESS_OPS_COMPLEX
