//===- TileProduct.h - products of operands in the caches -------*- C++ -*-===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/TileCall.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

struct TileSizes {
  int64_t rows, columns, lines;
};
/// Strides of a product in the caches, in elements: of rows and lines of the left operand, of panels and lines of the
/// right one, and from row to row of sums.
struct TileStrides {
  int64_t row, line, panel, panelLine, sumRow;
};

/// A product by tiles: each sum goes in chunks of kContractLines, from zero. Used by one thread.
template <typename Sum> class TileProduct {
public:
  TileProduct(const Kernels &kernels, const TileSizes &sizes, const TileStrides &strides)
      : kernels(kernels), sizes(sizes), strides(strides),
        tiles(int64_t(llvm::divideCeil(sizes.rows, int64_t(kernels.rows())))),
        numPanels(int64_t(llvm::divideCeil(sizes.columns, kWidth))) {
    call.setStride(TileCall::Lhs, TileCall::Rows, strides.row);
    call.setStride(TileCall::Lhs, TileCall::Lines, strides.line);
    call.setStride(TileCall::Rhs, TileCall::Columns, strides.panel);
    call.setStride(TileCall::Rhs, TileCall::Lines, strides.panelLine);
    call.setStride(TileCall::Out, TileCall::Rows, strides.sumRow);
    call.setStride(TileCall::Out, TileCall::Columns, kWidth);
  }

  /// Computes it; `adds`: to what is there.
  void run(const Sum *lhs, const Sum *rhs, Sum *out, bool adds) {
    if (sizes.lines == 0 && !adds)
      for (int64_t row = 0; row < sizes.rows; ++row)
        std::fill_n(out + row * strides.sumRow, sizes.columns, Sum(0));
    for (int64_t line = 0; line < sizes.lines; line += kContractLines) {
      call.setSize(TileCall::Lines, std::min(kContractLines, sizes.lines - line));
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t row = sizes.rows * tile / tiles, rows = sizes.rows * (tile + 1) / tiles - row;
        call.setData(TileCall::Lhs, lhs + row * strides.row + line * strides.line);
        for (int64_t panel = 0, panels = 0; panel < numPanels; panel += panels) {
          panels = kernels.panelsFor(unsigned(rows), numPanels - panel);
          call.setSize(TileCall::Columns, std::min(panels * kWidth, sizes.columns - panel * kWidth));
          call.setData(TileCall::Rhs, rhs + panel * strides.panel + line * strides.panelLine);
          call.setData(TileCall::Out, out + row * strides.sumRow + panel * kWidth);
          call.run(kernels.at(unsigned(rows), unsigned(panels)), line || adds);
        }
      }
    }
  }

private:
  static constexpr int64_t kWidth = kLanes;

  const Kernels &kernels;
  const TileSizes sizes;
  const TileStrides strides;
  const int64_t tiles, numPanels;
  TileCall call;
};

} // namespace tess::runtime::contract
