// Operators that use most of what a record may say; the generators' tests read it.
//
// RUN: tess-tblgen -gen-tess-op-table -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=TABLE
// RUN: tess-tblgen -gen-tess-ir-glue -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=GLUE
// RUN: tess-tblgen -gen-tess-builtin -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=CLASS
// RUN: tess-tblgen -gen-tess-docs -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=DOC
// RUN: tess-tblgen -gen-tess-python-surface -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=SURFACE
// RUN: tess-tblgen -gen-tess-pyi -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=PYI
// RUN: tess-tblgen -gen-tess-markdown -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=MD
// RUN: tess-tblgen -gen-tess-samples -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=JSON
// RUN: tess-tblgen -gen-tess-cc-functions -I. -I/usr/lib/llvm-22/include %s | FileCheck %s --check-prefix=CC
include "ops/records/Base.td"

def Tess_MulOp : Tess_Op<"mul"> {
  let summary = "scaled product";
  let description = [{`out = alpha * (x * y)^2`,
    which is not negative.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$y, Runtime<DefaultValuedAttr<F64Attr, "0.5">>:$alpha);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D), (*D) -> (*D)";
  let dtypes = Promote<["x", "y"]>;
  let lowering = Elementwise_;
  let scalar = [(s_mul (s_mul $x, $y), (s_mul $alpha, (s_mul $x, $y)))];
  let gradient = [(op<"mul", "alpha=$alpha"> $dout, $y), (none)];
  let inplace = ["x=out"];
  let attrFacts = [Doc<"alpha", "factor">, Range<"alpha", "0", "1">];
  let samples = [Sample<["2,3", "3"], "alpha=0.25">];
  let oracle = Oracle<"alpha * (x * y) ** 2">;
  let python = Py<"functional.elemwise", "mul", ["times"], "*", ["alpha=scale"]>;
}
def Tess_JoinOp : Tess_Op<"join"> {
  let summary = "rows one after the other";
  let description = "The rows of all inputs.";
  let arguments = (ins Variadic<Tess_Any>:$inputs, Optional<Tess_Index>:$order, SI64Attr:$size,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{1, 2}">:$shape,
                   DefaultValuedStrAttr<StrAttr, "left">:$side, OptionalAttr<F64Attr>:$gap);
  let results = (outs Tess_Any:$out, Tess_Bool:$mask);
  let hidden = ["mask"];
  let shapes = "(*B, N)*, (3)? -> (*B, @size), (*@shape)";
  let dtypes = Promote<["inputs"]>;
  let lowering = Library<"join">;
  let attrFacts = [Cases<"side", ["left", "right"]>, BindTime<"size">, BindTime<"shape">, Static<"gap", "it is in the code">];
  let samples = [Sample<["2,3"], "size=4">];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "join">;
  let version = 2;
  let upgrades = ["1: rename side place"];
}
def Tess_OneOp : Tess_Op<"one"> {
  let summary = "one";
  let description = "Once with a square.";
  let arguments = (ins Tess_Float:$x);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Library<"one">;
  let samples = [Sample<["2,3"]>];
  let oracle = Oracle<"x">;
  let version = 2;
  let upgrades = ["1: drop power"];
  let splits = [Split<1, [(op<"mul"> $x, (op<"one"> $x))], "power=2">];
}
def Tess_RunningOp : Tess_Op<"running"> {
  let summary = "decaying sums";
  let description = "Sums along an axis.";
  let arguments = (ins Tess_Float:$x, Tess_Float:$weight, DefaultValuedAttr<BoolAttr, "false">:$reverse,
                   SI64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive);
  let results = (outs Tess_Float:$out);
  let compute = "out[*a, t, *b] = scan(linear, t, exclusive, reverse) x[*a, t:axis, *b], weight[*a, t, *b]";
  let dtypes = Promote<["x", "weight"]>;
  let lowering = Compute_;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", "it is in the code">];
  let samples = [Sample<["2,3", "2,3"], "axis=0">];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "running">;
}
def Tess_RearrangedOp : Tess_Op<"rearranged"> {
  let summary = "parts of an axis, as often as size says";
  let description = "Elements times their mean.";
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, SI64Attr:$axis, SI64Attr:$size);
  let results = (outs Tess_Float:$out);
  let compute = "middle[*a, t, *b] = x[*a, (1:2 t):axis, *b] * mean(t) x[*a, (1:2 t), *b];"
                "out[*a, (t k), *b] = middle[*a, t, *b] * scale[t]? * 0.5 where k < size";
  let dtypes = Promote<["x", "scale"]>;
  let lowering = Compute_;
  let attrFacts = [Axis<"axis", "x">, BindTime<"axis">, BindTime<"size">];
  let samples = [Sample<["4,3"], "axis=0;size=2">];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "rearranged">;
}
def Tess_SelectedOp : Tess_Op<"selected", [AttrSizedOperandSegments]> {
  let summary = "rows in halves";
  let description = "Halves of rows, moved, perhaps scaled.";
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, SI64Attr:$axis, SI64Attr:$count);
  let results = (outs Tess_Float:$out);
  let requires = [Require<"count ({$count}) must divide the rows of x", "divides($count, #x[0])", "x {x}">,
                  Require<"scale must have the columns of x", "!given(scale) || #scale == [#x[1]]", "x {x} and scale {scale}">];
  let sizes = ["$count > 1 ? [#x[0] // $count, *[(i == 1 ? 2 : 3) for i < $count]] : #x"];
  let dtypes = Promote<["x", "scale"]>;
  let lowering = Composite<>;
  defvar half = (op<"mul", "alpha=1.0 / $count"> $x, $x);
  defvar parts = (op<"join", "size=$count"> (each<"p < $count"> (op<"mul", "alpha=($axis == p ? 0.5 : 1.0)"> half, $x)));
  let forward = [(must<"rows must be known", "isNumber(#x[0])", "{x}"> (when<"given(scale)"> (op<"mul"> half, $scale),
      (when<"axis=1"> (result<"mask"> (op<"join", "size=2"> half)), parts)))];
  let attrFacts = [Axis<"axis", "x">, BindTime<"axis">, BindTime<"count">];
  let samples = [Sample<["4,3"], "axis=0;count=2">];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "selected">;
}
def Tess_TurnedOp : Tess_Op<"turned"> {
  let summary = "axes turned";
  let description = "The last axis first.";
  let arguments = (ins Tess_Float:$x);
  let results = (outs Tess_Float:$out);
  let order = "[(i == 0 ? len(#x) : i) - 1 for i < len(#x)]";
  let dtypes = Same<"x">;
  let lowering = View<"Permute">;
  let samples = [Sample<["4,3"]>];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "turned">;
}
def Tess_WrittenOp : Tess_Op<"written"> {
  let summary = "rows with others added";
  let description = "Rows at indices, each with twice another one added.";
  let arguments = (ins Tess_Float:$x, Tess_Float:$rows, Tess_Index:$ids);
  let results = (outs Tess_Float:$out);
  let compute = "out[n, j] = x[n, j]; out[ids[i], j] += rows[i, j] * 2";
  let dtypes = Promote<["x", "rows"]>;
  let lowering = Compute_;
  let samples = [Sample<["4,3", "2,3", "2"], "", "-2; -2; 0", "2; 2; 4">];
  let oracle = Oracle<"x">;
  let python = Py<"functional.tensor", "written">;
}

