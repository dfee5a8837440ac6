//===- ViewRules.cpp - where the elements of a view lie ------------------===//
#include "ops/inference/ViewRules.h"
#include "ops/vocabulary/SizeExpr.h"

#include <algorithm>

namespace tess::views {

SliceRange sliceRange(int64_t start, int64_t stop, int64_t step, int64_t size) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto limited = [&](int64_t i) { return std::clamp(i < 0 ? std::max(i, -size - 1) + size : i, low, high); };
  start = limited(start);
  stop = limited(stop);
  int64_t distance = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
  return {start, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

/// The index counted from the front. That of an expression which may be negative adds the size times 1 where it is.
static int64_t symbolicFromFront(int64_t index, int64_t size) {
  if (!sizes::isSymbolic(index))
    return index < 0 ? sizes::add(size, index) : index;
  if (sizes::isAtLeast(index, 0))
    return index;
  int64_t isNegative = sizes::minimum(sizes::maximum(sizes::subtract(0, index), 0), 1);
  return sizes::add(index, sizes::multiply(size, isNegative));
}

/// The length of a slice by expressions, as sliceRange() counts it.
static int64_t symbolicLength(int64_t start, int64_t stop, int64_t step, int64_t size) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : sizes::subtract(size, 1);
  auto limited = [&](int64_t i) {
    if (i == INT64_MAX || (i == INT64_MIN && step < 0)) // to the end
      return i == INT64_MAX ? high : low;
    return sizes::minimum(sizes::maximum(symbolicFromFront(i, size), low), high);
  };
  int64_t stride = step > 0 ? step : -step;
  int64_t distance = sizes::subtract(limited(stop), limited(start));
  distance = sizes::maximum(step > 0 ? distance : sizes::subtract(0, distance), 0);
  return sizes::floorDivide(sizes::add(distance, stride - 1), stride);
}

int64_t sliceLength(int64_t start, int64_t stop, int64_t step, int64_t size) {
  if (sizes::isSymbolic({start, stop, size}))
    return symbolicLength(start, stop, step, size);
  if (size >= 0)
    return sliceRange(start, stop, step, size).count;
  if (step == 1 && start == 0 && stop == INT64_MAX)
    return size;
  bool isEmpty = (start < 0) == (stop < 0) && (step > 0 ? stop <= start : stop >= start);
  return isEmpty ? 0 : kUnknown;
}

int64_t sliceStart(int64_t start, int64_t stop, int64_t step, int64_t size) {
  SliceRange range = sliceRange(start, stop, step, size);
  return range.count ? range.start : 0;
}

int64_t sliceStop(int64_t start, int64_t stop, int64_t step, int64_t size) {
  SliceRange range = sliceRange(start, stop, step, size);
  if (range.count == 0)
    return 0;
  int64_t behind = range.start + (range.count - 1) * step + (step > 0 ? 1 : -1);
  return behind < 0 ? -size - 1 : behind; // before the first element, which -1 would not say: it means the last one
}

bool startsInBounds(int64_t start, int64_t size) {
  return size < 0 || sizes::isSymbolic(start) || (start >= -size && start < size);
}

bool isOneIndex(int64_t start, int64_t stop, int64_t step) {
  return step > 0 && stop == (start == -1 ? INT64_MAX : sizes::add(start, 1));
}

/// Finds strides of `shape` over the elements of `x`: each run of axes with one even stride is split anew.
static bool restride(const Layout &x, llvm::ArrayRef<int64_t> shape, Shape &strides) {
  strides.assign(shape.size(), 1);
  Shape oldShape, oldStrides;
  for (unsigned i = 0; i < x.shape.size(); ++i)
    if (x.shape[i] != 1) {
      oldShape.push_back(x.shape[i]);
      oldStrides.push_back(x.strides[i]);
    }
  size_t from = 0, to = 0;
  while (from < oldShape.size() && to < shape.size()) {
    size_t fromEnd = from + 1, toEnd = to + 1;
    int64_t oldCount = oldShape[from], newCount = shape[to];
    while (oldCount != newCount) {
      if (oldCount < newCount)
        oldCount *= oldShape[fromEnd++];
      else
        newCount *= shape[toEnd++];
    }
    for (size_t i = from; i + 1 < fromEnd; ++i)
      if (oldStrides[i] != oldStrides[i + 1] * oldShape[i + 1])
        return false;
    int64_t stride = oldStrides[fromEnd - 1];
    for (size_t i = toEnd; i-- > to;) {
      strides[i] = stride;
      stride *= shape[i];
    }
    from = fromEnd;
    to = toEnd;
  }
  return true;
}

llvm::Expected<Layout> reshape(const OpDef &op, const Layout &x, llvm::ArrayRef<int64_t> shape) {
  TensorMeta meta(DType::Float32, shape);
  Layout layout = {meta.shape, contiguousStrides(shape), x.offset};
  if (meta.numElements() != 0 && !restride(x, shape, layout.strides))
    return makeError(ErrorCode::Unimplemented, op.name() + ": layout must be viewable in the new shape, got shape " +
                                                   toString(x.shape) + " and strides " + toString(x.strides));
  return layout;
}

llvm::Expected<Layout> broadcastTo(const OpDef &, const Layout &x, llvm::ArrayRef<int64_t> shape) {
  return x.broadcastTo(shape);
}

} // namespace tess::views
