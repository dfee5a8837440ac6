//===- GraphPieces.h - what graph rules are written with ---------*- C++ -*-===//
//
// Short forms for forward and gradient rules, written by hand or generated.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"

#include <initializer_list>
#include <optional>

namespace tess::pieces {

/// Attributes of an operator by name; the others keep their defaults.
using Attrs = std::initializer_list<std::pair<const char *, AttrValue>>;

/// Appends operator `name` and returns the result of this number; -1 when inference fails (SubgraphBuilder keeps the
/// error). `segments`: as those of SubgraphBuilder::apply().
int call(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> inputs, Attrs attrs = {}, unsigned result = 0,
         std::initializer_list<unsigned> segments = {});
/// Appends an operator that writes at indices, of what it writes into, values and indices, as call() does. Float16 and
/// bfloat16 are added in float32 and rounded once: a sum of many in their own digits stands still.
int callWrite(SubgraphBuilder &b, const char *name, llvm::ArrayRef<int> values, Attrs attrs);
/// A value that is made when it is first read.
template <typename Make> class Once {
public:
  explicit Once(Make make) : make(std::move(make)) {}
  int operator()() {
    if (!made)
      made = make();
    return *made;
  }

private:
  Make make;
  std::optional<int> made;
};
/// The values that `make` gives for 0, 1, ... below `count`.
template <typename Make> llvm::SmallVector<int, 8> each(int64_t count, Make make) {
  llvm::SmallVector<int, 8> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(make(i));
  return values;
}
/// Values, then others.
inline llvm::SmallVector<int, 8> joined(std::initializer_list<int> first, llvm::ArrayRef<int> rest) {
  llvm::SmallVector<int, 8> values(first);
  values.append(rest.begin(), rest.end());
  return values;
}
/// What is known of each of some values.
struct ValueMetas {
  SubgraphBuilder &b;
  llvm::ArrayRef<int> values;
  size_t size() const { return values.size(); }
  const TensorMeta &operator[](int64_t i) const { return b.meta(values[i]); }
};
inline ValueMetas metasOf(SubgraphBuilder &b, llvm::ArrayRef<int> values) { return {b, values}; }
/// Keeps `error` and returns -1.
int refused(SubgraphBuilder &b, llvm::Error error);
/// A rank 0 constant; `value` is a number, or a runtime attribute of the operator.
int constant(SubgraphBuilder &b, const AttrValue &value, DType dtype);
/// The same, of the dtype of a value.
int constantLike(SubgraphBuilder &b, const AttrValue &value, int like);

/// `x` in the shape of `like`: a reshape where that shape is known, so that only its shape is needed.
int reshapeLike(SubgraphBuilder &b, int x, int like);
/// `x` repeated to the shape of `like`.
int broadcastLike(SubgraphBuilder &b, int x, int like);
/// `x` summed over the axes along which `like` was broadcast to it.
int sumTo(SubgraphBuilder &b, int x, int like);
/// The same as a sum and a view, whatever is known of the shapes.
int sumOfBroadcast(SubgraphBuilder &b, int x, int like);
/// Elements of `x` along `axes`, in dtype `dtype`: a rank 0 constant where the sizes are known, else a sum of ones.
int countOf(SubgraphBuilder &b, int x, const IntList &axes, DType dtype);
/// The operators of `graph` with `values` for its inputs, -1 where no node reads one; the ids of its outputs, -1 where
/// it has none.
llvm::SmallVector<int, 4> inlined(SubgraphBuilder &b, const Subgraph &graph, llvm::ArrayRef<int> values);
/// `x` with axis `from` at place `to`; the others keep their order.
int movedAxis(SubgraphBuilder &b, int x, unsigned from, unsigned to);
/// `x` with `rank` axes: axis k of it stands at `places[k]`, and axes of size 1 at all others.
int arranged(SubgraphBuilder &b, int x, llvm::ArrayRef<int64_t> places, int64_t rank);
/// Every `step`-th element of `axis` from `start` to below `stop`; a stop of INT64_MAX means the end.
int sliceOf(SubgraphBuilder &b, int x, unsigned axis, int64_t start, int64_t stop, int64_t step = 1);
/// `axis` of `x` as two, of `outer` and `inner` elements; these must be known, or `op` fails, other sizes need not.
int splitAxis(SubgraphBuilder &b, const OpDef &op, int x, unsigned axis, int64_t outer, int64_t inner);
/// `value` everywhere, in shape and dtype of `like`.
int fullLike(SubgraphBuilder &b, int like, double value);
/// `x` in dtype `dtype`; `x` itself when it has it. A complex x gives its real part where `dtype` is real.
int castTo(SubgraphBuilder &b, int x, DType dtype);
/// The conjugate of `x`; `x` itself when it is real.
int conj(SubgraphBuilder &b, int x);
/// `a + other`; -1 stands for no value on either side.
int accumulate(SubgraphBuilder &b, int a, int other);
/// `grad` in the shape and dtype of the operand that it belongs to; -1 stays -1.
int fitGradient(SubgraphBuilder &b, int grad, int operand);
/// Gradient number `index` in `values` (operands, results, gradients of results); zeros where none arrives.
int gradientOf(SubgraphBuilder &b, llvm::ArrayRef<int> values, unsigned numOperands, unsigned index);
/// Shape of a value as an attribute.
IntList shapeOf(SubgraphBuilder &b, int value);

} // namespace tess::pieces