// Operators come in the order of their names.
// TABLE: Written by tess-tblgen --gen-tess-op-table from ops/records/*.td. Do not edit.
// TABLE: namespace op_join {
// TABLE: {"inputs", Arity::Variadic, kAnyMask},
// TABLE: {"order", Arity::Optional, maskOf(DType::Int32) | maskOf(DType::Int64)},
// TABLE: {"mask", kBoolMask, true, Arity::One},
// TABLE: cases_side[] = {"left", "right", };
// TABLE: {"shape", AttrKind::I64List, false, false, true, []() { return AttrValue(IntList{1, 2}); }
// TABLE: operandDims0[] = {{[{][{]}}DimPattern::Star, 0, 0}, {DimPattern::Symbol, 1, 0}, };
// TABLE: operandDims1[] = {{[{][{]}}DimPattern::Literal, 0, 3}, };
// TABLE: resultDims0[] = {{[{][{]}}DimPattern::Star, 0, 0}, {DimPattern::Attr, 0, 0}, };
// TABLE: upgrades[] = {"1: rename side place", };
// TABLE: {"join.inputs_must_have_rank_at_least_1", "inputs must have rank >= 1"},
// TABLE: {"join.order_must_have_rank_1", "order must have rank 1"},
// TABLE: {"join.dimensions_B_must_broadcast", "dimensions *B must broadcast"},
// TABLE: {"join.dimension_N_must_match", "dimension N must match"},
// TABLE: {"join.dimension_0_of_order_must_be_3", "dimension 0 of order must be 3"},
// TABLE: Lowering::Library

