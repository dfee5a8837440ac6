//===- Attention.h - attention without its matrix ---------------*- C++ -*-===//
//
// Queries in blocks of at most 28 rows of nearly equal height go by keys in blocks
// of kContractLines: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re: FlashAttention,
// arXiv:2205.14135. Scores of a block stay in the first caches. Results so far are
// multiplied by a factor where a block has a larger score. Blocks are of the
// operator's sizes alone, so threads, levels and batches decide no bit.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/AttentionShape.h"
#include "runtime/contract/Kernels.h"

namespace tess::runtime::contract {

/// Attention for a shape whose queries, keys, depth and width are not 0. Immutable: any number of threads may run it.
class Attention {
public:
  /// `kernels`: those of another level, for tests; null: of this machine's.
  Attention(const AttentionShape &shape, unsigned threads, const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return numThreads; }
  size_t workspaceBytes() const;

  /// Arguments of run(): row-major, matrices of results behind each other.
  struct Operands {
    const void *query, *key, *value, *mask;
    void *out, *logsumexp; // logsumexp of the dtype of sums
    void *workspace;       // of workspaceBytes(), aligned to 64
  };
  void run(const Operands &operands) const;

  const AttentionShape &shapeOf() const { return shape; }

private:
  template <typename T> void runAs(const Operands &operands) const;
  template <typename T> void pack(int64_t matrix, const Operands &operands, void *to) const;

  const AttentionShape shape;
  const Kernels &kernels;
  const int64_t numBlocks;
  unsigned numThreads;
  int64_t blocksPerUnit, unitsPerMatrix; // units are what threads take; one of a whole matrix packs its keys
  size_t panelBytes, blockBytes;
};

} // namespace tess::runtime::contract
