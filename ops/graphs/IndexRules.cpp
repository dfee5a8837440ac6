// What indexing is made of. The gradient of a read is added at its elements; at written elements the gradient of x is
// cut off.
#include "ops/graphs/ForwardRules.h"
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/PixelPieces.h"
#include "ops/inference/RuleErrors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

/// The axes from `first` to below `end`.
static tess::IntList span(int64_t first, int64_t end) { return llvm::to_vector<4>(llvm::seq(first, end)); }

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

/// The axes of the indices, as many as the indexed ones or more, stand at the first of these, which a view puts side by
/// side and, where the indices have more, gives axes of size 1.
llvm::SmallVector<int, 4> indexGet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int x = v[0];
  int64_t rank = b.meta(x).rank(), taken = int64_t(v.size()) - 1, own = 0;
  IntList axes, order, others;
  for (int index : v.drop_front())
    own = std::max<int64_t>(own, b.meta(index).rank());
  for (int64_t axis : op.ints("axes"))
    axes.push_back(shapes::fromFront(axis, rank));
  IntList sorted = axes;
  llvm::sort(sorted);
  bool areNeighbours = sorted.back() - sorted.front() + 1 == taken;
  int64_t first = areNeighbours ? sorted.front() : 0, added = std::max<int64_t>(own - taken, 0);
  for (int64_t axis : llvm::seq<int64_t>(0, rank))
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  order.append(others.begin(), others.begin() + first);
  order.append(axes.begin(), axes.end());
  order.append(others.begin() + first, others.end());
  if (!llvm::is_sorted(order))
    x = permuted(b, x, order);
  if (added)
    x = withAxes(b, x, span(first + taken, first + taken + added));
  llvm::SmallVector<int, 4> values = {x};
  for (int index : v.drop_front()) {
    int64_t end = b.meta(index).rank();
    values.push_back(rank == first + taken ? index : withAxes(b, index, span(end, end + rank - first - taken)));
  }
  int out = call(b, "take_along_axes", values, {{"axes", span(first, first + taken)}, {"caller", op.info().name}});
  if (own < taken)
    out = call(b, "squeeze", {out}, {{"axis", span(first, first + taken - own)}});
  return {out};
}

/// Where the axes of an operator that writes by arrays of indices stand, beside those of x and as many unit axes more
/// as the indices have above the indexed axes.
struct WrittenAxes {
  int64_t rank, added, firstAdded; // of x then; its unit axes
  IntList indexed, ofIndices, ofValue;
};

/// The axes of the indices stand where the indexed ones do, in their order, so that x stays as it lies.
static WrittenAxes writtenAxes(const OpDef &op, int64_t rank, int64_t own) {
  IntList axes, others;
  for (int64_t axis : op.ints("axes"))
    axes.push_back(shapes::fromFront(axis, rank));
  IntList spots = axes;
  llvm::sort(spots);
  int64_t taken = int64_t(axes.size()), first = spots.front();
  bool areNeighbours = spots.back() - first + 1 == taken;
  WrittenAxes out{rank, std::max<int64_t>(own - taken, 0), areNeighbours ? first + taken : 0, {}, {}, {}};
  auto moved = [&](int64_t axis) { return axis < out.firstAdded ? axis : axis + out.added; };
  out.rank += out.added;
  out.indexed = llvm::map_to_vector<4>(axes, moved);
  spots = llvm::map_to_vector<4>(spots, moved);
  spots.append(span(out.firstAdded, out.firstAdded + out.added));
  llvm::sort(spots);
  out.ofIndices.assign(spots.end() - own, spots.end());
  for (int64_t axis : llvm::seq<int64_t>(0, out.rank))
    if (!llvm::is_contained(spots, axis))
      others.push_back(axis);
  int64_t before = areNeighbours ? first : 0;
  out.ofValue.assign(others.begin(), others.begin() + before);
  out.ofValue.append(out.ofIndices);
  out.ofValue.append(others.begin() + before, others.end());
  return out;
}

/// Writes by the primitive `name`. The value repeats over the elements that index_get takes, of which the shape counts.
static llvm::SmallVector<int, 4> written(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, const char *name) {
  llvm::ArrayRef<int> indices = v.drop_front(2);
  int64_t own = 0;
  Values taken = {v[0]};
  for (int index : indices) {
    taken.push_back(index);
    own = std::max<int64_t>(own, b.meta(index).rank());
  }
  int value = broadcastLike(b, v[1], call(b, "index_get", taken, {{"axes", op.attr("axes")}}));
  WrittenAxes axes = writtenAxes(op, b.meta(v[0]).rank(), own);
  IntList unit = span(axes.firstAdded, axes.firstAdded + axes.added);
  Values values = {axes.added ? withAxes(b, v[0], unit) : v[0], arranged(b, value, axes.ofValue, axes.rank)};
  for (int index : indices)
    values.push_back(arranged(b, index, llvm::ArrayRef(axes.ofIndices).take_back(b.meta(index).rank()), axes.rank));
  int out = callWrite(b, name, values, {{"axes", axes.indexed}, {"caller", op.info().name}});
  return {axes.added ? call(b, "squeeze", {out}, {{"axis", unit}}) : out};
}

llvm::SmallVector<int, 4> indexSet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return written(b, op, v, "set_along_axes");
}

llvm::SmallVector<int, 4> indexAdd(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return written(b, op, v, "add_along_axes");
}

} // namespace tess::forwards

namespace tess::gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;
using Bools = llvm::ArrayRef<bool>;

/// The gradient of argsort and topk, whose operand is x and whose results are out and indices.
Values sorted(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  if (v[3] < 0)
    return {-1};
  return {call(b, "add_along_axes", {fullLike(b, v[0], 0), v[3], v[2]},
               {{"axes", IntList{int64_t(b.meta(v[0]).rank()) - 1}}, {"caller", op.info().name}})};
}

/// The masked axes are merged into one, so that a single list of positions says where the rows of dout go.
Values maskGet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  TensorMeta x = b.meta(v[0]), mask = b.meta(v[1]);
  if (!x.isStatic()) {
    b.fail(invalidArgument(op.name() + ": shape of x must be known for the gradient, got " + toString(x)));
    return {-1, -1};
  }
  IntList flat = {TensorMeta(x.dtype, llvm::ArrayRef(x.shape).take_front(mask.rank())).numElements()};
  flat.append(x.shape.begin() + mask.rank(), x.shape.end());
  int positions = call(b, "non_zero", {call(b, "reshape", {v[1]}, {{"shape", IntList{flat[0]}}})});
  int index = call(b, "squeeze", {positions}, {{"axis", IntList{1}}});
  int zeros = call(b, "full", {}, {{"shape", flat}, {"value", 0.0}, {"dtype", x.dtype}});
  int sum = call(b, "index_add", {zeros, v[3], index}, {{"axes", IntList{0}}});
  return {reshapeLike(b, sum, v[0]), -1};
}

} // namespace tess::gradients
