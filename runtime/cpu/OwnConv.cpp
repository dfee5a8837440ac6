//===- OwnConv.cpp - convolutions by our own loops ------------------------===//
//
// Convolutions for dtypes that oneDNN does not convolve, in the accumulator type.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ConvLoops.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime::cpu {

namespace {

class OwnConv : public PreparedKernel {
public:
  enum Kind : uint8_t { Forward, BackwardData, BackwardWeight };

  /// `first`, `second`: the inputs that are the image or the weight, and the weight or the gradient of the result.
  OwnConv(const PrepareRequest &request, Kind kind, const ConvShape &shape, unsigned first, unsigned second)
      : kind(kind), firstAt(first), secondAt(second), s(shape), dtype(request.outputs[0].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withType(dtype, [&](auto tag) { compute<decltype(tag)>(inputs, outputs[0]); });
    return llvm::Error::success();
  }

private:
  int64_t numPlanes() const {
    return kind == Forward        ? s.batch * s.groups * s.out
           : kind == BackwardData ? s.batch * s.groups * s.in
                                  : s.groups * s.out * s.in;
  }

  template <typename T> void compute(llvm::ArrayRef<void *> inputs, void *output) const {
    auto *first = static_cast<const T *>(inputs[firstAt]), *second = static_cast<const T *>(inputs[secondAt]);
    auto *out = static_cast<T *>(output);
    parallelFor(threadCount, numPlanes(), 1, [&](int64_t begin, int64_t end, unsigned) {
      std::vector<Accumulator<T>> sums;
      for (int64_t i = begin; i < end; ++i)
        computePlane<T>(i, first, second, out, sums);
    });
  }

  template <typename T>
  void computePlane(int64_t index, const T *first, const T *second, T *out, std::vector<Accumulator<T>> &sums) const {
    using Sum = Accumulator<T>;
    const ConvLoops<Sum> loops(s);
    auto load = [](T element) { return Sum(widen(element)); };
    if (kind == BackwardWeight)
      return loops.weightPlane(index, first, second, load,
                               [&](int64_t place, Sum sum) { out[index * s.window() + place] = narrow<T>(sum); });
    if (kind == Forward)
      loops.forwardPlane(index, first, second, load, load, sums);
    else
      loops.dataPlane(index, first, second, load, load, sums);
    for (size_t j = 0; j < sums.size(); ++j)
      out[size_t(index) * sums.size() + j] = narrow<T>(sums[j]);
  }

  Kind kind;
  unsigned firstAt, secondAt;
  ConvShape s;
  DType dtype;
};

} // namespace

llvm::Expected<PreparedRef> prepareOwnConv(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::Forward, forwardShape(request), 0, 1);
}

llvm::Expected<PreparedRef> prepareOwnConvTranspose(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardData, transposedShape(request), 1, 0);
}

llvm::Expected<PreparedRef> prepareOwnConvBackwardData(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardData, backwardDataShape(request), 0, 1);
}

llvm::Expected<PreparedRef> prepareOwnConvBackwardWeight(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardWeight, backwardWeightShape(request), 0, 1);
}

} // namespace tess::runtime::cpu
