//===- TensorIndex.cpp - Python's x[...] ----------------------------------===//
//
// Integers, slices and new axes give a view: one slice, then squeeze, then
// expand_dims. Tensors of integers select from that view.
//
//===----------------------------------------------------------------------===//
#include "tessera/functional.h"

#include "eager/GraphValue.h"
#include "eager/tracing/Recording.h"
#include "ops/Builtin.h"
#include "ops/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

namespace eager = tess::eager;

namespace {

/// The effect of an index on the axes, collected item by item.
class Selection {
public:
  explicit Selection(const Tensor &x) : x(x), sizes(sizesOf(x)) {}
  Tensor apply(llvm::ArrayRef<Index> items);

private:
  /// The shape; expressions for free sizes of a network.
  static Shape sizesOf(const Tensor &x) {
    eager::TensorRef tensor = x.ref();
    return tensor->isGraphValue() ? Shape(llvm::ArrayRef(eager::varOf(*tensor).meta().shape)) : x.shape();
  }
  void add(const Index &item);
  void addInteger(int64_t index);
  void addRange(const Slice &slice);
  /// Adds the axes that no item names.
  void addRest(size_t count);
  void addElements(const Tensor &elements);
  Tensor sliced() const;
  Tensor view() const;
  [[noreturn]] void fail(ErrorCode code, const std::string &what) const {
    throw Error(code, "index: " + what + " for a tensor of shape " + tess::toString(llvm::ArrayRef(sizes)));
  }

  const Tensor &x;
  Shape sizes;
  Shape starts, stops, steps;
  Shape dropped;  // axes of x
  Shape inserted; // axes of the view
  int64_t viewRank = 0;
  bool isSliced = false;
  Shape selectedAxes; // of the view
  std::vector<Tensor> selections;
};

} // namespace

void Selection::addInteger(int64_t index) {
  int64_t axis = starts.size(), size = sizes[axis];
  bool isFree = size < tess::sizes::kSymbolicEnd; // only a run knows it
  if ((index < -size || index >= size) && !isFree)
    fail(ErrorCode::OutOfRange, "integers must be in [" + std::to_string(-size) + ", " + std::to_string(size - 1) +
                                    "], got " + std::to_string(index) + " for axis " + std::to_string(axis));
  dropped.push_back(axis);
  starts.push_back(index);
  stops.push_back(index == -1 ? INT64_MAX : index + 1);
  steps.push_back(1);
  isSliced = true;
}

void Selection::addRange(const Slice &slice) {
  bool isForward = slice.step > 0;
  isSliced |= slice.start || slice.stop || slice.step != 1;
  starts.push_back(slice.start.value_or(isForward ? 0 : -1));
  stops.push_back(slice.stop.value_or(isForward ? INT64_MAX : INT64_MIN));
  steps.push_back(slice.step);
  ++viewRank;
}

void Selection::addRest(size_t count) {
  for (size_t i = 0; i < count; ++i)
    addRange(Slice());
}

void Selection::addElements(const Tensor &elements) {
  if (isBool(elements.dtype()))
    fail(ErrorCode::Unimplemented, "a mask must be the only item, got others beside it");
  selectedAxes.push_back(viewRank);
  selections.push_back(elements);
  addRange(Slice());
}

void Selection::add(const Index &item) {
  if (item.kind == Index::Axis)
    return inserted.push_back(viewRank++);
  if (starts.size() == sizes.size())
    fail(ErrorCode::OutOfRange, "every item must have an axis, got more items than axes");
  switch (item.kind) {
  case Index::Integer:
    return addInteger(item.integer);
  case Index::Range:
    return addRange(item.slice);
  default:
    return addElements(item.elements);
  }
}

/// A recording or a network keeps the bounds as they are given, so that they are right at other sizes.
Tensor Selection::sliced() const {
  if (!eager::Recorder::current() && !x.ref()->isGraphValue())
    return functional::slice(x, starts, stops, steps, dropped);
  auto list = [](const Shape &each) { return tess::IntList(each.begin(), each.end()); };
  OpDef op = tess::builtin::Slice(list(starts), list(stops), list(steps), list(dropped));
  return Tensor(valueOrThrow(eager::apply(op, {x.operand()})).front());
}

Tensor Selection::view() const {
  Tensor result = isSliced ? sliced() : x;
  if (!dropped.empty())
    result = functional::squeeze(result, dropped);
  if (!inserted.empty())
    result = functional::expand_dims(result, inserted);
  return result;
}

Tensor Selection::apply(llvm::ArrayRef<Index> items) {
  if (items.size() == 1 && items[0].kind == Index::Elements && isBool(items[0].elements.dtype()))
    return functional::mask_get(x, items[0].elements);
  size_t named =
      llvm::count_if(items, [](const Index &item) { return item.kind != Index::Axis && item.kind != Index::Rest; });
  bool hasRest = false;
  for (const Index &item : items) {
    if (item.kind != Index::Rest) {
      add(item);
      continue;
    }
    if (std::exchange(hasRest, true))
      fail(ErrorCode::InvalidArgument, "at most one item must be ellipsis, got two");
    addRest(sizes.size() - std::min(sizes.size(), named));
  }
  addRest(sizes.size() - starts.size());
  return selections.empty() ? view() : functional::index_get(view(), selections, selectedAxes);
}

Tensor Tensor::index(llvm::ArrayRef<Index> items) const { return Selection(*this).apply(items); }

} // namespace tessera
