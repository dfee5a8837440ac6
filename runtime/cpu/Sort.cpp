//===- Sort.cpp - elements in order along the last axis -------------------===//
//
// Equal elements keep their order and NaN is the largest. The order is thus
// total, and topk is a prefix of argsort, bit for bit.
//
//===----------------------------------------------------------------------===//
#include "runtime/Elements.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tess::runtime::cpu {

namespace {

template <typename A> bool less(A a, A b) { return a < b || (a == a && b != b); }

class Sort : public PreparedKernel {
public:
  Sort(const PrepareRequest &request, const char *name)
      : dtype(request.inputs[0].dtype), descending(request.op.boolean("descending")) {
    implementationName = name;
    const Shape &shape = request.inputs[0].shape;
    rows = countOf(llvm::ArrayRef(shape).drop_back());
    size = shape.back();
    taken = request.outputs[0].shape.back();
    workspace = llvm::alignTo(size_t(size) * sizeof(int32_t) + 1, 64);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *order = static_cast<int32_t *>(context.workspace);
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      for (int64_t row = 0; row < rows; ++row) {
        const T *line = static_cast<const T *>(inputs[0]) + row * size;
        sortLine<T>(line, order);
        for (int64_t i = 0; i < taken; ++i) {
          static_cast<T *>(outputs[0])[row * taken + i] = line[order[i]];
          static_cast<int32_t *>(outputs[1])[row * taken + i] = order[i];
        }
      }
    });
    return llvm::Error::success();
  }

private:
  template <typename T> void sortLine(const T *line, int32_t *order) const {
    std::iota(order, order + size, 0);
    auto before = [&](int32_t a, int32_t b) {
      auto x = widen(line[a]), y = widen(line[b]);
      bool ahead = descending ? less(y, x) : less(x, y), behind = descending ? less(x, y) : less(y, x);
      return ahead || (!behind && a < b);
    };
    if (taken < size)
      std::partial_sort(order, order + taken, order + size, before);
    else
      std::sort(order, order + size, before);
  }

  DType dtype;
  bool descending;
  int64_t rows, size, taken;
};

/// How many elements of a sorted line come before each value; inputs are the lines and the values.
class SearchSorted : public PreparedKernel {
public:
  explicit SearchSorted(const PrepareRequest &request)
      : dtype(request.inputs[0].dtype), countsEqual(request.op.str("side") == "right") {
    implementationName = "own:searchsorted";
    const Shape &lines = request.inputs[0].shape, &values = request.inputs[1].shape;
    batch.assign(request.outputs[0].shape.begin(), request.outputs[0].shape.end() - 1);
    size = lines.back();
    count = values.back();
    for (auto [strides, shape] : llvm::zip(batchStrides, llvm::ArrayRef({&lines, &values})))
      strides = Layout::contiguous(llvm::ArrayRef(*shape).drop_back()).broadcastTo(batch).strides;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *to = static_cast<int32_t *>(outputs[0]);
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      Odometer<2> walk(batch, batchStrides);
      for (int64_t row = 0, rows = countOf(batch); row < rows; ++row, walk.next()) {
        const T *line = static_cast<const T *>(inputs[0]) + walk.offset(0) * size;
        const T *values = static_cast<const T *>(inputs[1]) + walk.offset(1) * count;
        to = std::transform(values, values + count, to, [&](T value) { return place(line, value); });
      }
    });
    return llvm::Error::success();
  }

private:
  template <typename T> int32_t place(const T *line, T value) const {
    const T *found = std::partition_point(line, line + size, [&](T element) {
      auto x = widen(element), y = widen(value);
      return countsEqual ? !less(y, x) : less(x, y);
    });
    return int32_t(found - line);
  }

  DType dtype;
  bool countsEqual;
  Shape batch;
  std::array<Shape, 2> batchStrides;
  int64_t size, count;
};

} // namespace

llvm::Expected<PreparedRef> prepareArgsort(const PrepareRequest &request) {
  return std::make_shared<Sort>(request, "own:argsort");
}

llvm::Expected<PreparedRef> prepareTopk(const PrepareRequest &request) {
  return std::make_shared<Sort>(request, "own:topk");
}

llvm::Expected<PreparedRef> prepareSearchSorted(const PrepareRequest &request) {
  return std::make_shared<SearchSorted>(request);
}

} // namespace tess::runtime::cpu
