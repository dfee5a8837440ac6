// The gradient of a read is added at its elements; at written elements the gradient of x is cut off.
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

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

/// Adds `dout` to zeros shaped like `x`, at `index` along `axis`; the index has the other axes of x.
static int addAlong(SubgraphBuilder &b, const OpDef &op, int x, int index, int dout, unsigned axis) {
  TensorMeta meta = b.meta(index);
  IntList axes;
  Values indices;
  for (unsigned i = 0; i < meta.rank(); ++i) {
    axes.push_back(i);
    if (i == axis) {
      indices.push_back(index);
      continue;
    }
    if (meta.shape[i] == kUnknown) {
      b.fail(invalidArgument(op.name() + ": shape of the index must be known for the gradient, got " + toString(meta)));
      return -1;
    }
    int positions = call(b, "arange", {}, {{"num", meta.shape[i]}, {"dtype", meta.dtype}});
    IntList shape(meta.rank(), 1);
    shape[i] = meta.shape[i];
    indices.push_back(call(b, "reshape", {positions}, {{"shape", shape}}));
  }
  return indexed(b, "index_add", {fullLike(b, x, 0), dout}, indices, axes);
}

Values gather(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  int64_t axis = op.i64("axis");
  return {addAlong(b, op, v[0], v[1], v[3], axis < 0 ? axis + b.meta(v[0]).rank() : axis), -1};
}

/// The gradient of argsort and topk, whose operand is x and whose results are out and indices.
Values sorted(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  if (v[3] < 0)
    return {-1};
  return {addAlong(b, op, v[0], v[2], v[3], b.meta(v[0]).rank() - 1)};
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
