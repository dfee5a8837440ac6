//===- ProductBlock.cpp - a part of one matrix ----------------------------===//
#include "runtime/contract/ProductBlock.h"

#include "runtime/device/Elements.h"

#include <algorithm>
#include <immintrin.h>
#include <optional>

namespace tess::runtime::contract {

namespace {

/// Numbers below the normal ones are zeros while it lives: AVX512_BF16 knows no others, so no level does.
class FlushesSubnormals {
public:
  FlushesSubnormals() : before(_mm_getcsr()) { _mm_setcsr(before | kDazAndFtz); }
  ~FlushesSubnormals() { _mm_setcsr(before); }
  FlushesSubnormals(const FlushesSubnormals &) = delete;

private:
  static constexpr unsigned kDazAndFtz = 0x8040;
  const unsigned before;
};

/// `pointers` and `dims` of a kernel that contracts.
class TileCall {
public:
  enum Operand : unsigned { Lhs, Rhs, Out };
  enum Group : unsigned { Rows, Columns, Lines };

  void setSize(Group group, int64_t size) { dims[kDims.size(group)] = size; }
  void setStride(Operand operand, Group group, int64_t stride) { dims[kDims.stride(operand, group)] = stride; }
  void setData(Operand operand, const void *data) { pointers[operand] = const_cast<void *>(data); }
  TESS_CALLS_KERNELS void run(KernelFn kernel, int64_t chunk) const { kernel(pointers, dims, nullptr, chunk, 0, 0, 0); }

private:
  static constexpr KernelDims kDims{3, 3};
  void *pointers[3] = {};
  int64_t dims[kDims.count(0)] = {};
};

template <typename T, typename Sum> void writeRow(const Sum *from, int64_t count, char *to) {
  std::transform(from, from + count, reinterpret_cast<T *>(to), [](Sum x) { return narrow<T>(float(x)); });
}

template <typename Sum> void writeRow(DType dtype, const Sum *from, int64_t count, char *to) {
  dtype == DType::BFloat16  ? writeRow<BF16>(from, count, to)
  : dtype == DType::Float16 ? writeRow<F16>(from, count, to)
                            : writeRow<float>(from, count, to);
}

class BlockWalk {
public:
  BlockWalk(const ProductShape &shape, const ProductPlan &plan, const Kernels &kernels, const ProductBlock &block)
      : shape(shape), plan(plan), kernels(kernels), block(block), width(byteWidth(shape.dtype)),
        sumBytes(int64_t(plan.form.wordBytes())), copied(block.memory), packed(block.memory + plan.linesAt),
        sums(block.memory + plan.sumsAt), totals(reinterpret_cast<double *>(block.memory + plan.totalsAt)) {}

  void run() {
    for (int64_t panel = block.firstPanel; panel < block.lastPanel; panel += plan.blockPanels)
      for (int64_t tile = block.firstTile; tile < block.lastTile; tile += plan.blockTiles)
        runBlock(tile, std::min(tile + plan.blockTiles, block.lastTile), panel,
                 std::min(panel + plan.blockPanels, block.lastPanel));
  }

private:
  void runBlock(int64_t firstTile, int64_t lastTile, int64_t panel, int64_t lastPanel) {
    firstPanel = panel;
    const int64_t firstRow = plan.firstRow(firstTile), column = panel * kLanes;
    const int64_t rows = plan.firstRow(lastTile) - firstRow;
    const int64_t columns = std::min(lastPanel * int64_t(kLanes), shape.columns) - column;
    char *results = block.out + (firstRow * shape.columns + column) * width;
    out = plan.sumsApart ? sums : results;
    outStride = plan.sumsApart ? plan.blockPanels * kLanes : shape.columns;
    call.setStride(TileCall::Out, TileCall::Rows, outStride);
    for (int64_t line = 0; line < plan.numLines; line += kContractLines) {
      setLines(line);
      for (int64_t tile = firstTile; tile < lastTile; ++tile)
        runTile(tile, plan.firstRow(tile) - firstRow, lastPanel);
      if (plan.isDeep)
        addTotals(rows, columns, line == 0);
    }
    if (plan.sumsApart)
      writeResults(rows, columns, results);
  }

  /// Enters a chunk of lines.
  void setLines(int64_t line) {
    chunk = plan.isDeep ? 0 : line / kContractLines;
    firstLine = line;
    call.setSize(TileCall::Lines, std::min(kContractLines, plan.numLines - line));
  }

  /// A tile `row` rows behind the block's first, for the lines of the chunk.
  void runTile(int64_t tile, int64_t row, int64_t lastPanel) {
    const unsigned rows = unsigned(plan.firstRow(tile + 1) - plan.firstRow(tile));
    setLhs(plan.firstRow(tile), rows);
    for (int64_t panel = firstPanel; panel < lastPanel;) {
      const unsigned panels = kernels.panelsFor(rows, setRhs(panel, lastPanel));
      const int64_t columns = std::min<int64_t>(panels * int64_t(kLanes), shape.columns - panel * kLanes);
      call.setSize(TileCall::Columns, columns);
      call.setData(TileCall::Out, out + (row * outStride + (panel - firstPanel) * kLanes) * sumBytes);
      call.run(kernels.at(rows, panels), chunk);
      panel += panels;
    }
  }

