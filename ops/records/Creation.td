//===- Creation.td - tensors from nothing --------------------*- tablegen -*-===//
#ifndef TESS_OPS_CREATION
#define TESS_OPS_CREATION

include "ops/records/Base.td"

class Creation<string m, string what, string signature, dag body, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Any:$out);
  let shapes = signature;
  let dtypes = FromAttr<"dtype">;
  let lowering = Elementwise_;
  let scalar = [body];
  let oracle = Oracle<expr>;
  let python = Py<"functional.creation", m>;
}
def Tess_FullOp : Creation<"full", "one value everywhere", "-> (*@shape)", (s_id $value),
                           "np.full(shape, value).astype(dtype)"> {
  let description = [{`out[...] = value`, converted to dtype.}];
  let arguments = (ins DenseI64ArrayAttr:$shape, Runtime<F64Attr>:$value,
                   DefaultValuedStrAttr<Tess_DTypeAttr, "f32">:$dtype);
  let attrFacts = [Doc<"shape", "shape of the result">, Doc<"value", "value of every element">,
                   Doc<"dtype", "dtype of the result">, Fits<"value">, BindTime<"shape">, SizeAttr<"shape">];
  let samples = [Sample<[], "shape=[2, 3];value=1.5">, Sample<[], "shape=[];value=-2.0;dtype=f64">,
                 Sample<[], "shape=[0, 3];value=1.0">, Sample<[], "shape=[4];value=7.0;dtype=i64">,
                 Sample<[], "shape=[4];value=1.0;dtype=bool">, Sample<[], "shape=[1, 2, 1, 3, 2];value=3.0;dtype=bf16">];
  let onnx = "ConstantOfShape(...)";
}
def Tess_ArangeOp : Creation<"arange", "start + step * i", "-> (@num)",
                             (s_add $start, (s_mul (s_cast (s_index)), $step)),
                             "(start + step * np.arange(num)).astype(dtype)"> {
  let description = [{`out[i] = start + step * i` for i from 0 to num - 1.}];
  let arguments = (ins SI64Attr:$num, Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$start,
                   Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$step, DefaultValuedStrAttr<Tess_DTypeAttr, "f32">:$dtype);
  let results = (outs Tess_Number:$out);
  let attrFacts = [Doc<"num", "number of elements">, Doc<"start", "first element">,
                   Doc<"step", "difference of neighbours">, Doc<"dtype", "dtype of the result">, Fits<"start">, BindTime<"num">, SizeAttr<"num">,
                   Range<"num", "0", "9007199254740992.0">];
  let samples = [Sample<[], "num=5">, Sample<[], "num=4;start=1.0;step=0.5">, Sample<[], "num=0">,
                 Sample<[], "num=6;start=10.0;step=-2.0;dtype=i32">, Sample<[], "num=3;dtype=i64">,
                 Sample<[], "num=3;dtype=f64">, Sample<[], "num=3;dtype=f16">];
  let onnx = "Range(...)";
}
def Tess_LinspaceOp : Creation<"linspace", "evenly spaced numbers, both ends included", "-> (@num)", (s_id $start),
                               "np.linspace(start, stop, num).astype(dtype)"> {
  let description = [{`out[i] = start + i * (stop - start) / (num - 1)`; the last element is stop. One element
    is start alone.}];
  let arguments = (ins Runtime<F64Attr>:$start, Runtime<F64Attr>:$stop, SI64Attr:$num,
                   DefaultValuedStrAttr<Tess_DTypeAttr, "f32">:$dtype);
  let results = (outs Tess_Float:$out);
  let scalar = [];
  let lowering = Composite<>;
  defvar closed = (op<"arange", "num=$num;start=$start;step=($num > 1 ? ($stop - $start) / ($num - 1) : 0.0);dtype=$dtype">);
  // Of a number of elements that only the run knows, with the roundings of arange.
  defvar parts = (op<"scalar_tensor", "value=max($num - 1, 1);dtype=f64">);
  defvar step = (op<"cast", "dtype=wide($dtype)">
      (op<"div"> (op<"full", "shape=[];value=$stop - $start;dtype=f64">), parts));
  defvar index = (op<"arange", "num=$num;start=0.0;step=1.0;dtype=wide($dtype)">);
  defvar open = (op<"add"> (op<"full", "shape=[];value=$start;dtype=wide($dtype)">), (op<"mul"> index, step));
  defvar place = (op<"arange", "num=$num;dtype=i64">);
  defvar isLast = (op<"equal"> place, (op<"scalar_tensor", "value=max($num - 1, 1);dtype=i64">));
  defvar last = (op<"full", "shape=[];value=$stop;dtype=$dtype">);
  let forward = [(op<"where"> isLast, last, (when<"isNumber($num)"> closed, (op<"cast", "dtype=$dtype"> open)))];
  let noGradient = 1;
  let attrFacts = [Doc<"start", "first element">, Doc<"stop", "last element">, Doc<"num", "number of elements">,
                   Doc<"dtype", "dtype of the result">, BindTime<"num">, SizeAttr<"num">,
                   Range<"num", "0", "9007199254740992.0">];
  let samples = [Sample<[], "start=0.0;stop=1.0;num=5">, Sample<[], "start=2.0;stop=-2.0;num=2;dtype=f64">,
                 Sample<[], "start=3.0;stop=4.0;num=1">, Sample<[], "start=3.0;stop=4.0;num=0">];
}
def Tess_EyeOp : Creation<"eye", "ones on the main diagonal, zeros elsewhere", "-> (@n, @m)",
                          (s_select (s_eq (s_dimindex 1), (s_dimindex 0)), C<"1">, C<"0">),
                          "np.eye(n, m).astype(dtype)"> {
  let description = [{`out[i, j] = 1` where i = j, 0 elsewhere; shape [n, m].}];
  let arguments = (ins SI64Attr:$n, SI64Attr:$m, DefaultValuedStrAttr<Tess_DTypeAttr, "f32">:$dtype);
  let attrFacts = [Doc<"n", "number of rows">, Doc<"m", "number of columns">, Doc<"dtype", "dtype of the result">,
                   BindTime<"n">, BindTime<"m">, SizeAttr<"n">, SizeAttr<"m">, Range<"n", "0", "9007199254740992.0">, Range<"m", "0", "9007199254740992.0">];
  let samples = [Sample<[], "n=3;m=3">, Sample<[], "n=2;m=4;dtype=i32">, Sample<[], "n=0;m=4">, Sample<[], "n=4;m=0">,
                 Sample<[], "n=4;m=2;dtype=f64">];
  let onnx = "EyeLike(...)";
}
def Tess_ScalarTensorOp : Creation<"scalar_tensor", "an integer or a size as a tensor of rank 0", "-> ()", (s_cast $value),
                                   "np.array(value).astype(dtype)"> {
  let description = [{`out = value`, converted to dtype. A value that is an expression of sizes is computed when inputs
    are bound.}];
  let arguments = (ins Runtime<SI64Attr>:$value, DefaultValuedStrAttr<Tess_DTypeAttr, "i32">:$dtype);
  let results = (outs Tess_NumberOrComplex:$out);
  let attrFacts = [Doc<"value", "the number">, Doc<"dtype", "dtype of the result">, SizeAttr<"value">];
  let samples = [Sample<[], "value=6">, Sample<[], "value=-2;dtype=f32">, Sample<[], "value=16777217;dtype=f64">,
                 Sample<[], "value=300;dtype=bf16">, Sample<[], "value=16777219;dtype=f32">,
                 Sample<[], "value=3;dtype=c64">];
}
def Tess_ExtentOp : Tess_Op<"extent"> {
  let summary = "a size that a number says";
  let description = [{Has n rows and no elements: sizes of later operators are `extent(n).shape[0]`, which a trace and a
    file know as a size that data decides. A negative n, or one above 2147483647, is an error when the kernel runs.}];
  let arguments = (ins Tess_Index:$n);
  let results = (outs Tess_I32:$out);
  let shapeRule = "extent";
  let boundRule = "extentBound";
  let constraints = ["n must have rank 0"];
  let dtypes = Fixed<"i32">;
  let lowering = Sequential<"extent">;
  let samples = [Sample<[""], "", "0", "9">];
  let oracle = Oracle<"np.zeros((n, 0), np.int32)">;
  let python = Py<"functional.creation", "extent">;
  let example = !strconcat(">>> import tessera as ts\n>>> import tessera.functional as F\n",
                           ">>> F.extent(ts.tensor(3)).shape\n(3, 0)");
}
def Tess_FullLikeOp : Tess_Op<"full_like"> {
  let summary = "one value everywhere, in shape and dtype of another tensor";
  let description = [{`out[...] = value`, converted to the dtype of x. The elements of x do not count, so its
    gradient is 0.}];
  let arguments = (ins Tess_Any:$x, Runtime<F64Attr>:$value);
  let results = (outs Tess_Any:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Elementwise_;
  let scalar = [(s_id $value)];
  let gradient = [(op<"full_like", "value=0.0"> $x)];
  let attrFacts = [Doc<"value", "value of every element">, Fits<"value">];
  let samples = [Sample<["2,3"], "value=1.5">, Sample<[""], "value=0.0">, Sample<["0,3"], "value=2.0">];
  let oracle = Oracle<"np.full_like(x, value)">;
  let python = Py<"functional.creation", "full_like", [], "", ["x=inp"]>;
}
class FilledLike<string m, string what, string v, string expr> : Tess_Op<m> {
  let summary = what;
  let description = "`out[...] = " # v # "`. The elements of x do not count, so its gradient is 0.";
  let arguments = (ins Tess_Any:$x);
  let results = (outs Tess_Any:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  let forward = [(op<"full_like", "value="#v> $x)];
  let gradient = [(op<"full_like", "value=0.0"> $x)];
  let samples = [Sample<["2,3"]>, Sample<[""]>, Sample<["0,3"]>];
  let oracle = Oracle<expr>;
  let python = Py<"functional.creation", m, [], "", ["x=inp"]>;
}
def Tess_ZerosLikeOp : FilledLike<"zeros_like", "zeros in shape and dtype of another tensor", "0.0",
                                  "np.zeros_like(x)">;
def Tess_OnesLikeOp : FilledLike<"ones_like", "ones in shape and dtype of another tensor", "1.0", "np.ones_like(x)">;

#endif // TESS_OPS_CREATION
