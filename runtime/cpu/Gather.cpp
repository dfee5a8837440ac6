//===- Gather.cpp - elements along an axis, an index for each -------------===//
#include "runtime/Elements.h"
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"

namespace tess::runtime::cpu {

namespace {

/// gather (x, index) or scatter (x, index, source). Both are a walk over the index as [outer, count, inner], where x is
/// [outer, size, inner].
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
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (llvm::Error error = check(inputs[1]))
      return error;
    withWidth(dtype, [&](auto tag) {
      using T = decltype(tag);
      auto *out = static_cast<T *>(outputs[0]);
      if (isUpdate)
        walk(inputs[1], [&, from = static_cast<const T *>(inputs[2])](int64_t i, int64_t x) { out[x] = from[i]; });
      else
        walk(inputs[1], [&, from = static_cast<const T *>(inputs[0])](int64_t i, int64_t x) { out[i] = from[x]; });
    });
    return llvm::Error::success();
  }

private:
  llvm::Error check(const void *indices) const {
    for (int64_t i = 0, n = outer * count * inner; i < n; ++i) {
      int64_t raw = indexAt(indexType, indices, i), position = raw;
      if (!wrapIndex(position, size))
        return indexError(name, raw, size);
    }
    return llvm::Error::success();
  }

  /// Calls move(place in the index, place in x) for each element of the index, in their order.
  template <typename Move> void walk(const void *indices, Move move) const {
    int64_t i = 0;
    for (int64_t a = 0; a < outer; ++a)
      for (int64_t b = 0; b < count; ++b)
        for (int64_t c = 0; c < inner; ++c, ++i) {
          int64_t position = indexAt(indexType, indices, i);
          wrapIndex(position, size);
          move(i, (a * size + position) * inner + c);
        }
  }

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
