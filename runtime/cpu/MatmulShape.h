//===- MatmulShape.h - a matrix product over strides ------------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime::cpu {

/// Both operands over the axes (*B, M, K) and (*B, K, N): transposes are strides, a batch axis that repeats has size 1.
struct MatmulShape {
  Layout lhs, rhs;
  Shape out; // (*B, M, N)
  int64_t m = 0, n = 0, k = 0, batch = 1;
};

MatmulShape matmulShape(const PrepareRequest &request);

/// Below this many multiplications a second thread costs more than it brings.
constexpr int64_t kSerialProducts = int64_t(1) << 18;

} // namespace tess::runtime::cpu
