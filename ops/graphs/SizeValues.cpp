//===- SizeValues.cpp - tensors of sizes, as expressions ------------------===//
#include "ops/graphs/SizeValues.h"
#include "ops/graphs/Subgraph.h"
#include "ops/operator/ScalarProgram.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

using Values = std::optional<SizeValues>;

namespace {

/// One call of an operator with a single result.
struct Call {
  const OpDef &op;
  llvm::ArrayRef<TensorMeta> operands;
  llvm::ArrayRef<unsigned> segments;
  llvm::ArrayRef<SizeValues> values;
  const TensorMeta &result;
};

} // namespace

/// Where element `number` in row-major order lies.
static int64_t placeOf(const Layout &layout, int64_t number) {
  int64_t place = layout.offset;
  for (size_t axis = layout.shape.size(); axis-- > 0; number /= layout.shape[axis])
    place += number % layout.shape[axis] * layout.strides[axis];
  return place;
}

//===----------------------------------------------------------------------===//
// Elementwise operators
//===----------------------------------------------------------------------===//

/// A function of sizes; kUnknown for one that sizes have not.
static int64_t apply(ScalarFn fn, int64_t a, int64_t b) {
  switch (fn) {
  case ScalarFn::Add:
    return sizes::add(a, b);
  case ScalarFn::Sub:
    return sizes::subtract(a, b);
  case ScalarFn::Mul:
    return sizes::multiply(a, b);
  case ScalarFn::Square:
    return sizes::multiply(a, a);
  case ScalarFn::Neg:
    return sizes::subtract(0, a);
  case ScalarFn::Div:
  case ScalarFn::FloorDiv:
    return sizes::floorDivide(a, b);
  case ScalarFn::Mod:
    return sizes::modulo(a, b);
  case ScalarFn::Max:
    return sizes::maximum(a, b);
  case ScalarFn::Min:
    return sizes::minimum(a, b);
  case ScalarFn::Cast:
    return a;
  default:
    return kUnknown;
  }
}

/// The value of a node of the body for element `number` of the result.
static int64_t valueOf(const Call &call, const ScalarNode &node, llvm::ArrayRef<int64_t> known, int64_t number) {
  switch (node.fn) {
  case ScalarFn::Operand: {
    const Shape &shape = call.operands[node.a].shape;
    return call.values[node.a][placeOf(Layout::contiguous(shape).broadcastTo(call.result.shape), number)];
  }
  case ScalarFn::Attr: {
    const AttrValue &value = call.op.attr(unsigned(node.a));
    bool isWhole = value.kind() == AttrKind::F64 && value.f64() == double(int64_t(value.f64()));
    return value.kind() == AttrKind::I64 ? value.i64() : isWhole ? int64_t(value.f64()) : kUnknown;
  }
  case ScalarFn::Const:
    return node.constant == double(int64_t(node.constant)) ? int64_t(node.constant) : kUnknown;
  case ScalarFn::Index:
    return number;
  default:
    return infoOf(node.fn).isLeaf ? kUnknown : apply(node.fn, known[node.a], node.b < 0 ? kUnknown : known[node.b]);
  }
}