  // Strides along lines count words, of two elements of bfloat16; others count elements.
  void setLhs(int64_t row, unsigned rows) {
    const int64_t perColumn = plan.form.perColumn, begin = firstLine * perColumn;
    Matrix lhs = block.lhs;
    lhs.data = static_cast<const char *>(lhs.data) + row * lhs.rowStride * width;
    RowStrides strides{lhs.rowStride, lhs.columnStride};
    if (plan.copiesRows) {
      strides =
          packRows(plan.form, lhs, rows, begin, std::min(begin + kContractLines * perColumn, shape.depth), copied);
      strides.row *= perColumn;
      lhs.data = copied;
    } else {
      lhs.data = static_cast<const char *>(lhs.data) + begin * lhs.columnStride * width;
    }
    call.setData(TileCall::Lhs, lhs.data);
    call.setStride(TileCall::Lhs, TileCall::Rows, strides.row);
    call.setStride(TileCall::Lhs, TileCall::Lines, strides.line);
  }

  /// Panels of `lines` lines each.
  void setPanels(const char *data, int64_t lines) {
    call.setData(TileCall::Rhs, data);
    call.setStride(TileCall::Rhs, TileCall::Columns, lines * kLanes * plan.form.perColumn);
    call.setStride(TileCall::Rhs, TileCall::Lines, kLanes);
  }

  /// Gives the number of panels that lie as this one does, up to `last`.
  int64_t setRhs(int64_t panel, int64_t last) {
    const bool isPartial = !plan.needsPanels && shape.columns % kLanes && panel + 1 == plan.numPanels;
    if (plan.needsPanels || isPartial)
      return plan.packsLines ? packLines(panel, last) : setPacked(panel, last);
    call.setData(TileCall::Rhs,
                 static_cast<const char *>(block.rhs.data) + (firstLine * shape.rhsRow + panel * kLanes) * width);
    call.setStride(TileCall::Rhs, TileCall::Columns, kLanes);
    call.setStride(TileCall::Rhs, TileCall::Lines, shape.rhsRow);
    return (shape.columns % kLanes ? std::min(last, plan.numPanels - 1) : last) - panel;
  }

  int64_t setPacked(int64_t panel, int64_t last) {
    const int64_t slot = plan.needsPanels ? panel : 0;
    setPanels(block.panels + slot * int64_t(plan.panelBytes) + firstLine * int64_t(plan.form.lineBytes()),
              plan.numLines);
    return last - panel;
  }

  int64_t packLines(int64_t panel, int64_t last) {
    const int64_t perColumn = plan.form.perColumn, begin = firstLine * perColumn;
    const int64_t end = std::min(begin + kContractLines * perColumn, shape.depth);
    const int64_t count = std::min<int64_t>(last - panel, kernels.panels());
    packPanels(plan.form, block.rhs, begin, end, shape.columns, panel, panel + count, packed);
    setPanels(packed, plan.form.lines(end - begin));
    return count;
  }

  /// Adds the sums of a chunk to the totals, which begin with the first one's.
  void addTotals(int64_t rows, int64_t columns, bool isFirst) {
    for (int64_t row = 0; row < rows; ++row) {
      const float *from = reinterpret_cast<const float *>(sums) + row * outStride;
      double *to = totals + row * outStride;
      for (int64_t column = 0; column < columns; ++column)
        to[column] = isFirst ? from[column] : to[column] + from[column];
    }
  }

  void writeResults(int64_t rows, int64_t columns, char *to) const {
    for (int64_t row = 0; row < rows; ++row, to += shape.columns * width)
      if (plan.isDeep)
        writeRow(shape.dtype, totals + row * outStride, columns, to);
      else
        writeRow(shape.dtype, reinterpret_cast<const float *>(sums) + row * outStride, columns, to);
  }

  const ProductShape &shape;
  const ProductPlan &plan;
  const Kernels &kernels;
  const ProductBlock &block;
  const int64_t width, sumBytes;
  // The block's memory: rows of the left operand, panels of the right one, and sums that are wider than results.
  char *const copied, *const packed, *const sums;
  double *const totals;
  TileCall call;
  char *out = nullptr; // of the block that is computed
  int64_t outStride = 0, firstPanel = 0, firstLine = 0, chunk = 0;
};

} // namespace

void computeBlock(const ProductShape &shape, const ProductPlan &plan, const Kernels &kernels,
                  const ProductBlock &block) {
  std::optional<FlushesSubnormals> flushes;
  if (plan.form.ofKernel == DType::BFloat16)
    flushes.emplace();
  BlockWalk(shape, plan, kernels, block).run();
}

} // namespace tess::runtime::contract
