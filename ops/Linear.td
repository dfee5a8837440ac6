//===- Linear.td - matrix products ---------------------------*- tablegen -*-===//
#ifndef TESS_OPS_LINEAR
#define TESS_OPS_LINEAR

include "ops/Base.td"

def Tess_MatmulOp : Tess_Op<"matmul"> {
  let summary = "matrix product over the last two axes";
  let description = [{`out[..., m, n] = sum_k x[..., m, k] * y[..., k, n]`; leading axes broadcast. With K = 0
    every element is 0. A vector counts as a row on the left, as a column on the right, as in NumPy's matmul.}];
  let arguments = (ins Tess_FloatOrComplex:$x, Tess_FloatOrComplex:$y, DefaultValuedAttr<BoolAttr, "false">:$transpose_x,
                   DefaultValuedAttr<BoolAttr, "false">:$transpose_y);
  let results = (outs Tess_FloatOrComplex:$out);
  let shapes = "transpose_x ? (*B, K, M) : (*B, M, K), transpose_y ? (*B, N, K) : (*B, K, N) -> (*B, M, N)";
  let dtypes = Promote<["x", "y"]>;
  let lowering = Library<"matmul">;
  let takesVectors = 1;
  let sharded = 1;
  let gradientRule = "matmul";
  let attrFacts = [Doc<"transpose_x", "swap the last two axes of x first">,
                   Doc<"transpose_y", "swap the last two axes of y first">, BindTime<"transpose_x">, BindTime<"transpose_y">];
  let samples = [Sample<["2,3", "3,4"]>, Sample<["5,2,3", "3,4"]>, Sample<["2,3", "5,3,4"]>,
                 Sample<["3,2", "3,4"], "transpose_x=true">, Sample<["2,3", "4,3"], "transpose_y=true">,
                 Sample<["2,1,3,2", "5,4,3"], "transpose_x=true;transpose_y=true">, Sample<["0,3", "3,4"]>,
                 Sample<["2,0", "0,4"]>, Sample<["1,2,3,2,3", "2,1,3,4"]>];
  let oracle = Oracle<"np.matmul(x.swapaxes(-1, -2) if transpose_x else x, y.swapaxes(-1, -2) if transpose_y else y)">;
  let python = Py<"functional.math", "matmul", [], "@">;
  let onnx = "MatMul";
}
def Tess_LinearOp : Tess_Op<"linear"> {
  let summary = "product with a transposed weight, plus a bias";
  let description = [{`out[..., o] = sum_i x[..., i] * weight[o, i] + bias[o]`.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$weight, Optional<Tess_Float>:$bias);
  let results = (outs Tess_Float:$out);
  let shapes = "(*B, I), (O, I), (O)? -> (*B, O)";
  let dtypes = Promote<["x", "weight", "bias"]>;
  let lowering = Composite<"linear">;
  let sharded = 1;
  let samples = [Sample<["2,3", "4,3"]>, Sample<["2,3", "4,3", "4"]>, Sample<["5,2,3", "4,3", "4"]>,
                 Sample<["0,3", "4,3", "4"]>, Sample<["3", "4,3", "4"]>];
  let oracle = Oracle<"x @ weight.T + (0 if bias is None else bias)">;
  let python = Py<"functional.nn", "linear">;
  let onnx = "Gemm";
}

#endif // TESS_OPS_LINEAR
