//===- Linear.td - products of vectors and matrices ---------------------------*- tablegen -*-===//
#ifndef TESS_OPS_LINEAR
#define TESS_OPS_LINEAR

include "ops/records/Base.td"

def Tess_MatmulOp : Tess_Op<"matmul"> {
  let autocast = "low";
  let summary = "matrix product over the last two axes";
  let description = [{`out[..., m, n] = sum_k x[..., m, k] * y[..., k, n]`; leading axes broadcast. With K = 0
    every element is 0. A vector counts as a row on the left, as a column on the right, as in NumPy's matmul. With dtype
    float32 the sums of narrower floats, which are kept in float32, are not rounded, and x and y may have two dtypes.}];
  let arguments = (ins Tess_FloatOrComplex:$x, Tess_FloatOrComplex:$y, DefaultValuedAttr<BoolAttr, "false">:$transpose_x,
                   DefaultValuedAttr<BoolAttr, "false">:$transpose_y, OptionalAttr<Tess_DTypeAttr>:$dtype);
  let results = (outs Tess_FloatOrComplex:$out);
  let shapes = "transpose_x ? (*B, K, M) : (*B, M, K), transpose_y ? (*B, N, K) : (*B, K, N) -> (*B, M, N)";
  let dtypes = PromoteOr<["x", "y"], "dtype">;
  let lowering = Library<"matmul">;
  let multiplyAdds = ["product(#out)", "#x[$transpose_x ? -2 : -1]"];
  let takesVectors = 1;
  let sharded = 1;
  let gradientRule = "matmul";
  let attrFacts = [Doc<"transpose_x", "swap the last two axes of x first">,
                   Doc<"transpose_y", "swap the last two axes of y first">,
                   Doc<"dtype", "float32, of the result; none: that of the operands">, BindTime<"transpose_x">, BindTime<"transpose_y">];
  let samples = [Sample<["2,3", "3,4"]>, Sample<["5,2,3", "3,4"]>, Sample<["2,3", "5,3,4"]>,
                 Sample<["3,2", "3,4"], "transpose_x=true">, Sample<["2,3", "4,3"], "transpose_y=true">,
                 Sample<["2,1,3,2", "5,4,3"], "transpose_x=true;transpose_y=true">, Sample<["0,3", "3,4"]>,
                 Sample<["2,0", "0,4"]>, Sample<["1,2,3,2,3", "2,1,3,4"]>,
                 Sample<["5,2,3", "4,3"], "transpose_y=true;dtype=f32", "-2", "2", ["f32", "f16", "bf16"]>];
  let oracle = Oracle<"np.matmul(x.swapaxes(-1, -2) if transpose_x else x, y.swapaxes(-1, -2) if transpose_y else y)">;
  let python = Py<"functional.math", "matmul", ["matmul"], "@">;
  let onnx = "MatMul(...)";
}
def Tess_AddProductsOp : Tess_Op<"add_products"> {
  let summary = "matrix plus products of matrices, one after the other";
  let description = [{`out = (sum + x[0]^T y[0]) + x[1]^T y[1] + ...`, with reverse from the last product to the first. Each
    product is that of matmul, and rounded before it is added: it is the sum of a loop that adds one in each trip.}];
  let arguments = (ins Tess_WideFloat:$sum, Tess_WideFloat:$x, Tess_WideFloat:$y,
                   DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Tess_WideFloat:$out);
  let shapes = "(M, N), (T, K, M), (T, K, N) -> (M, N)";
  let dtypes = Promote<["sum", "x", "y"]>;
  let lowering = Library<"add_products">;
  let multiplyAdds = ["product(#x)", "#y[-1]"];
  let inplace = ["sum=out"];
  let gradient = [(same $dout), (op<"matmul", "transpose_y=true"> $y, $dout), (op<"matmul"> $x, $dout)];
  let attrFacts = [Doc<"reverse", "begin with the last product">, BindTime<"reverse">];
  let samples = [Sample<["3,4", "5,2,3", "5,2,4"]>, Sample<["3,4", "5,2,3", "5,2,4"], "reverse=true">,
                 Sample<["3,4", "1,2,3", "1,2,4"]>, Sample<["3,4", "0,2,3", "0,2,4"]>, Sample<["3,4", "2,0,3", "2,0,4"]>,
                 Sample<["0,4", "2,2,0", "2,2,4"]>];
  let oracle = Oracle<"sum + np.einsum('tkm,tkn->mn', x, y)">;
  let python = Py<"functional.math", "add_products">;
}
def Tess_LinearOp : Tess_Op<"linear"> {
  let autocast = "low";
  let summary = "product with a transposed weight, plus a bias";
  let description = [{`out[..., o] = sum_i x[..., i] * weight[o, i] + bias[o]`.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$weight, Optional<Tess_Float>:$bias);
  let results = (outs Tess_Float:$out);
  let shapes = "(*B, I), (O, I), (O)? -> (*B, O)";
  let dtypes = Promote<["x", "weight", "bias"]>;
  let lowering = Composite<>;
  let multiplyAdds = ["product(#out)", "#x[-1]"];
  // A vector is a row of a matrix.
  defvar row = (op<"matmul", "transpose_y=true"> (op<"expand_dims", "axis=[0]"> $x), $weight);
  defvar product = (when<"len(#x) == 1"> (op<"squeeze", "axis=[0]"> row), (op<"matmul", "transpose_y=true"> $x, $weight));
  let forward = [(when<"given(bias)"> (op<"add"> product, $bias), product)];
  let sharded = 1;
  let samples = [Sample<["2,3", "4,3"]>, Sample<["2,3", "4,3", "4"]>, Sample<["5,2,3", "4,3", "4"]>,
                 Sample<["0,3", "4,3", "4"]>, Sample<["3", "4,3", "4"]>];
  let oracle = Oracle<"x @ weight.T + (0 if bias is None else bias)">;
  let python = Py<"functional.nn", "linear">;
  let onnx = "Gemm(...)";
}

//===----------------------------------------------------------------------===//
// Products of vectors, and of all pairs
//===----------------------------------------------------------------------===//
class ProductOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let arguments = (ins Tess_NumberOrComplex:$x, Tess_NumberOrComplex:$y);
  let results = (outs Tess_NumberOrComplex:$out);
  let dtypes = Promote<["x", "y"]>;
  let oracle = Oracle<expr>;
  let python = Py<"functional.math", m, [m], "", ["x=inp1", "y=inp2"]>;
}
def Tess_DotOp : ProductOp<"dot", "sum of the products of two vectors", "np.dot(x, y)"> {
  let description = [{`out = sum_i x[i] * y[i]`; of none it is 0. Integers wrap around; of complex numbers neither is
    conjugated.}];
  let shapes = "(N), (N) -> ()";
  let lowering = Composite<>;
  let forward = [(op<"sum"> (op<"mul"> $x, $y))];
  let samples = [Sample<["7", "7"]>, Sample<["0", "0"]>];
}
def Tess_OuterOp : ProductOp<"outer", "product of each element of one vector with each of another", "np.outer(x, y)"> {
  let description = [{`out[i, j] = x[i] * y[j]`; integers wrap around, and of complex numbers neither is conjugated.}];
  let shapes = "(N), (M) -> (N, M)";
  let lowering = Composite<>;
  let forward = [(op<"mul"> (op<"expand_dims", "axis=[1]"> $x), $y)];
  let samples = [Sample<["4", "3"]>, Sample<["0", "3"]>];
}
def Tess_KronOp : ProductOp<"kron", "product of each element with a whole tensor", "np.kron(x, y)"> {
  let description = [{`out[i * m + j] = x[i] * y[j]` along every axis, m the size of y there; missing axes have size 1.
    As NumPy's kron.}];
  let compute = "out[*(i j)] = x[*i] * y[*j]";
  let lowering = Compute_;
  let samples = [Sample<["2,3", "4,2"]>, Sample<["3", "2"]>, Sample<["", "2,2"]>, Sample<["2,1,3", "4,1"]>,
                 Sample<["0,2", "3,2"]>];
}
// Vectors of 2 or 3 elements along an axis, which becomes the last one.
class Vectors<dag x, string shape, string attr> {
  string rank = "len(" # shape # ")";
  string axis = "axis(" # attr # ", " # rank # ")";
  string size = shape # "[" # axis # "]";
  string others = "without(" # shape # ", " # axis # ")";
  string isSpace = size # " == 3";
  dag moved = (when<axis # " == " # rank # " - 1"> x, (op<"transpose", "pattern=" # LastAxis<rank, axis>.pattern> x));
  dag x0 = Slice<moved, rank, rank # " - 1", "0", "1">.all;
  dag x1 = Slice<moved, rank, rank # " - 1", "1", "2">.all;
  dag x2 = Slice<moved, rank, rank # " - 1", "2", "3">.all;
}
// The difference of two products, of which one that is not there is 0.
class Minor<dag a, dag b, string hasFirst, dag c, dag d, string hasSecond> {
  dag difference = (op<"sub"> (op<"mul"> a, b), (op<"mul"> c, d));
  dag all = (when<hasFirst # " && " # hasSecond> difference, (when<hasFirst> (op<"mul"> a, b), (op<"neg"> (op<"mul"> c, d))));
}
class VectorSizes<Vectors v, string name> {
  defvar got = name # " {" # name # "}";
  defvar must = "vectors must have 2 or 3 elements";
  list<Require> all = [Require<"size of the vectors must be known", "isNumber(" # v.size # ")", got, must>,
                       Require<must, v.size # " == 2 || " # v.size # " == 3", got>];
}
def Tess_CrossOp : ProductOp<"cross", "vector product", "tess_oracle.cross(a, b, axisa, axisb, axisc)"> {
  let description = [{`out = (a1 b2 - a2 b1, a2 b0 - a0 b2, a0 b1 - a1 b0)` of vectors along axisa of a and axisb of b,
    which stand along axisc of the result. A vector of two elements has 0 as its third; of two such ones only the last
    number is given, without an axis. Other axes broadcast. As NumPy's cross.}];
  let arguments = (ins Tess_NumberOrComplex:$a, Tess_NumberOrComplex:$b, DefaultValuedAttr<SI64Attr, "-1">:$axisa,
                   DefaultValuedAttr<SI64Attr, "-1">:$axisb, DefaultValuedAttr<SI64Attr, "-1">:$axisc);
  defvar x = Vectors<(same $a), "#a", "$axisa">;
  defvar y = Vectors<(same $b), "#b", "$axisb">;
  defvar isSpace = x.isSpace # " || " # y.isSpace;
  defvar others = "broadcast(" # x.others # ", " # y.others # ")";
  defvar rank = "max(len(#a), len(#b))";
  defvar axis = "axis($axisc, " # rank # ")";
  defvar last = Minor<x.x0, y.x1, "true", x.x1, y.x0, "true">.difference;
  defvar first = Minor<x.x1, y.x2, y.isSpace, x.x2, y.x1, x.isSpace>.all;
  defvar second = Minor<x.x2, y.x0, x.isSpace, x.x0, y.x2, y.isSpace>.all;
  defvar whole = (op<"concat", "axis=(" # rank # ") - 1"> first, second, last);
  defvar pattern = "with([i for i < " # rank # " - 1], " # axis # ", " # rank # " - 1)";
  defvar vectors = (when<axis # " == " # rank # " - 1"> whole, (op<"transpose", "pattern=" # pattern> whole));
  let requires = !listconcat(VectorSizes<x, "a">.all, VectorSizes<y, "b">.all, [
      Require<"other axes must broadcast", "joins(" # x.others # ", " # y.others # ")", "a {a} and b {b}">,
      Require<"axisc must be in [{-(" # rank # ")}, {" # rank # " - 1}]",
              isSpace # " ? 0 <= " # axis # " && " # axis # " < " # rank # " : true", "{$axisc}",
              "axisc must be an axis of the result">]);
  let sizes = [isSpace # " ? with(" # others # ", " # axis # ", 3) : " # others];
  let dtypes = Promote<["a", "b"]>;
  let lowering = Composite<>;
  let forward = [(when<isSpace> vectors, (op<"squeeze", "axis=[-1]"> last))];
  let attrFacts = [Axis<"axisa", "a">, Axis<"axisb", "b">, BindTime<"axisa">, BindTime<"axisb">, BindTime<"axisc">,
                   Doc<"axisa", "axis of the vectors in a">, Doc<"axisb", "axis of the vectors in b">,
                   Doc<"axisc", "axis of the vectors in the result">];
  let samples = [Sample<["2,3", "2,3"]>, Sample<["3,4", "4,3"], "axisa=0;axisc=0">, Sample<["4,2", "4,3"]>,
                 Sample<["4,3", "2,4"], "axisb=0">, Sample<["5,2", "2"]>, Sample<["0,3", "3"]>];
  let python = Py<"functional.math", "cross", ["cross"]>;
}
def Tess_EinsumOp : Tess_Op<"einsum"> {
  let autocast = "low";
  let summary = "sum of products by Einstein's convention";
  let description = [{A letter of equation names an axis of each operand that has it: `"ij,jk->ik"` is
    `out[i, k] = sum_j x[i, j] * y[j, k]`. A letter twice in one operand takes the diagonal; one that the result lacks is
    summed over. Without `->` the result has the letters that stand once, in their order. `...` stands for any number of
    axes, which broadcast, and come first where no `->` says otherwise. Operands are multiplied from left to right,
    matrix products where there is a sum. As NumPy's einsum, but that letters do not broadcast.}];
  let arguments = (ins Variadic<Tess_NumberOrComplex>:$operands, StrAttr:$equation);
  let results = (outs Tess_NumberOrComplex:$out);
  let shapeRule = "einsum";
  let dtypes = Promote<["operands"]>;
  let lowering = Composite<"einsum">;
  let attrFacts = [Doc<"equation", "the letters of each operand, then `->` and those of the result">];
  let constraints = ["equation must be made of letters, dots, commas and one arrow at most",
                     "equation must have a part for each operand", "parts of the equation must have a letter for each axis",
                     "result must have dots where operands have axes for them",
                     "result must have letters of operands, each of them once", "sizes of a letter must match",
                     "axes of the dots must broadcast", "result must have at most 8 axes"];
  let samples = [Sample<["2,3", "3,4"], "equation=\"ij,jk->ik\"">, Sample<["3,4"], "equation=\"ji\"">,
                 Sample<["3,3"], "equation=\"ii->i\"">, Sample<["3,3"], "equation=\"ii\"">,
                 Sample<["2,3,3,2"], "equation=\"ijji->ji\"">, Sample<["2,5,3,4", "2,6,3,4"], "equation=\"bqhd,bkhd->bhqk\"">,
                 Sample<["2,3,4", "4,5"], "equation=\"...ij, jk -> ...ik\"">, Sample<["2,1,3", "5,3"], "equation=\"...a,...a->...\"">,
                 Sample<["3", "4", "3,4"], "equation=\"i,j,ij->\"">, Sample<["2,3,4", "2,3,4", "5,4"], "equation=\"ijk,ijl,mk->lm\"">,
                 Sample<["2,0", "0,3"], "equation=\"ab,bc\"">, Sample<["2,3", "4"], "equation=\"ij,k->i\"">,
                 Sample<["", "3"], "equation=\",a->a\"">];
  let oracle = Oracle<"np.einsum(equation, *operands, dtype=np.result_type(*operands))">;
  let python = Py<"functional.math", "einsum">;
  let onnx = "Einsum(equation=equation)";
}
def Tess_TraceOp : Tess_Op<"trace"> {
  let summary = "sum of a diagonal";
  let description = [{`out[...] = sum_i x[..., i, i + offset]`; of none it is 0. Integers keep their dtype and wrap
    around, bool becomes int32.}];
  let arguments = (ins Tess_NumberOrBoolOrComplex:$x, Runtime<DefaultValuedAttr<SI64Attr, "0">>:$offset);
  let results = (outs Tess_NumberOrBoolOrComplex:$out);
  let shapes = "(*B, N, M) -> (*B)";
  let dtypes = SumOf<"x">;
  let lowering = Composite<>;
  let forward = [(op<"sum", "axes=[-2, -1]"> (op<"tril", "diagonal=$offset"> (op<"triu", "diagonal=$offset"> $x)))];
  let attrFacts = [Range<"offset", "-9007199254740992.0", "9007199254740992.0">,
                   Doc<"offset", "how far the diagonal is above the main one">];
  let samples = [Sample<["3,3"]>, Sample<["3,5"], "offset=1">, Sample<["2,4,3"], "offset=-2">, Sample<["0,3"]>,
                 Sample<["3,3"], "offset=4">];
  let oracle = Oracle<"np.trace(x, offset, -2, -1)">;
  let python = Py<"functional.math", "trace", ["trace"], "", ["x=inp"]>;
}

#endif // TESS_OPS_LINEAR
