//===- GraphPieces.cpp - what graph rules are written with ---------------===//
#include "ops/graphs/GraphPieces.h"

#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess::pieces {

int call(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> inputs, Attrs attrs, unsigned result,
         std::initializer_list<unsigned> segments) {
  OpDef op = OpDef::get(name);
  for (const auto &[key, value] : attrs)
    op.set(key, value);
  if (result == 0)
    return b.apply(std::move(op), inputs, segments);
  llvm::SmallVector<int, 2> results = b.applyAll(std::move(op), inputs, segments);
  return results.empty() ? -1 : results[result];
}

int callWrite(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> values, Attrs attrs) {
  bool isKnown = values[0] >= 0 && values[1] >= 0; // not where inference has failed
  DType dtype = isKnown ? b.meta(values[0]).dtype : DType::Float32;
  if (llvm::StringRef(name) != "add_along_axes" || !isNarrowFloat(dtype))
    return call(b, name, values, attrs);
  llvm::SmallVector<int, 8> wide(values);
  for (int &value : llvm::MutableArrayRef(wide).take_front(2))
    value = call(b, "cast", {value}, {{"dtype", DType::Float32}});
  return call(b, "cast", {call(b, name, wide, attrs)}, {{"dtype", dtype}});
}

int refused(SubgraphBuilder &b, llvm::Error error) {
  b.fail(std::move(error));
  return -1;
}

int constant(SubgraphBuilder &b, const AttrValue &value, DType dtype) {
  return call(b, "full", {}, {{"shape", IntList()}, {"value", value}, {"dtype", dtype}});
}

int constantLike(SubgraphBuilder &b, const AttrValue &value, int like) {
  return constant(b, value, b.meta(like).dtype);
}

IntList shapeOf(SubgraphBuilder &b, int value) {
  const Shape &shape = b.meta(value).shape;
  return IntList(shape.begin(), shape.end());
}

int reshapeLike(SubgraphBuilder &b, int x, int like) {
  if (b.meta(like).isStatic())
    return b.meta(x).shape == b.meta(like).shape ? x : call(b, "reshape", {x}, {{"shape", shapeOf(b, like)}});
  return call(b, "reshape_like", {x, like});
}

int broadcastLike(SubgraphBuilder &b, int x, int like) {
  if (!b.meta(like).isStatic())
    return call(b, "broadcast_like", {x, like});
  return b.meta(x).shape == b.meta(like).shape ? x : call(b, "broadcast_to", {x}, {{"shape", shapeOf(b, like)}});
}

int sumTo(SubgraphBuilder &b, int x, int like) {
  const TensorMeta &from = b.meta(x), &to = b.meta(like);
  if (!from.isStatic() || !to.isStatic())
    return call(b, "sum_to", {x, like});
  return from.shape == to.shape ? x : sumOfBroadcast(b, x, like);
}

int sumOfBroadcast(SubgraphBuilder &b, int x, int like) {
  const Shape from = b.meta(x).shape, to = b.meta(like).shape;
  IntList axes;
  unsigned extra = from.size() - to.size();
  bool isOpen = false;
  for (unsigned i = 0; i < from.size(); ++i)
    if (i < extra || (to[i - extra] == 1 && from[i] != 1))
      axes.push_back(i);
    else
      isOpen |= from[i] == kUnknown || to[i - extra] == kUnknown;
  int sum = axes.empty() ? x : call(b, "sum", {x}, {{"axes", axes}, {"keepdims", true}});
  // Sizes that are still unknown must be equal; the view checks that once they are known.
  return extra || isOpen ? reshapeLike(b, sum, like) : sum;
}

int countOf(SubgraphBuilder &b, int x, const IntList &axes, DType dtype) {
  int64_t count = 1;
  for (int64_t axis : axes) {
    int64_t size = b.meta(x).shape[axis];
    count = sizes::multiply(count, size);
    if (count == kUnknown)
      return call(b, "sum", {castTo(b, fullLike(b, x, 1), dtype)}, {{"axes", axes}, {"keepdims", true}});
  }
  return call(b, "scalar_tensor", {}, {{"value", count}, {"dtype", dtype}});
}

int movedAxis(SubgraphBuilder &b, int x, unsigned from, unsigned to) {
  if (from == to)
    return x;
  IntList pattern;
  for (unsigned i = 0; i < b.meta(x).rank(); ++i)
    if (i != from)
      pattern.push_back(i);
  pattern.insert(pattern.begin() + to, from);
  return call(b, "transpose", {x}, {{"pattern", pattern}});
}

