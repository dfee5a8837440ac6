//===- Random.td - random numbers ----------------------------*- tablegen -*-===//
//
// Element i is a function of (seed, offset + i): Philox4x32-10, J. K. Salmon et
// al.: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011. The same numbers for
// any thread count and device. Whoever draws moves the offset on by the number
// of elements.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_RANDOM
#define TESS_OPS_RANDOM

include "ops/records/Base.td"

class RandomOp<string m, string what, string formula, ScalarFn fn, string expr> : Tess_Op<m> {
  let summary = what;
  let description = "Element i, counted in row-major order, is " # formula # [{, made of the words of Philox4x32-10 for
    key seed and counter offset + i: J. K. Salmon et al.: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011. Equal
    seeds and offsets give equal numbers.}];
  let arguments = (ins Tess_Index:$seed, Tess_Index:$offset, DenseI64ArrayAttr:$shape,
                   DefaultValuedStrAttr<Tess_DTypeAttr, "f32">:$dtype);
  let results = (outs Tess_Float:$out);
  let shapes = "(), () -> (*@shape)";
  let dtypes = FromAttr<"dtype">;
  let lowering = Elementwise_;
  let scalar = [(fn $seed, (s_add (s_index), $offset))];
  let stochastic = 1;
  let attrFacts = [Doc<"shape", "shape of the result">, Doc<"dtype", "dtype of the result">, BindTime<"shape">, SizeAttr<"shape">];
  let samples = [Sample<["", ""], "shape=[3, 5]", "0", "100">, Sample<["", ""], "shape=[];dtype=f64", "0", "100">,
                 Sample<["", ""], "shape=[0]", "0", "100">];
  let oracle = Oracle<expr>;
  let python = Py<"random", m>;
}
def Tess_UniformOp : RandomOp<"uniform", "random numbers, uniform in [0, 1)",
                              "`u = k * 2^-24` with 24 bits of k, and in float64 `k * 2^-53` with 53", s_philoxuniform,
                              "tess_oracle.philox_uniform(seed, offset, shape, dtype)">;
def Tess_NormalOp : RandomOp<"normal", "random numbers of the standard normal distribution",
                             "`sqrt(-2 * log(1 - u)) * cos(2 * pi * v)` of two uniform numbers (G. E. P. Box, M. E. "
                             "Muller: A Note on the Generation of Random Normal Deviates, 1958)", s_philoxnormal,
                             "tess_oracle.philox_normal(seed, offset, shape, dtype)">;

def Tess_DropoutOp : Tess_Op<"dropout"> {
  let summary = "elements set to zero at random, the others scaled up";
  let description = [{`out = x / (1 - p)` where u >= p, 0 elsewhere; u is what uniform, in float32, draws for
    the element from the same seed and offset. N. Srivastava et al.: Dropout, JMLR 15, 2014.}];
  let arguments = (ins Tess_Float:$x, Tess_Index:$seed, Tess_Index:$offset, Runtime<DefaultValuedAttr<F64Attr, "0.5">>:$p);
  let results = (outs Tess_Float:$out, Tess_Bool:$mask);
  let hidden = ["mask"];
  let shapes = "(*D), (), () -> (*D), (*D)";
  let dtypes = Same<"x">;
  let lowering = Elementwise_;
  defvar stays = (s_ge (s_philoxuniform $seed, (s_add (s_index), $offset)), $p);
  let scalar = [(s_select stays, (s_div $x, (s_sub C<"1">, $p)), C<"0">), (s_id stays)];
  let gradient = [(op<"where"> $mask, (op<"div"> $dout, (op<"sub"> K<"1", "x">,
                      (op<"full", "shape=[];value=$p;dtype=@x">))), K<"0", "x">), (none), (none)];
  let stochastic = 1;
  let attrFacts = [Doc<"p", "probability of zero">, Range<"p", "0", "1">];
  let samples = [Sample<["3,5", "", ""], "", "-2; 0; 0", "2; 100; 100">,
                 Sample<["7", "", ""], "p=0.25", "-2; 0; 0", "2; 100; 100">,
                 Sample<["3,5", "", ""], "p=1.0", "-2; 0; 0", "2; 100; 100">,
                 Sample<["0,3", "", ""], "p=0.0", "-2; 0; 0", "2; 100; 100">];
  let oracle = Oracle<"tess_oracle.dropout(x, seed, offset, p)">;
  let python = Py<"functional.nn", "dropout">;
  let onnx = "Dropout(...)";
}

#endif // TESS_OPS_RANDOM
