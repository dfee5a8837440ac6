//===- Gather.cpp - elements along an axis, an index for each -------------===//
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"

#include <atomic>

namespace tess::runtime::cpu {

namespace {

/// gather (x, index) or scatter (x, index, source). Both are a walk over the index as [outer, count, inner], where x is
/// [outer, size, inner]. Threads share the outer rows, else the inner columns, so that of several sources for one
/// element the last one wins.
class GatherScatter : public PreparedKernel {
public:
  GatherScatter(const PrepareRequest &request, bool scatter)
      : name(request.op.name()), indexType(request.inputs[1].dtype), dtype(request.outputs[0].dtype) {
    implementationName = "own:" + name;
    looksAtData = true;
    isUpdate = scatter;
    llvm::ArrayRef<int64_t> x = request.inputs[0].shape, index = request.inputs[1].shape;
    int64_t axis = request.op.i64("axis");
    axis += axis < 0 ? int64_t(x.size()) : 0;
    outer = countOf(x.take_front(size_t(axis)));
    inner = countOf(x.drop_front(size_t(axis) + 1));
    size = x[size_t(axis)];
    count = index[size_t(axis)];
    constexpr int64_t kElement = 1000; // picoseconds
    threadCount = threadsFor(outer * count * inner * kElement, request.threads);
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto runBy = [&](auto *indices) { return runOn(indices, inputs, outputs[0]); };
    return indexType == DType::Int64 ? runBy(static_cast<const int64_t *>(inputs[1]))
                                     : runBy(static_cast<const int32_t *>(inputs[1]));
  }

private:
  template <typename Index> llvm::Error runOn(const Index *indices, llvm::ArrayRef<void *> inputs, void *output) const {
    if (llvm::Error error = check(indices))
      return error;
    withWidth(dtype, [&](auto tag) {
      using T = decltype(tag);
      auto *out = static_cast<T *>(output);
      if (isUpdate)
        walk(indices, [out, from = static_cast<const T *>(inputs[2])](int64_t i, int64_t x) { out[x] = from[i]; });
      else
        walk(indices, [out, from = static_cast<const T *>(inputs[0])](int64_t i, int64_t x) { out[i] = from[x]; });
    });
    return llvm::Error::success();
  }

  /// An index out of range is found before anything is written.
  template <typename Index> llvm::Error check(const Index *indices) const {
    int64_t number = outer * count * inner;
    std::atomic<bool> areWithin = true;
    parallelFor(threadCount, number, 64, [&](int64_t begin, int64_t end, unsigned) {
      bool isOutside = false;
      for (int64_t i = begin; i < end; ++i)
        isOutside |= (indices[i] < -size) | (indices[i] >= size);
      if (isOutside)
        areWithin = false;
    });
    for (int64_t i = 0; i < number && !areWithin; ++i)
      if (int64_t position = indices[i]; !wrapIndex(position, size))
        return indexError(name, indices[i], size);
    return llvm::Error::success();
  }

  /// Calls move(place in the index, place in x) for each element of the index, in their order in each thread.
  template <typename Index, typename Move> void walk(const Index *indices, Move move) const {
    bool byOuter = outer >= int64_t(threadCount);
    parallelFor(threadCount, byOuter ? outer : inner, 1, [&](int64_t begin, int64_t end, unsigned) {
      if (inner == 1) // rows of one column, in one loop
        return walkRows(indices, byOuter ? begin : 0, byOuter ? end : outer, move);
      for (int64_t a = byOuter ? begin : 0, lastA = byOuter ? end : outer; a < lastA; ++a)
        for (int64_t b = 0; b < count; ++b)
          walkLine(indices, a, b, byOuter ? 0 : begin, byOuter ? inner : end, move);
    });
  }

  template <typename Index, typename Move>
  void walkRows(const Index *indices, int64_t begin, int64_t end, Move move) const {
    for (int64_t a = begin; a < end; ++a)
      for (int64_t b = 0; b < count; ++b)
        move(a * count + b, a * size + fromStart(indices[a * count + b]));
  }

  template <typename Index, typename Move>
  void walkLine(const Index *indices, int64_t a, int64_t b, int64_t begin, int64_t end, Move move) const {
    int64_t line = (a * count + b) * inner, x = a * size * inner;
    for (int64_t c = begin; c < end; ++c)
      move(line + c, x + fromStart(indices[line + c]) * inner + c);
  }

  int64_t fromStart(int64_t index) const { return index + (index < 0 ? size : 0); }

  std::string name;
  DType indexType, dtype;
  int64_t outer, count, inner, size;
};

} // namespace

llvm::Expected<PreparedRef> prepareGather(const PrepareRequest &request) {
  return std::make_shared<GatherScatter>(request, false);
}

llvm::Expected<PreparedRef> prepareScatter(const PrepareRequest &request) {
  return std::make_shared<GatherScatter>(request, true);
}

} // namespace tess::runtime::cpu
