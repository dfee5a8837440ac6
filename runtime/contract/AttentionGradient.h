//===- AttentionGradient.h - gradients without the matrix -------*- C++ -*-===//
//
// Weights are computed again, of blocks of queries by blocks of keys, from the
// logarithms of their sums: T. Dao et al.: FlashAttention, arXiv:2205.14135. A
// gradient of a query is a sum over blocks of keys, one of a key or a value over
// blocks of queries, in their order. Where there are too few matrices to share, a
// thread takes blocks of queries or of keys, and weights are computed twice; the
// sums are the same.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Attention.h"

namespace tess::runtime::contract {

/// Where matrix number i of the batch begins in what the gradient reads beside the operands of attention, in elements:
/// numbers of each query, and the gradient of the result, (queries, width).
struct GradientPlaces {
  llvm::SmallVector<int64_t, 1> logsumexpAt, deltaAt, doutAt;
};

/// Gradients of attention for a shape; sizes may be 0. Immutable: any number of threads may run it.
class AttentionGradient {
public:
  /// `kernels`: those of another level, for tests; null: of this machine's.
  AttentionGradient(const AttentionShape &shape, GradientPlaces places, unsigned threads,
                    const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return numThreads; }
  size_t workspaceBytes() const;

  /// Arguments of run(), all but the mask of the shape's dtype; matrices of results lie behind each other.
  struct Operands {
    const void *query, *key, *value, *logsumexp, *delta, *dout, *mask;
    void *dquery, *dkey, *dvalue;
    void *workspace; // of workspaceBytes(), aligned to 64
  };
  void run(const Operands &operands) const;

  const AttentionShape &shapeOf() const { return shape; }

private:
  template <typename T> void runAs(const Operands &operands) const;

  const AttentionShape shape;
  const GradientPlaces places;
  const Kernels &kernels;
  unsigned numThreads;
  bool takesMatrices; // threads take whole ones
  size_t packedBytes, blockBytes;
};

} // namespace tess::runtime::contract
