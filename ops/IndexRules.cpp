// What indexing is made of. The gradient of a read is added at its elements; at written elements the gradient of x is
// cut off.
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/PixelPieces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

/// The axes from `first` to below `end`.
static tess::IntList span(int64_t first, int64_t end) { return llvm::to_vector<4>(llvm::seq(first, end)); }

namespace tess::forwards {

using namespace pieces;

/// The axes of the indices, as many as the indexed ones or more, stand at the first of these, which a view puts side by
/// side and, where the indices have more, gives axes of size 1.
llvm::SmallVector<int, 4> indexGet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int x = v[0];
  int64_t rank = b.meta(x).rank(), taken = int64_t(v.size()) - 1, own = 0;
  IntList axes, order, others;
  for (int index : v.drop_front())
    own = std::max<int64_t>(own, b.meta(index).rank());
  for (int64_t axis : op.ints("axes"))
    axes.push_back(axis < 0 ? axis + rank : axis);
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

} // namespace tess::forwards

namespace tess::gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;
using Bools = llvm::ArrayRef<bool>;

/// Applies an operator whose operands are (x, [value,] indices...).
static int indexed(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> front, llvm::ArrayRef<int> indices,
                   const AttrValue &axes) {
  Values inputs(front.begin(), front.end());
  inputs.append(indices.begin(), indices.end());
  return call(b, name, inputs, {{"axes", axes}});
}

/// Applies an operator along axes, whose operands are (x, [value,] indices...).
static int alongAxes(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> front, llvm::ArrayRef<int> indices,
                     const AttrValue &axes, const AttrValue &caller) {
  Values inputs(front);
  inputs.append(indices.begin(), indices.end());
  return call(b, name, inputs, {{"axes", axes}, {"caller", caller}});
}

Values takeAlongAxes(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  Values grads(needed.size(), -1);
  grads[0] = alongAxes(b, "add_along_axes", {fullLike(b, v[0], 0), v[needed.size() + 1]}, v.slice(1, needed.size() - 1),
                       op.attr("axes"), op.attr("caller"));
  return grads;
}

Values addAlongAxes(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  Values grads(needed.size(), -1);
  int dout = grads[0] = v[needed.size() + 1];
  if (needed[1])
    grads[1] =
        alongAxes(b, "take_along_axes", {dout}, v.slice(2, needed.size() - 2), op.attr("axes"), op.attr("caller"));
  return grads;
}

/// The gradient of argsort and topk, whose operand is x and whose results are out and indices.
Values sorted(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  if (v[3] < 0)
    return {-1};
  return {alongAxes(b, "add_along_axes", {fullLike(b, v[0], 0), v[3]}, {v[2]},
                    IntList{int64_t(b.meta(v[0]).rank()) - 1}, op.info().name)};
}

Values indexGet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  Values grads(needed.size(), -1);
  int dout = v[needed.size() + 1];
  grads[0] = indexed(b, "index_add", {fullLike(b, v[0], 0), dout}, v.slice(1, needed.size() - 1), op.attr("axes"));
  return grads;
}

/// What of `dout`, which is shaped like `x`, belongs to the elements that `write` places: of several at one place to
/// the last, which a number for each of them tells. `read` takes elements from where `write` places them.
static int ofWritten(SubgraphBuilder &b, int x, int dout, llvm::function_ref<int(int)> read,
                     llvm::function_ref<int(int, int)> write) {
  int grad = read(dout);
  if (int64_t count = b.meta(grad).numElements(); count == 0 || count == 1)
    return grad;
  int ones = broadcastLike(b, constant(b, 1, DType::Int32), grad);
  int count = call(b, "cumsum", {call(b, "flatten", {ones})}, {{"axis", int64_t(0)}});
  int number = reshapeLike(b, count, grad);
  int last = read(write(broadcastLike(b, constant(b, 0, DType::Int32), x), number));
  return call(b, "where", {call(b, "equal", {last, number}), grad, fullLike(b, grad, 0)});
}

Values indexSet(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  Values grads(needed.size(), -1);
  llvm::ArrayRef<int> indices = v.slice(2, needed.size() - 2);
  const AttrValue &axes = op.attr("axes");
  int dout = v[needed.size() + 1];
  if (needed[0])
    grads[0] = indexed(b, "index_set", {dout, fullLike(b, v[1], 0)}, indices, axes);
  if (needed[1])
    grads[1] = ofWritten(
        b, v[0], dout, [&](int from) { return indexed(b, "index_get", {from}, indices, axes); },
        [&](int to, int value) { return indexed(b, "index_set", {to, value}, indices, axes); });
  return grads;
}

/// Operands: x, index, source; then the result and its gradient.
Values scatter(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  const AttrValue &axis = op.attr("axis");
  auto write = [&](int to, int source) { return call(b, "scatter", {to, v[1], source}, {{"axis", axis}}); };
  auto read = [&](int from) { return call(b, "gather", {from, v[1]}, {{"axis", axis}}); };
  Values grads(3, -1);
  if (needed[0])
    grads[0] = write(v[4], fullLike(b, v[2], 0));
  if (needed[2])
    grads[2] = ofWritten(b, v[0], v[4], read, write);
  return grads;
}

Values indexAdd(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  Values grads(needed.size(), -1);
  int dout = v[needed.size() + 1];
  grads[0] = dout;
  if (needed[1])
    grads[1] = indexed(b, "index_get", {dout}, v.slice(2, needed.size() - 2), op.attr("axes"));
  return grads;
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
  int sum = indexed(b, "index_add", {zeros, v[3]}, {index}, IntList{0});
  return {reshapeLike(b, sum, v[0]), -1};
}

} // namespace tess::gradients
