//===- Linalg.td - matrices: systems, factors, spectra --------*- tablegen -*-===//
//
// By LAPACK, a call for each matrix: axes before the last two are a batch.
// Gradients: Giles, An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation (2008).
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_LINALG
#define TESS_OPS_LINALG

include "ops/records/Base.td"

class MatrixOp<string m, string what, string expr> : Tess_Op<m> {
  let autocast = "high";
  let summary = what;
  let arguments = (ins Tess_Float:$x);
  let results = (outs Tess_Float:$out);
  let dtypes = PromoteFloat<["x"]>;
  let lowering = Library<m>;
  let gradientRule = m;
  let samples = [Sample<["3,3"]>, Sample<["2,1,4,4"]>, Sample<["1,1"]>, Sample<["0,2,2"]>, Sample<["2,0,0"]>];
  let oracle = Oracle<expr>;
  let python = Py<"functional.math", m, [m], "", ["x=inp"]>;
}

//===----------------------------------------------------------------------===//
// Systems of equations
//===----------------------------------------------------------------------===//
class SystemOp<string m, string what, string expr> : MatrixOp<m, what, expr> {
  let arguments = (ins Tess_Float:$a, Tess_Float:$b);
  let shapes = "(*B, N, N), (*B, N, K) -> (*B, N, K)";
  let dtypes = PromoteFloat<["a", "b"]>;
  let takesVectors = 1;
  let python = Py<"functional.math", m>;
}
def Tess_SolveOp : SystemOp<"solve", "solution of a system of linear equations", "np.linalg.solve(a, b)"> {
  let description = [{`out` with `a out = b`, by a factorization with exchanged rows. A vector b is a column; leading
    axes broadcast. An exact 0 as pivot, as of a singular matrix, is an error when the kernel runs.}];
  let samples = [Sample<["3,3", "3,2"]>, Sample<["2,4,4", "4,1"]>, Sample<["3,3", "2,3,2"]>, Sample<["0,2,2", "2,3"]>,
                 Sample<["2,2", "2,0"]>, Sample<["0,0", "0,3"]>];
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> a = ts.tensor([[2.0, 0.0], [1.0, 1.0]])\n",
                           ">>> F.solve(a, ts.tensor([4.0, 3.0])).tolist()\n[2.0, 1.0]");
}
def Tess_SolveTriangularOp : SystemOp<"solve_triangular", "solution of a system that has the form of a triangle",
                                      "tess_oracle.solve_triangular(a, b, lower, transpose, unit_diagonal)"> {
  let description = [{`out` with `a out = b`, or `a^T out = b` with transpose, where a is its upper triangle, or with
    lower its lower one; the rest is not read. A vector b is a column; leading axes broadcast. A 0 on the diagonal is
    an error when the kernel runs.}];
  let arguments = (ins Tess_Float:$a, Tess_Float:$b, DefaultValuedAttr<BoolAttr, "false">:$lower,
                   DefaultValuedAttr<BoolAttr, "false">:$transpose, DefaultValuedAttr<BoolAttr, "false">:$unit_diagonal);
  let gradientRule = "solveTriangular";
  let attrFacts = [Doc<"lower", "read the lower triangle of a">, BindTime<"lower">,
                   Doc<"transpose", "solve for the transposed triangle">, BindTime<"transpose">,
                   Doc<"unit_diagonal", "take the diagonal for ones, without reading it">, BindTime<"unit_diagonal">];
  let samples = [Sample<["3,3", "3,2"]>, Sample<["2,4,4", "4,1"], "lower=true">, Sample<["3,3", "2,3,2"], "transpose=true">,
                 Sample<["3,3", "3,2"], "lower=true;transpose=true;unit_diagonal=true">,
                 Sample<["2,3,3", "3,2"], "unit_diagonal=true">, Sample<["0,2,2", "2,3"]>, Sample<["0,0", "0,3"]>];
}
def Tess_MatInvOp : MatrixOp<"matinv", "inverse of a matrix", "np.linalg.inv(x)"> {
  let description = [{`x out = 1`, the identity. `solve` is faster and more exact where the inverse is multiplied by
    something. An exact 0 as pivot, as of a singular matrix, is an error when the kernel runs.}];
  let shapes = "(*B, N, N) -> (*B, N, N)";
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> F.matinv(ts.tensor([[4.0]])).tolist()\n[[0.25]]");
}
def Tess_DetOp : MatrixOp<"det", "determinant of a matrix", "np.linalg.det(x)"> {
  let description = [{The product of the pivots of x with the sign of the exchanges of its rows; 1 of a matrix without
    elements. Its gradient is the transposed adjugate, also of a singular matrix, for which the second one is an error.}];
  let shapes = "(*B, N, N) -> (*B)";
  let onnx = "Det";
}
def Tess_AdjugateOp : MatrixOp<"adjugate", "determinants of what is left of a matrix without a row and a column, transposed",
                               "np.linalg.det(x)[..., None, None] * np.linalg.inv(x)"> {
  let description = [{`out = det(x) * inverse(x)`, and of a singular matrix the limit of that: element (i, j) is
    (-1)^(i + j) times the determinant of x without row j and column i. It is computed by the singular values of x. Its
    gradient is made of the inverse, and an error of a singular matrix when the kernel runs.}];
  let shapes = "(*B, N, N) -> (*B, N, N)";
  let lowering = Composite<>;
  // The determinants of u and vh are 1 or -1.
  defvar u = (result<"u"> (op<"svd"> $x));
  defvar s = (result<"s"> (op<"svd"> $x));
  defvar vh = (result<"vh"> (op<"svd"> $x));
  defvar others = (op<"mul"> (op<"cumprod", "axis=-1;exclusive=true"> s),
                             (op<"cumprod", "axis=-1;exclusive=true;reverse=true"> s));
  defvar turns = (op<"sign"> (op<"mul"> (op<"det"> u), (op<"det"> vh)));
  defvar scaled = (op<"mul"> (op<"expand_dims", "axis=[-1]"> (op<"mul"> others, (op<"expand_dims", "axis=[-1]"> turns))), vh);
  let forward = [(op<"matmul", "transpose_x=true;transpose_y=true"> scaled, u)];
}
def Tess_SlogdetOp : MatrixOp<"slogdet", "sign of a determinant, and the logarithm of its size", "np.linalg.slogdet(x)"> {
  let description = [{`det(x) = sign * exp(logabsdet)`, where a product would overflow. Of a singular matrix they are 0
    and -inf, and there is no gradient, which is made of the inverse.}];
  let results = (outs Tess_Float:$sign, Tess_Float:$logabsdet);
  let shapes = "(*B, N, N) -> (*B), (*B)";
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//
def Tess_CholeskyOp : MatrixOp<"cholesky", "triangular factor of a positive definite matrix",
                               "tess_oracle.of_symmetric(np.linalg.cholesky, x)"> {
  let description = [{The lower triangle `out` with `out out^T = x`. Of a matrix that is not symmetric the mean with its
    transposed is taken, so that the gradient is symmetric. A matrix that is not positive definite is an error when the
    kernel runs. Gradient: Murray, Differentiation of the Cholesky decomposition (2016).}];
  let shapes = "(*B, N, N) -> (*B, N, N)";
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> F.cholesky(ts.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()\n[[2.0, 0.0], [1.0, 2.0]]");
}
class FactorOp<string m, string what, string expr> : MatrixOp<m, what, expr> {
  let shapeRule = m;
  let constraints = ["x must have rank >= 2"];
  let samples = [Sample<["3,3"]>, Sample<["4,2"]>, Sample<["2,2,4"]>, Sample<["1,1"]>, Sample<["0,3,2"]>, Sample<["2,0"]>,
                 Sample<["0,2"]>];
}
def Tess_QrOp : FactorOp<"qr", "orthogonal columns and a triangle whose product a matrix is", "np.linalg.qr(x)"> {
  let description = [{`x = q r`: the columns of q are orthonormal, r is an upper triangle, and both have as many of them
    as the smaller size of x. Signs are as Householder's reflections leave them. There is a gradient where the first
    columns of x, as many, are independent; elsewhere its system is singular, which is an error.}];
  let results = (outs Tess_Float:$q, Tess_Float:$r);
}

//===----------------------------------------------------------------------===//
// Spectra
//===----------------------------------------------------------------------===//
defvar spectralErrors = [{ NaN and infinities are an error when the kernel runs, as is an iteration without an end.}];
def Tess_EighOp : MatrixOp<"eigh", "eigenvalues and eigenvectors of a symmetric matrix",
                           "tess_oracle.of_symmetric(tess_oracle.eigh, x)"> {
  let description = !strconcat([{`x v = v diag(w)`, with w ascending and orthonormal columns of v, of which each has its
    largest element positive, the first of equal ones. Of a matrix that is not symmetric the mean with its transposed is
    taken, so that the gradient is symmetric. Vectors of equal eigenvalues have no gradient.}], spectralErrors);
  let results = (outs Tess_Float:$w, Tess_Float:$v);
  let shapes = "(*B, N, N) -> (*B, N), (*B, N, N)";
}
def Tess_SvdOp : FactorOp<"svd", "singular values of a matrix, and the vectors that belong to them", "tess_oracle.svd(x)"> {
  let description = !strconcat([{`x = u diag(s) vh`, with s descending and as long as the smaller size of x, orthonormal
    columns of u and rows of vh. Each column of u has its largest element positive, the first of equal ones. Vectors of
    equal singular values, or of 0, have no gradient: Townsend, Differentiating the singular value decomposition
    (2016).}], spectralErrors);
  let results = (outs Tess_Float:$u, Tess_Float:$s, Tess_Float:$vh);
}
def Tess_SvdvalsOp : FactorOp<"svdvals", "singular values of a matrix", "np.linalg.svd(x, compute_uv=False)"> {
  let description = !strconcat([{`out` as the singular values of svd, descending, without the vectors, which only the
    gradient computes.}], spectralErrors);
}

#endif // TESS_OPS_LINALG
