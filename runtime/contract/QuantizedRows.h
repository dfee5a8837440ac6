//===- QuantizedRows.h - rows by quantized weights --------------*- C++ -*-===//
//
// The order of sums: a group's sum is one chain of float32 multiply-adds from
// zero, of rows' elements by weights as float32, in the order of the contracted
// axis. Groups of a chunk of kContractLines lines (256 weights of 8 bits, 2048 of
// 4) are added in their order by one multiply-add each, group's sum * scale +
// total, from zero; chunks are added in their order. Where one scale is of all,
// each chunk is a group. A bias is added last. Rows of bfloat16 and float16 are
// widened, and their results rounded once. So a row's bits depend on the operator,
// dtypes, depth and group alone: not on other rows, threads, levels or packing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/QuantizedPanels.h"

namespace tess::runtime::contract {

/// Products of rows (rows, depth) of floats by quantized weights.
struct QuantizedProduct {
  DType dtype; // of rows, bias and results: float32, bfloat16 or float16
  int64_t rows;
  QuantizedShape weights;
  bool hasPanels = false, hasScalePanels = false; // numbers and scales were packed before
};

/// Operands; rows lie behind each other. Numbers and scales: as packNumbers() and packScales() read them, or wrote
/// them. Bias: an element for each column, or null.
struct QuantizedOperands {
  const void *rows, *numbers, *scales, *bias;
};

/// Such products. Immutable.
class QuantizedRows {
public:
  /// There is a row at least, and weights.check() holds. `kernels`: those of another level, for tests; null: of this
  /// machine's.
  QuantizedRows(const QuantizedProduct &product, unsigned threads, const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return std::min(numThreads, numParts()); }
  size_t workspaceBytes() const { return rowBytes() + sumBytes() + scaleBytes() + threads() * chunkBytes(); }
  /// `workspace`: of workspaceBytes(), aligned to 64.
  void run(const QuantizedOperands &operands, void *out, void *workspace) const;

private:
  struct Places {
    const float *rows, *scales;
    const char *numbers;
    const void *bias;
    void *out;    // results
    float *sums;  // float32 results, or where they are kept
    char *chunks; // where threads pack numbers
  };
  struct Rows {
    int64_t begin, end;
  };
  /// A chunk of a block.
  struct Chunk {
    int64_t block, line, lines;
    const char *numbers;
  };

  unsigned numParts() const { return unsigned(blockParts * rowParts); }
  static size_t aligned(size_t bytes) { return llvm::alignTo(bytes, 64); }
  bool isWidened() const { return product.dtype != DType::Float32; }
  int64_t widenedDepth() const { return form.numLines * form.perColumn(); }
  bool copiesRows() const { return isWidened() || widenedDepth() != product.weights.depth; }
  size_t rowBytes() const { return copiesRows() ? aligned(size_t(product.rows * widenedDepth()) * sizeof(float)) : 0; }
  size_t sumBytes() const {
    return isWidened() ? aligned(size_t(product.rows * product.weights.columns) * sizeof(float)) : 0;
  }
  size_t scaleBytes() const { return product.hasScalePanels ? 0 : form.numScales() * sizeof(float); }
  size_t chunkBytes() const {
    return product.hasPanels ? 0 : size_t(kContractLines * form.lineBytes(QuantizedForm::kBlockPanels));
  }
  void copyRows(const void *rows, float *to) const;
  void runBlock(int64_t block, Rows range, unsigned thread, const Places &places) const;
  void runTile(const Chunk &chunk, int64_t row, unsigned rows, const Places &places) const;
  void finishBlock(int64_t block, Rows range, const Places &places) const;

  const QuantizedProduct product;
  const QuantizedForm form;
  const Kernels &kernels;
  const unsigned numThreads;
  int64_t blockParts, rowParts; // a part is of some blocks, and of some rows
};

} // namespace tess::runtime::contract