// A term that occurs twice is one node; the alpha that the gradient names is the call's.
// TABLE: namespace op_mul {
// TABLE: {"alpha", AttrKind::F64, true, false, true, []() { return AttrValue(0.5); }, {}, 0, 1, "factor"
// TABLE: scalarNodes[] = {
// TABLE-NEXT: {ScalarFn::Operand, 0},
// TABLE-NEXT: {ScalarFn::Operand, 1},
// TABLE-NEXT: {ScalarFn::Mul, 0, 1},
// TABLE-NEXT: {ScalarFn::Attr, 0},
// TABLE-NEXT: {ScalarFn::Mul, 3, 2},
// TABLE-NEXT: {ScalarFn::Mul, 2, 4},
// TABLE: if (needed[0])
// TABLE-NEXT: g[0] = pieces::call(b, "mul", {v[3], v[1]}, {{[{][{]}}"alpha", op.attr(0)}, });
// TABLE-NOT: needed[1]
// TABLE: inplace[] = {{[{][{]}}0, 0}, };
// TABLE: splittable[] = {0, };

// An older version is a graph of operators of today.
// TABLE: namespace op_one {
// TABLE: split0(SubgraphBuilder &b, {{.*}}const OpDef &op, llvm::ArrayRef<int> v) {
// TABLE-NEXT: return {pieces::call(b, "mul", {v[0], pieces::call(b, "one", {v[0]})}), };

// Index notation is dimensions and places, of which shapes follow, and a graph.
// TABLE: namespace op_rearranged {
// TABLE: symbols[] = {
// TABLE-NEXT: {true, -1, ""},
// TABLE-NEXT: {false, -1, "dimension t must match"},
// TABLE-NEXT: {true, -1, ""},
// TABLE-NEXT: {false, 1, ""},
// TABLE: read0Places[] = {
// TABLE-NEXT: {read0Digits0, -1, 0, 1, ""},
// TABLE-NEXT: {read0Digits1, 0, 1, 2, "size of the axis of x must be a multiple of 2"},
// TABLE-NEXT: {read0Digits2, -1, 0, 1, ""},
// TABLE: resultDigits1[] = {1, 3};
// TABLE: {1, read1Places, "scale must have rank 1"},
// TABLE: NotationGraph g(b, op, v);
// TABLE-NEXT: NotationGraph::Value own_middle = g.call("mul", {g.read(0), g.reduce("mean", {1}, g.read(0))});
// TABLE-NEXT: int out = g.result(g.call("mul", {g.call("mul", {own_middle, g.read(1)}), NotationGraph::number(0.5)}));
// TABLE-NEXT: return {out};
// TABLE: {"rearranged.indices_must_have_at_most_8_dimensions", "indices must have at most 8 dimensions"},
// TABLE: shapes::ofNotation
// TABLE: normalise::axes, Lowering::Composite
// TABLE-SAME: &notation

