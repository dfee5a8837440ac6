//===- QuantizedRows.h - rows by quantized weights --------------*- C++ -*-===//
//
// The order of sums: a group's sum is one chain of float32 multiply-adds from
// zero, of rows' elements by weights as float32, in the order of the contracted
// axis. Groups of a chunk of kContractLines lines (256 weights of 8 bits, 2048 of
// 4) are added in their order by one multiply-add each, group's sum * scale +
// total, from zero; chunks are added in their order. Where one scale is of all,
// each chunk is a group. A bias is added last. Rows of bfloat16 and float16 are
// widened, and their results rounded once. Rows that become int8 (ByteRows.h) have
// exact sums of groups, below 2^24, and their totals are multiplied by the scale of
// the row before a bias is added: all else is that of floats. So a row's bits depend
// on the operator, dtypes, depth and group alone: not on other rows, threads, levels
// or packing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteRows.h"
#include "runtime/contract/Kernels.h"
#include "runtime/contract/QuantizedPanels.h"

namespace tess::runtime::contract {

/// Products of rows (rows, depth) of floats by quantized weights. They become int8 where `weights.rows` says so.
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
  size_t workspaceBytes() const {
    return rowBytes() + rowScaleBytes() + sumBytes() + scaleBytes() + threads() * chunkBytes();
  }
  /// `workspace`: of workspaceBytes(), aligned to 64.
  void run(const QuantizedOperands &operands, void *out, void *workspace) const;

private:
  struct Places {
    const char *rows;
    const float *rowScales; // null: rows are floats
    const float *scales;
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
  bool copiesRows() const { return form.byBytes || isWidened() || widenedDepth() != product.weights.depth; }
  /// Bytes from row to row, and before a line of one.
  int64_t rowStride() const { return form.byBytes ? byteRows.rowBytes() : widenedDepth() * int64_t(sizeof(float)); }
  int64_t bytesBefore(int64_t line) const {
    return form.byBytes ? byteRows.bytesBefore(line) : line * form.perColumn() * int64_t(sizeof(float));
  }
  size_t rowBytes() const { return copiesRows() ? aligned(size_t(product.rows * rowStride())) : 0; }
  size_t rowScaleBytes() const { return form.byBytes ? aligned(size_t(product.rows) * sizeof(float)) : 0; }
  size_t sumBytes() const {
    return isWidened() ? aligned(size_t(product.rows * product.weights.columns) * sizeof(float)) : 0;
  }
  size_t scaleBytes() const { return product.hasScalePanels ? 0 : form.numScales() * sizeof(float); }
  size_t chunkBytes() const {
    return product.hasPanels ? 0 : aligned(size_t(form.chunkLines * form.lineBytes(form.blockPanels())));
  }
  void copyRows(const void *rows, char *to, float *scales) const;
  void runBlock(int64_t block, Rows range, unsigned thread, const Places &places) const;
  void runTile(const Chunk &chunk, int64_t row, unsigned rows, const Places &places) const;
  void finishBlock(int64_t block, Rows range, const Places &places) const;

  const QuantizedProduct product;
  const QuantizedForm form;
  const ByteRowForm byteRows{form};
  const Kernels &kernels;
  const unsigned numThreads;
  int64_t blockParts, rowParts; // a part is of some blocks, and of some rows
};

} // namespace tess::runtime::contract
