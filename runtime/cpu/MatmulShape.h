//===- MatmulShape.h - a matrix product over strides ------------*- C++ -*-===//
#pragma once

#include "runtime/contract/Products.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime::cpu {

/// Both operands over the axes (*B, M, K) and (*B, K, N): transposes are strides, a batch axis that repeats has size 1.
struct MatmulShape {
  Layout lhs, rhs;
  Shape out; // (*B, M, N)
  int64_t m = 0, n = 0, k = 0, batch = 1;
};

/// The shape of a request whose operands fit, as inference saw to.
MatmulShape matmulShape(const PrepareRequest &request);

/// The offset of matrix number `batch` of the result in an operand, in elements.
int64_t batchOffset(const MatmulShape &shape, const Layout &layout, int64_t batch);

/// Turns a product (*B, M, K) x (K, N) with packed rows into a single one of B * M rows: the same sums in fewer calls.
void collapseBatch(MatmulShape &shape);

/// The product of such a shape, whose batches that are one in memory have been joined.
contract::ProductShape productShape(const MatmulShape &shape, const PrepareRequest &request);

constexpr const char *kOwnMatmul = "own:matmul", *kContract = "own:contract", *kOwnConv = "own:conv";

/// Below this many multiplications a second thread costs more than it brings; `tools/dev bench thresholds` sweeps it.
constexpr int64_t kSerialProducts = int64_t(1) << 18;

} // namespace tess::runtime::cpu
