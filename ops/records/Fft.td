//===- Fft.td - Fourier transforms ---------------------------*- tablegen -*-===//
//
// Along one axis; of more axes they are applied one after the other. Names and
// norms are the array API's. J. W. Cooley, J. W. Tukey: An Algorithm for the
// Machine Calculation of Complex Fourier Series, Mathematics of Computation 19,
// 1965.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_FFT
#define TESS_OPS_FFT

include "ops/records/Base.td"

class FftOp<string m, string what, string rule, string expr> : Tess_Op<m> {
  let summary = what;
  let lowering = Library<m>;
  let gradientRule = rule;
  let oracle = Oracle<expr>;
  let python = Py<"functional.fft", m>;
}
defvar fftFacts = [Axis<"axis", "x">, BindTime<"axis">, Doc<"axis", "axis to transform">, BindTime<"norm">,
                   Cases<"norm", ["backward", "ortho", "forward"]>,
                   Doc<"norm", "which transform is divided by the number of elements: the inverse one, both by its root, or the other">];
defvar fftAttrs = (ins DefaultValuedAttr<SI64Attr, "-1">:$axis, DefaultValuedStrAttr<StrAttr, "backward">:$norm);
defvar notEmptyAxis = "the transformed axis must not be empty";

def Tess_FftC2cOp : FftOp<"fft_c2c", "Fourier transform of complex numbers", "fftC2c",
                          "tess_oracle.fft_c2c(x, axis, norm, inverse)"> {
  let description = [{`out[k] = sum(x[j] * exp(-2 pi i j k / n))` along axis, or with inverse `exp(2 pi i j k / n) / n`, for
    each k below the size n of the axis.}];
  let arguments = !con((ins Tess_Complex:$x), fftAttrs, (ins DefaultValuedAttr<BoolAttr, "false">:$inverse));
  let results = (outs Tess_Complex:$out);
  let shapes = "(*D) -> (*D)";
  let check = "fft";
  let dtypes = Same<"x">;
  let attrFacts = !listconcat(fftFacts, [BindTime<"inverse">, Doc<"inverse", "the inverse transform">]);
  let constraints = [notEmptyAxis];
  let samples = [Sample<["8"]>, Sample<["2,5"], "inverse=true">, Sample<["3,4,2"], "axis=1;norm=\"ortho\"">,
                 Sample<["2,12"], "norm=\"forward\";inverse=true">, Sample<["0,4"]>, Sample<["2,1"]>, Sample<["11,3"], "axis=0">];
}
def Tess_FftR2cOp : FftOp<"fft_r2c", "first half of the Fourier transform of real numbers", "fftR2c",
                          "tess_oracle.fft_r2c(x, axis, norm)"> {
  let description = [{The first `floor(n / 2) + 1` elements of what fft_c2c gives along axis, of size n; the others are
    conjugates of these. Narrow floats become float32.}];
  let arguments = !con((ins Tess_Float:$x), fftAttrs);
  let results = (outs Tess_Complex:$out);
  let shapeRule = "fftR2c";
  let dtypes = ComplexOf<["x"]>;
  let attrFacts = fftFacts;
  let constraints = [notEmptyAxis];
  let samples = [Sample<["8"]>, Sample<["2,5"], "norm=\"forward\"">, Sample<["3,4,2"], "axis=1;norm=\"ortho\"">,
                 Sample<["0,4"]>, Sample<["2,1"]>, Sample<["11,3"], "axis=0">];
}
def Tess_FftC2rOp : FftOp<"fft_c2r", "real numbers from the first half of their Fourier transform", "fftC2r",
                          "tess_oracle.fft_c2r(x, length, axis, norm)"> {
  let description = [{The `length` numbers, along axis, whose fft_r2c is x, which must have `floor(length / 2) + 1`
    elements there. Imaginary parts of the first one, and where length is even of the last one, count as 0.}];
  let arguments = !con((ins Tess_Complex:$x, SI64Attr:$length), fftAttrs);
  let results = (outs Tess_Float:$out);
  let shapeRule = "fftC2r";
  let dtypes = PartOf<"x">;
  let attrFacts = !listconcat(fftFacts, [Range<"length", "1", "1e9">, BindTime<"length">, SizeAttr<"length">,
                                         Doc<"length", "size of axis in the result">]);
  let constraints = ["x must have floor(length / 2) + 1 elements along axis"];
  let samples = [Sample<["5"], "length=8">, Sample<["2,3"], "length=5;norm=\"forward\"">,
                 Sample<["3,3,2"], "length=4;axis=1;norm=\"ortho\"">, Sample<["0,3"], "length=4">, Sample<["2,1"], "length=1">,
                 Sample<["6,3"], "length=11;axis=0">];
}

#endif // TESS_OPS_FFT
