//===- QuantizedRows.h - a few rows by quantized weights --------*- C++ -*-===//
//
// The order of sums: a group's sum is one chain of float32 multiply-adds from
// zero, of rows' elements by weights as float32, in the order of the contracted
// axis. Groups of a chunk of kContractLines lines (256 weights of 8 bits, 2048 of
// 4) are added in their order by one multiply-add each, group's sum * scale +
// total, from zero; chunks are added in their order. Where one scale is of all,
// each chunk is a group. Rows of bfloat16 and float16 are widened, and their
// results rounded once. So the bits depend on the operator, dtypes and sizes
// alone.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/QuantizedPanels.h"

namespace tess::runtime::contract {

/// Products of rows (rows, depth) of floats by weights that were packed before. Immutable.
class QuantizedRows {
public:
  /// `dtype`: of rows and results, float32, bfloat16 or float16. There is a row at least, and weights.check() holds.
  /// `kernels`: those of another level, for tests; null: of this machine's.
  QuantizedRows(DType dtype, int64_t rows, const QuantizedShape &weights, unsigned threads,
                const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return std::min(numThreads, numParts); }
  size_t workspaceBytes() const { return copyBytes() + sumBytes(); }
  /// Rows lie `rowStride` elements apart, their elements behind each other, as do results. `panels`: what packWeights()
  /// wrote. `workspace`: of workspaceBytes(), aligned to 64.
  void run(const void *lhs, int64_t rowStride, const void *panels, void *out, void *workspace) const;

private:
  struct Operands {
    const float *lhs;
    const char *panels;
    void *out;   // results
    float *sums; // float32 results, or where they are kept
  };

  int64_t copiedDepth() const { return form.numLines * form.perColumn(); }
  size_t copyBytes() const { return llvm::alignTo(size_t(numRows * copiedDepth()) * sizeof(float), 64); }
  size_t sumBytes() const { return dtype == DType::Float32 ? 0 : size_t(numRows * shape.columns) * sizeof(float); }
  void runBlock(int64_t block, const Operands &operands) const;
  void runTile(int64_t block, int64_t row, unsigned rows, const Operands &operands) const;
  void writeResults(int64_t block, const Operands &operands) const;

  const DType dtype;
  const int64_t numRows;
  const QuantizedShape shape;
  const QuantizedForm form;
  const Kernels &kernels;
  const unsigned numThreads;
  unsigned numParts;
};

} // namespace tess::runtime::contract