static Values ofElements(const Call &call) {
  const ScalarProgram &body = *call.op.info().scalar;
  SizeValues result;
  for (int64_t number = 0, count = call.result.numElements(); number < count; ++number) {
    llvm::SmallVector<int64_t, 8> known;
    for (const ScalarNode &node : body.nodes)
      known.push_back(valueOf(call, node, known, number));
    result.push_back(known[body.results.front()]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Operators that move elements
//===----------------------------------------------------------------------===//

static Values ofView(const Call &call) {
  llvm::Expected<Layout> view =
      call.op.info().viewRule(call.op, Layout::contiguous(call.operands.front().shape), call.result.shape);
  if (!view)
    return llvm::consumeError(view.takeError()), std::nullopt;
  SizeValues result;
  for (int64_t number = 0, count = call.result.numElements(); number < count; ++number)
    result.push_back(call.values.front()[placeOf(*view, number)]);
  return result;
}

static Values ofRegions(const Call &call) {
  llvm::SmallVector<Layout, 4> layouts;
  for (const TensorMeta &operand : call.operands)
    layouts.push_back(Layout::contiguous(operand.shape));
  auto regions = call.op.info().regionRule(call.op, layouts, Layout::contiguous(call.result.shape));
  if (!regions)
    return llvm::consumeError(regions.takeError()), std::nullopt;
  SizeValues result(call.result.numElements(), kUnknown);
  for (const CopyRegion &region : *regions)
    for (int64_t number = 0, count = TensorMeta(call.result.dtype, region.source.shape).numElements(); number < count;
         ++number)
      result[placeOf(region.destination, number)] = call.values[region.operand][placeOf(region.source, number)];
  return result;
}

/// A reduction to one element.
static Values ofReduction(const Call &call) {
  ScalarFn fn;
  switch (call.op.info().reduceKind) {
  case ReduceKind::Sum:
    fn = ScalarFn::Add;
    break;
  case ReduceKind::Prod:
    fn = ScalarFn::Mul;
    break;
  case ReduceKind::Max:
    fn = ScalarFn::Max;
    break;
  case ReduceKind::Min:
    fn = ScalarFn::Min;
    break;
  default:
    return std::nullopt;
  }
  llvm::ArrayRef<int64_t> values = call.values.front();
  if (call.result.numElements() != 1 || values.empty())
    return std::nullopt;
  int64_t sum = values.front();
  for (int64_t value : values.drop_front())
    sum = apply(fn, sum, value);
  return SizeValues{sum};
}

static Values ofGraph(const Call &call) {
  llvm::Expected<Subgraph> graph = call.op.makeForwardGraph(call.operands, call.segments);
  if (!graph)
    return llvm::consumeError(graph.takeError()), std::nullopt;
  std::vector<TensorMeta> metas(graph->numValues);
  std::vector<SizeValues> values(graph->numValues);
  for (auto [id, meta, value] : llvm::zip_equal(graph->inputs, call.operands, call.values))
    metas[id] = meta, values[id] = value;
  for (const Subgraph::Node &node : graph->nodes) {
    llvm::SmallVector<TensorMeta, 4> operands;
    llvm::SmallVector<SizeValues, 4> read;
    for (int id : node.inputs)
      operands.push_back(metas[id]), read.push_back(values[id]);
    Values made = sizeValues(node.op, operands, node.segments, read);
    llvm::Expected<Metas> results = node.op.infer(operands, node.segments);
    if (!made || !results)
      return llvm::consumeError(results.takeError()), std::nullopt;
    metas[node.outputs.front()] = results->front();
    values[node.outputs.front()] = std::move(*made);
  }
  return values[graph->outputs.front()];
}

/// The elements by the path that the compiler takes to them.
static Values valuesOf(const Call &call) {
  switch (call.op.info().lowering) {
  case Lowering::Elementwise:
    return ofElements(call);
  case Lowering::View:
    return ofView(call);
  case Lowering::Movement:
    return ofRegions(call);
  case Lowering::Reduction:
    return ofReduction(call);
  case Lowering::Composite:
    return ofGraph(call);
  default:
    return std::nullopt;
  }
}

static bool isFollowed(const TensorMeta &meta) {
  return isInt(meta.dtype) && meta.isStatic() && !sizes::isSymbolic(meta.shape) &&
         meta.numElements() <= kMostSizeValues;
}

Values sizeValues(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments,
                  llvm::ArrayRef<SizeValues> values) {
  llvm::Expected<Metas> results = op.infer(operands, segments);
  if (!results)
    return llvm::consumeError(results.takeError()), std::nullopt;
  if (results->size() != 1 || !llvm::all_of(operands, isFollowed) || !isFollowed(results->front()))
    return std::nullopt;
  Values made = valuesOf({op, operands, segments, values, results->front()});
  return made && !llvm::is_contained(*made, kUnknown) ? made : std::nullopt;
}

} // namespace tess
