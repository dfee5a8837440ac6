//===- OwnMatmul.cpp - matrix products by our own loops -------------------===//
//
// Products for dtypes that oneDNN does not multiply, and small products. Each
// element is one sum in the order of k in the accumulator type; one of float32
// goes in pieces of kSumPiece, whose results are added in float64. Blocks run
// over rows and columns only, so bits depend on neither blocks nor threads.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/device/Elements.h"
#include "runtime/schema/KernelAbi.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime::cpu {

namespace {

constexpr int64_t kTile = 64; // columns whose sums are kept at a time

/// The type that results of pieces are added in.
template <typename A> struct TotalOf {
  using type = A;
};
template <> struct TotalOf<float> {
  using type = double;
};
template <> struct TotalOf<std::complex<float>> {
  using type = std::complex<double>;
};

class OwnMatmul : public PreparedKernel {
public:
  explicit OwnMatmul(const PrepareRequest &request) : shape(matmulShape(request)), dtype(request.outputs[0].dtype) {
    implementationName = kOwnMatmul;
    threadCount =
        shape.batch * shape.m * shape.n * std::max<int64_t>(shape.k, 1) < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withTypeOrComplex(dtype, [&](auto tag) {
      using T = decltype(tag);
      parallelFor(threadCount, shape.batch * shape.m, 1, [&](int64_t begin, int64_t end, unsigned) {
        for (int64_t row = begin; row < end; ++row)
          computeRow<T>(row, static_cast<const T *>(inputs[0]), static_cast<const T *>(inputs[1]),
                        static_cast<T *>(outputs[0]) + row * shape.n);
      });
    });
    return llvm::Error::success();
  }

private:
  template <typename T> void computeRow(int64_t row, const T *lhs, const T *rhs, T *out) const {
    size_t axis = shape.out.size() - 2;
    lhs += batchOffset(shape, shape.lhs, row / shape.m) + row % shape.m * shape.lhs.strides[axis];
    rhs += batchOffset(shape, shape.rhs, row / shape.m);
    int64_t lhsStep = shape.lhs.strides[axis + 1], rhsStep = shape.rhs.strides[axis];
    int64_t column = shape.rhs.strides[axis + 1];
    for (int64_t first = 0; first < shape.n; first += kTile) {
      int64_t count = std::min(kTile, shape.n - first);
      using Total = typename TotalOf<Accumulator<T>>::type;
      Total totals[kTile] = {};
      const int64_t piece = std::is_same_v<Total, Accumulator<T>> ? std::max<int64_t>(shape.k, 1) : kSumPiece;
      for (int64_t k = 0; k < shape.k; k += piece) {
        Accumulator<T> sums[kTile] = {};
        addPiece(lhs + k * lhsStep, rhs + k * rhsStep + first * column, std::min(piece, shape.k - k), count, sums);
        for (int64_t j = 0; j < count; ++j)
          totals[j] += Total(sums[j]);
      }
      for (int64_t j = 0; j < count; ++j)
        out[first + j] = narrow<T>(Accumulator<T>(totals[j]));
    }
  }

  template <typename T>
  void addPiece(const T *lhs, const T *rhs, int64_t depth, int64_t count, Accumulator<T> *sums) const {
    size_t axis = shape.out.size() - 2;
    int64_t lhsStep = shape.lhs.strides[axis + 1], rhsStep = shape.rhs.strides[axis];
    int64_t column = shape.rhs.strides[axis + 1];
    for (int64_t k = 0; k < depth; ++k) {
      auto factor = Accumulator<T>(widen(lhs[k * lhsStep]));
      const T *line = rhs + k * rhsStep;
      if (column == 1)
        for (int64_t j = 0; j < count; ++j)
          sums[j] += product(factor, Accumulator<T>(widen(line[j])));
      else
        for (int64_t j = 0; j < count; ++j)
          sums[j] += product(factor, Accumulator<T>(widen(line[j * column])));
    }
  }

  MatmulShape shape;
  DType dtype;
};

} // namespace

llvm::Expected<PreparedRef> prepareOwnMatmul(const PrepareRequest &request) {
  return std::make_shared<OwnMatmul>(request);
}

} // namespace tess::runtime::cpu