// A scan is data, and has shapes, a sharding rule and a gradient.
// TABLE: namespace op_running {
// TABLE: symbols[] = {"a, t, *b", };
// TABLE-NEXT: signature = {operandPatterns, resultPatterns, symbols, "(*a, t, *b), (*a, t, *b) -> (*a, t, *b)", false, true};
// TABLE-NEXT: constexpr ScanInfo scan = {ScalarFn::Add, 1, 2, 0};
// TABLE: {"running.operands_must_have_one_shape", "operands must have one shape"},
// TABLE: splittable[] = {0, };
// TABLE: Lowering::Compute
// TABLE-SAME: &scan
// TABLE-NEXT: gradients::scanned, {splittable, {}, 1}

// Conditions, sizes and a graph are C++ of terms: what occurs again is made once, when a branch takes it.
// TABLE: namespace op_selected {
// TABLE: llvm::Error require(
// TABLE: if (!terms::mayDivide(op.attr(1).i64(), terms::at(operands[0].shape, int64_t(0))))
// TABLE-NEXT: return shapes::mustHoldOf(op, std::string() + "count (" + terms::text(op.attr(1).i64()) + ") must divide the rows of x", std::string() + "x " + terms::text(operands[0]));
// TABLE-NEXT: if (!(!(operands.size() > 1) || terms::mustEqual(operands[1].shape, IntList{terms::at(operands[0].shape, int64_t(1))})))
// TABLE: llvm::Expected<Metas> shape(
// TABLE: if (llvm::Error e = require(op, operands, segments))
// TABLE: return terms::metasOf({terms::listOf(((op.attr(1).i64() > int64_t(1)) ? {{.*}} : terms::listOf(operands[0].shape))), });
// TABLE: pieces::Once shared0([&] { return pieces::call(b, "mul", {v[0], v[0]}, {{[{][{]}}"alpha", AttrValue((1.0 / double(op.attr(1).i64())))}, }); });
// TABLE-NEXT: return {(terms::isNumber(terms::at(b.meta(v[0]).shape, int64_t(0))) ? ((v.size() > 1) ? pieces::call(b, "mul", {shared0(), ((v.size() > 1) ? v[1] : -1)})
// TABLE-SAME: op.attr(0) == AttrValue(AttrValue(int64_t(1))) ? pieces::call(b, "join", {shared0()}, {{[{][{]}}"size", AttrValue(int64_t(2))}, }, 1, {1, 0})
// TABLE-SAME: pieces::call(b, "join", pieces::each(op.attr(1).i64(), [&](int64_t p) { return pieces::call(b, "mul", {shared0(), v[0]}
// TABLE-SAME: pieces::refused(b, shapes::mustHoldOf(op, std::string() + "rows must be known", std::string() + terms::text(b.meta(v[0]))))
// TABLE: {"selected.count_must_divide_the_rows_of_x", "count must divide the rows of x"},
// TABLE: nullptr, shape,

// A view whose axes are those of x in another order.
// TABLE: namespace op_turned {
// TABLE: terms::permuted(operands[0].shape, terms::listOf(terms::each(int64_t(operands[0].shape.size()), [&]({{.*}}int64_t i) -> int64_t { return
// TABLE: llvm::Expected<Layout> view(
// TABLE: terms::permuted(x, terms::listOf(
// TABLE: Lowering::View
// TABLE-SAME: view, ViewKind::Permute

// GLUE: LogicalResult JoinOp::inferReturnTypes(
// GLUE: *::tess::findOp("join");
// GLUE: inferVia(context, location, info, {adaptor.getODSOperands(0), adaptor.getODSOperands(1), }, {adaptor.getSizeAttr(), adaptor.getShapeAttr(), adaptor.getSideAttr(), adaptor.getGapAttr(), }, types);
// GLUE: bool JoinOp::isCompatibleReturnTypes(

