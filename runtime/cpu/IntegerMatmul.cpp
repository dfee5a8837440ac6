//===- IntegerMatmul.cpp - exact products of bytes ------------------------===//
//
// Sums of stored integers by runtime/contract, from which those of zero points
// are taken: sum (x - a)(y - b) = sum xy - a sum y - b sum x + depth a b. All is
// modulo 2^32, and inference saw to it that results are below.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/cpu/StoredBytes.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tess::runtime::cpu {

namespace {

using contract::ProductShape;

/// The sum of `count` elements that are `step` apart.
template <typename T> uint32_t sumOf(const T *from, int64_t step, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += uint32_t(from[i * step]);
  return sum;
}

class IntegerProduct : public PreparedKernel {
public:
  IntegerProduct(const ProductShape &shape, const PrepareRequest &request, unsigned threads)
      : shape(shape), products(shape, threads), isLeftUnsigned(isUnsignedByte(request.inputs[0].dtype)),
        isRightUnsigned(isUnsignedByte(request.inputs[1].dtype)), rightBytes(request.inputs[1].numElements()),
        hasLeftZero(request.inputs.size() > 2), hasRightZero(request.inputs.size() > 3) {
    implementationName = kContract;
    threadCount = products.threads();
    workspace = productBytes() + copyBytes() + sumBytes();
    if (products.wantsPanels() && !isRightUnsigned && !hasLeftZero && shape.rhsAt.size() == 1)
      inputPackings = {{}, {products.panelsText(), std::nullopt, products.bytesOfPanels()}};
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    char *memory = static_cast<char *>(context.workspace);
    auto *right = static_cast<const int8_t *>(inputs[1]);
    Zeros zeros = {hasLeftZero ? *static_cast<const uint32_t *>(inputs[2]) : 0,
                   hasRightZero ? *static_cast<const uint32_t *>(inputs[3]) : 0};
    if (isRightUnsigned) {
      auto *copy = reinterpret_cast<int8_t *>(memory + productBytes());
      copyAsSigned(static_cast<const uint8_t *>(inputs[1]), rightBytes, copy, threadCount);
      right = copy;
      zeros.right -= 128;
    }
    auto *out = static_cast<uint32_t *>(outputs[0]);
    products.run(inputs[0], right, out, memory);
    if (zeros.left || zeros.right) {
      auto *sums = reinterpret_cast<uint32_t *>(memory + productBytes() + copyBytes());
      isLeftUnsigned ? takeZeros(static_cast<const uint8_t *>(inputs[0]), right, zeros, sums, out)
                     : takeZeros(static_cast<const int8_t *>(inputs[0]), right, zeros, sums, out);
    }
    return llvm::Error::success();
  }

private:
  struct Zeros {
    uint32_t left, right;
  };

  size_t productBytes() const { return llvm::alignTo(products.workspaceBytes(), 64); }
  size_t copyBytes() const { return isRightUnsigned ? llvm::alignTo(size_t(rightBytes), 64) : 0; }
  size_t sumBytes() const { return size_t(shape.columns) * sizeof(uint32_t); }

  /// Sums of the columns of one right matrix.
  void sumColumns(const int8_t *right, uint32_t *sums) const {
    parallelFor(threadCount, shape.columns, kLanes, [&](int64_t begin, int64_t end, unsigned) {
      if (shape.rhsColumn != 1) {
        for (int64_t column = begin; column < end; ++column)
          sums[column] = sumOf(right + column * shape.rhsColumn, shape.rhsRow, shape.depth);
        return;
      }
      std::fill(sums + begin, sums + end, 0);
      for (int64_t k = 0; k < shape.depth; ++k)
        for (int64_t column = begin; column < end; ++column)
          sums[column] += uint32_t(right[k * shape.rhsRow + column]);
    });
  }

  template <typename T>
  void takeZeros(const T *left, const int8_t *right, Zeros zeros, uint32_t *sums, uint32_t *out) const {
    for (int64_t matrix = 0; matrix < shape.numMatrices(); ++matrix, out += shape.rows * shape.columns) {
      const T *rows = left + shape.lhsAt[size_t(matrix) % shape.lhsAt.size()];
      if (zeros.left && (matrix == 0 || shape.rhsAt.size() != 1))
        sumColumns(right + shape.rhsAt[size_t(matrix) % shape.rhsAt.size()], sums);
      parallelFor(threadCount, shape.rows, 1, [&](int64_t begin, int64_t end, unsigned) {
        for (int64_t row = begin; row < end; ++row)
          takeRow(rows + row * shape.lhsRow, zeros, sums, out + row * shape.columns);
      });
    }
  }

  template <typename T> void takeRow(const T *row, Zeros zeros, const uint32_t *sums, uint32_t *out) const {
    uint32_t ofRow = 0;
    if (zeros.right)
      ofRow = zeros.right * (sumOf(row, shape.lhsColumn, shape.depth) - uint32_t(shape.depth) * zeros.left);
    for (int64_t column = 0; column < shape.columns; ++column)
      out[column] -= ofRow + (zeros.left ? zeros.left * sums[column] : 0);
  }

  const ProductShape shape;
  const contract::Products products;
  const bool isLeftUnsigned, isRightUnsigned;
  const int64_t rightBytes;
  const bool hasLeftZero, hasRightZero;
};

/// Results without products.
class NoProducts : public PreparedKernel {
public:
  explicit NoProducts(int64_t results) : bytes(size_t(results) * sizeof(int32_t)) {}

  llvm::Error run(RunContext &, llvm::ArrayRef<void *>, llvm::ArrayRef<void *> outputs) const override {
    if (bytes)
      std::memset(outputs[0], 0, bytes);
    return llvm::Error::success();
  }

private:
  const size_t bytes;
};

ProductShape bytesShape(const PrepareRequest &request) {
  MatmulShape shape = matmulShape(request);
  collapseBatch(shape);
  ProductShape product = productShape(shape, request);
  product.dtype = storageOf(product.dtype);
  product.rightDType.reset();
  product.resultDType.reset();
  return product;
}

} // namespace

llvm::Expected<PreparedRef> prepareIntegerMatmul(const PrepareRequest &request) {
  const MatmulShape shape = matmulShape(request);
  const int64_t products = shape.batch * shape.m * shape.n * shape.k;
  if (products == 0)
    return std::make_shared<NoProducts>(request.outputs[0].numElements());
  return std::make_shared<IntegerProduct>(bytesShape(request), request,
                                          products < kSerialProducts ? 1 : request.threads);
}

llvm::Error packIntegerMatmulInput(const PrepareRequest &request, unsigned, llvm::StringRef, const void *from,
                                   void *to) {
  contract::Products(bytesShape(request), 1).pack(from, to);
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
