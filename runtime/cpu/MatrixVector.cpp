//===- MatrixVector.cpp - a matrix of floats by a vector ------------------===//
//
// The library computes it by kernels for matrices, several times slower. Each
// result is summed in 16 lanes, element k of the vector in lane k modulo 16,
// and these by halves, piece by piece as the compiler's reductions are; so
// neither the layout of the matrix nor the threads change a bit.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/schema/KernelAbi.h"
#include "runtime/threads/ParallelFor.h"

#include <algorithm>

namespace tess::runtime::cpu {

namespace {

constexpr int64_t kWidth = kLanes;
constexpr int64_t kTile = 64; // rows whose sums are kept at a time where rows lie side by side

class MatrixVector : public PreparedKernel {
public:
  MatrixVector(const Layout &matrix, unsigned matrixAt, unsigned threads)
      : rows(matrix.shape[0]), depth(matrix.shape[1]), rowStride(matrix.strides[0]), step(matrix.strides[1]),
        matrixAt(matrixAt) {
    implementationName = kMatrixVector;
    threadCount = rows * depth < kSerialProducts ? 1 : threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    const auto *matrix = static_cast<const float *>(inputs[matrixAt]),
               *vector = static_cast<const float *>(inputs[1 - matrixAt]);
    auto *out = static_cast<float *>(outputs[0]);
    parallelFor(threadCount, rows, kWidth, [&](int64_t begin, int64_t end, unsigned) {
      if (step == 1)
        for (int64_t row = begin; row < end; ++row)
          out[row] = sumRow(matrix + row * rowStride, vector);
      else
        for (int64_t row = begin; row < end; row += kTile)
          sumTile(matrix + row * rowStride, vector, std::min(kTile, end - row), out + row);
    });
    return llvm::Error::success();
  }

private:
  float sumRow(const float *line, const float *vector) const {
    double total = 0;
    for (int64_t k = 0; k < depth; k += kSumPiece)
      total += dot(line + k, vector + k, std::min(kSumPiece, depth - k));
    return float(total);
  }

  static float dot(const float *line, const float *vector, int64_t count) {
    float sums[kWidth] = {};
    int64_t k = 0;
    for (; k + kWidth <= count; k += kWidth)
      for (int64_t lane = 0; lane < kWidth; ++lane)
        sums[lane] += line[k + lane] * vector[k + lane];
    for (int64_t lane = 0; k < count; ++lane, ++k)
      sums[lane] += line[k] * vector[k];
    for (int64_t half = kWidth / 2; half; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        sums[lane] += sums[lane + half];
    return sums[0];
  }

  /// Sums `count` rows at once, in loops over them.
  void sumTile(const float *matrix, const float *vector, int64_t count, float *out) const {
    double totals[kTile] = {};
    for (int64_t k = 0; k < depth; k += kSumPiece)
      addPiece(matrix + k * step, vector + k, std::min(kSumPiece, depth - k), count, totals);
    std::copy_n(totals, count, out);
  }

  void addPiece(const float *matrix, const float *vector, int64_t columns, int64_t count, double *totals) const {
    float sums[kWidth][kTile] = {};
    for (int64_t k = 0; k < columns; ++k)
      addRows(matrix + k * step, vector[k], count, sums[k % kWidth]);
    for (int64_t half = kWidth / 2; half; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        for (int64_t row = 0; row < count; ++row)
          sums[lane][row] += sums[lane + half][row];
    for (int64_t row = 0; row < count; ++row)
      totals[row] += sums[0][row];
  }

  void addRows(const float *line, float factor, int64_t count, float *sums) const {
    if (rowStride == 1)
      for (int64_t row = 0; row < count; ++row)
        sums[row] += line[row] * factor;
    else
      for (int64_t row = 0; row < count; ++row)
        sums[row] += line[row * rowStride] * factor;
  }

  int64_t rows, depth, rowStride, step; // strides of the matrix, in elements
  unsigned matrixAt;                    // which input it is
};

} // namespace

PreparedRef prepareMatrixVector(const MatmulShape &shape, unsigned threads) {
  if (shape.out[1] == 1)
    return std::make_shared<MatrixVector>(shape.lhs, 0, threads);
  Layout transposed = shape.rhs;
  std::swap(transposed.shape[0], transposed.shape[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  return std::make_shared<MatrixVector>(transposed, 1, threads);
}

} // namespace tess::runtime::cpu