// CLASS: class Join : public OpDef {
// CLASS: static const OpInfo &record() { return allOps()[0]; }
// CLASS: explicit Join(int64_t size, llvm::ArrayRef<int64_t> shape = IntList{1, 2}, llvm::StringRef side = "left", std::optional<double> gap = std::nullopt) : OpDef(record(), size, shape, side.str(), gap ? tess::AttrValue(*gap) : tess::AttrValue()) {}
// CLASS: int64_t getSize() const { return attr(0u).i64(); }
// CLASS: std::optional<double> getGap() const { return has("gap") ? std::optional<double>(attr(3u).f64()) : std::nullopt; }
// CLASS-NOT: scaled product
// CLASS: explicit Mul(double alpha = 0.5)

// DOC: "Rows one after the other.\n\nThe rows of all inputs.\n\nArgs:\n    inputs: any number of any[*B, N]\n    order: optional index[3]\n    size: int\n    shape: Sequence[int] = [1, 2]\n    side: str = \"left\": one of left, right\n    gap: float | None = None\n\nReturns:\n    out: any[*B, size]\n
// DOC-SAME: Raises:\n    ValueError: inputs must have rank >= 1\n
// DOC-SAME: TypeError: order must be index\n
// DOC: scale: float = 0.5, factor, in [0, 1]
// DOC-SAME: TypeError: x must be float\n    TypeError: y must be float\n    TypeError: each argument must be of its kind
// DOC-SAME: IR:\n    @ir\n\nExample:\n
// DOC-SAME: >>> F.mul(F.ones((2, 3)), F.ones((3,)), scale=0.25).shape
// DOC: case 0:
// DOC-NEXT: return {OpDef::get("join").set("size", AttrValue(int64_t(4))), {TensorMeta(DType(2), {2, 3}), }};
// DOC: case 1:
// DOC-NEXT: return {OpDef::get("mul").set("alpha", AttrValue(0.25)), {TensorMeta(DType(2), {2, 3}), TensorMeta(DType(2), {3}), }};

// SURFACE: join_parameters[] = {"inputs", "order", "size", "shape", "side", "gap", };
// SURFACE: mul_parameters[] = {"x", "y", "scale", };
// SURFACE: mul_methods[] = {"times", };
// SURFACE: {join_parameters, {}, -1}, // join
// SURFACE: {mul_parameters, mul_methods, 2}, // mul

// PYI: # functional.elemwise
// PYI-NEXT: def mul(x: TensorLike, y: TensorLike, scale: float = 0.5, *, inplace: bool = False) -> Tensor: ...
// PYI: # functional.tensor
// PYI-NEXT: def join(inputs: Sequence[TensorLike], size: int, order: TensorLike | None = None, shape: Sequence[int] = [1, 2], side: str = "left", gap: float | None = None) -> Tensor: ...
// PYI: class Tensor:
// PYI-NEXT: def __imul__(self, other: TensorLike) -> Tensor: ...
// PYI-NEXT: def __mul__(self, other: TensorLike) -> Tensor: ...
// PYI-NEXT: def __rmul__(self, other: TensorLike) -> Tensor: ...
// PYI-NEXT: def times(self, y: TensorLike, scale: float = 0.5, *, inplace: bool = False) -> Tensor: ...

// MD: ## tessera.functional.elemwise
// MD: ### mul
// MD: Scaled product. `out = alpha * (x * y)^2`, which is not negative.
// MD: @ir mul
// MD: | operands | x: float[*D]<br>y: float[*D] |
// MD: | names | `tess.mul`, `builtin.Mul` |
// MD: | gradient | yes |

// JSON: "has_gradient": false,
// JSON: "name": "join",
// JSON: "arity": "variadic",
// JSON: "attrs": "alpha=0.25",
// JSON: "2,3",
// JSON-NEXT: "3"

// CC: inline Tensor join(const std::vector<Tensor> &inputs, int64_t size, const Tensor &order = Tensor(), const Shape &shape = {1, 2}, const std::string &side = "left", std::optional<double> gap = std::nullopt) {
// CC: op.set("gap", gap ? tess::AttrValue(*gap) : tess::AttrValue());
// CC: return apply(std::move(op), allOperands, {unsigned(inputs.size()), 1});
// CC: inline Tensor mul(const Tensor &x, const Tensor &y, double alpha = 0.5) {
// CC: return apply(std::move(op), {x, y});