int arranged(SubgraphBuilder &b, int x, llvm::ArrayRef<int64_t> places, int64_t rank) {
  IntList pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, places.size())), added;
  llvm::sort(pattern, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  for (int64_t place = 0; place < rank; ++place)
    if (!llvm::is_contained(places, place))
      added.push_back(place);
  if (!llvm::is_sorted(pattern))
    x = call(b, "transpose", {x}, {{"pattern", pattern}});
  return added.empty() ? x : call(b, "expand_dims", {x}, {{"axis", added}});
}

int sliceOf(SubgraphBuilder &b, int x, unsigned axis, int64_t start, int64_t stop, int64_t step) {
  if (x < 0)
    return -1; // the builder has an error
  unsigned rank = b.meta(x).rank();
  IntList starts(rank, 0), stops(rank, INT64_MAX), steps(rank, 1);
  starts[axis] = start;
  stops[axis] = stop;
  steps[axis] = step;
  return call(b, "slice", {x}, {{"starts", starts}, {"stops", stops}, {"steps", steps}});
}

int splitAxis(SubgraphBuilder &b, const OpDef &op, int x, unsigned axis, int64_t outer, int64_t inner) {
  if (x < 0)
    return -1; // the builder has an error
  if (outer == kUnknown || inner == kUnknown) {
    b.fail(invalidArgument(op.name() + ": size of the axis to split must be known, got " + toString(b.meta(x))));
    return -1;
  }
  IntList shape = shapeOf(b, x);
  bool isStatic = b.meta(x).isStatic();
  if (!isStatic)
    shape.assign(shape.size(), -1);
  shape[axis] = outer;
  shape.insert(shape.begin() + axis + 1, inner);
  if (isStatic)
    return call(b, "reshape", {x}, {{"shape", shape}});
  int first = call(b, "expand_dims", {sliceOf(b, x, axis, 0, 1)}, {{"axis", IntList{axis + 1}}});
  return call(b, "reshape_like", {x, call(b, "broadcast_to", {first}, {{"shape", shape}})});
}

llvm::SmallVector<int, 4> inlined(SubgraphBuilder &b, const Subgraph &graph, llvm::ArrayRef<int> given) {
  std::vector<int> values(graph.numValues, -1);
  for (size_t i = 0; i < given.size(); ++i)
    values[graph.inputs[i]] = given[i];
  for (const Subgraph::Node &node : graph.nodes) {
    llvm::SmallVector<int, 4> inputs;
    for (int id : node.inputs)
      inputs.push_back(values[id]);
    llvm::SmallVector<int, 2> made = b.applyAll(node.op, inputs, node.segments);
    for (size_t i = 0; i < made.size(); ++i)
      values[node.outputs[i]] = made[i];
  }
  llvm::SmallVector<int, 4> outputs;
  for (int id : graph.outputs)
    outputs.push_back(id < 0 ? -1 : values[id]);
  return outputs;
}

int fullLike(SubgraphBuilder &b, int like, double value) {
  const TensorMeta &meta = b.meta(like);
  if (meta.isStatic())
    return call(b, "full", {}, {{"shape", shapeOf(b, like)}, {"value", value}, {"dtype", meta.dtype}});
  return call(b, "full_like", {like}, {{"value", value}});
}

int castTo(SubgraphBuilder &b, int x, DType dtype) {
  if (isComplex(b.meta(x).dtype) && !isComplex(dtype))
    x = call(b, "real", {x});
  return b.meta(x).dtype == dtype ? x : call(b, "cast", {x}, {{"dtype", dtype}});
}

int conj(SubgraphBuilder &b, int x) { return isComplex(b.meta(x).dtype) ? call(b, "conj", {x}) : x; }

int accumulate(SubgraphBuilder &b, int a, int other) {
  if (a < 0 || other < 0)
    return a < 0 ? other : a;
  return call(b, "add", {a, other});
}

int fitGradient(SubgraphBuilder &b, int grad, int operand) {
  if (grad < 0)
    return -1;
  return castTo(b, sumTo(b, grad, operand), b.meta(operand).dtype);
}

int gradientOf(SubgraphBuilder &b, llvm::ArrayRef<int> values, unsigned numOperands, unsigned index) {
  unsigned numResults = (values.size() - numOperands) / 2;
  int grad = values[numOperands + numResults + index];
  return grad >= 0 ? grad : fullLike(b, values[numOperands + index], 0);
}

} // namespace tess::pieces
