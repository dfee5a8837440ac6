//===- ProductBlock.cpp - a part of one matrix ----------------------------===//
#include "runtime/contract/ProductBlock.h"

#include "runtime/contract/TileCall.h"
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

class BlockWalk {
public:
  BlockWalk(const ProductShape &shape, const ProductPlan &plan, const Kernels &kernels, const ProductBlock &block)
      : shape(shape), plan(plan), kernels(kernels), block(block), width(byteWidth(shape.right())),
        lhsWidth(byteWidth(plan.copiesWeight ? plan.form.ofKernel : shape.dtype)), result(shape.result()),
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
    const ResultForm &results = plan.results;
    const int64_t rowStride = plan.gathersPanels ? results.columnStride : results.rowStride();
    outStride = plan.sumsApart ? plan.sumStride : rowStride;
    panelStride = plan.sumsApart || plan.gathersPanels ? int64_t(kLanes) : results.panelStride;
    const int64_t panelsApart = plan.gathersPanels ? int64_t(kLanes) : results.panelStride;
    out = plan.sumsApart ? sums : block.out + (firstRow * rowStride + panel * panelsApart) * byteWidth(result);
    call.setStride(TileCall::Out, TileCall::Rows, outStride);
    call.setStride(TileCall::Out, TileCall::Columns, panelStride);
    for (int64_t number = 0; number * plan.chunkLines < plan.numLines; ++number) {
      setLines(number);
      if (plan.fillsBlocks)
        fillPanels(panel, lastPanel);
      for (int64_t tile = firstTile; tile < lastTile; ++tile)
        runTile(tile, plan.firstRow(tile) - firstRow, lastPanel);
      if (plan.isDeep)
        addTotals(rows, columns, number == 0);
    }
    if (shape.added == Added::TheSum && !plan.addsChunks)
      addSums(firstRow, rows, column, columns);
    else if (plan.isDeep)
      writeSums(totals, firstRow, rows, column, columns);
    else if (plan.sumsApart && plan.form.ofKernel == DType::Float64)
      writeSums(reinterpret_cast<const double *>(sums), firstRow, rows, column, columns);
    else if (plan.sumsApart)
      writeSums(reinterpret_cast<const float *>(sums), firstRow, rows, column, columns);
  }

  /// Enters a chunk of lines, the `number`-th one that is added.
  void setLines(int64_t number) {
    chunk = plan.isDeep ? 0 : number + plan.addsChunks;
    firstLine = (shape.lastFirst ? (plan.numLines - 1) / plan.chunkLines - number : number) * plan.chunkLines;
    call.setSize(TileCall::Lines, std::min(plan.chunkLines, plan.numLines - firstLine));
    if (shape.windows && shape.windowUse == WindowUse::Columns)
      setRuns(firstLine * plan.form.perColumn, endOfChunk());
  }

  /// Fills panels of the block with the lines of the chunk.
  void fillPanels(int64_t first, int64_t last) {
    const int64_t begin = firstLine * plan.form.perColumn;
    if (plan.gathersPanels)
      plan.images->gather(block.panels, begin, endOfChunk(), first, last, packed);
    else
      packPanels(plan.form, block.rhs, begin, endOfChunk(), shape.columns, first, last, packed);
  }

  /// Finds windows [begin, end).
  void setRuns(int64_t begin, int64_t end) {
    runs = plan.images ? plan.images->runsOf(begin, end - begin) : runsOf(*shape.windows, begin, end - begin);
  }

  /// The element along the contracted axis that ends the chunk.
  int64_t endOfChunk() const { return std::min((firstLine + plan.chunkLines) * plan.form.perColumn, shape.depth); }

  /// A tile `row` rows behind the block's first, for the lines of the chunk.
  void runTile(int64_t tile, int64_t row, int64_t lastPanel) {
    const unsigned rows = unsigned(plan.firstRow(tile + 1) - plan.firstRow(tile));
    setLhs(plan.firstRow(tile), rows);
    for (int64_t panel = firstPanel; panel < lastPanel;) {
      const unsigned panels = kernels.panelsFor(rows, setRhs(panel, lastPanel));
      const int64_t columns = std::min<int64_t>(panels * int64_t(kLanes), shape.columns - panel * kLanes);
      call.setSize(TileCall::Columns, columns);
      call.setData(TileCall::Out, out + (row * outStride + (panel - firstPanel) * panelStride) * sumBytes);
      call.run(kernels.at(rows, panels), chunk);
      panel += panels;
    }
  }

  // Strides along lines count words, of two elements of bfloat16 or four of 8 bits; others count elements.
  void setLhs(int64_t row, unsigned rows) {
    const int64_t perColumn = plan.form.perColumn, begin = firstLine * perColumn;
    RowStrides strides{block.lhs.rowStride, block.lhs.columnStride};
    if (plan.copiesRows) {
      strides = copyRows(row, rows, begin, endOfChunk());
      strides.row *= perColumn;
      call.setData(TileCall::Lhs, copied);
    } else {
      call.setData(TileCall::Lhs, lhsAt(row, begin));
    }
    call.setStride(TileCall::Lhs, TileCall::Rows, strides.row);
    call.setStride(TileCall::Lhs, TileCall::Lines, strides.line);
  }

  const char *lhsAt(int64_t row, int64_t column) const {
    return static_cast<const char *>(block.lhs.data) +
           (row * block.lhs.rowStride + column * block.lhs.columnStride) * lhsWidth;
  }

  /// Copies elements [begin, end) of rows of the left operand.
  RowStrides copyRows(int64_t row, unsigned rows, int64_t begin, int64_t end) {
    if (!shape.windows)
      return packRows(plan.leftForm, {lhsAt(row, 0), block.lhs.rowStride, block.lhs.columnStride}, rows, begin, end,
                      copied);
    if (plan.images)
      return plan.images->gatherColumns(static_cast<const char *>(block.lhs.data), runs, row, rows, copied);
    if (shape.windowUse == WindowUse::Columns)
      return gatherColumns(plan.form, *shape.windows, runs, block.lhs.data, row, rows, copied);
    return gatherRows(plan.form, *shape.windows, block.lhs.data, row, rows, begin, end, copied);
  }

  /// Panels of `lines` lines each.
  void setPanels(const char *data, int64_t lines) {
    call.setData(TileCall::Rhs, data);
    call.setStride(TileCall::Rhs, TileCall::Columns, lines * kLanes * plan.form.perColumn);
    call.setStride(TileCall::Rhs, TileCall::Lines, kLanes);
  }

  /// Gives the number of panels that lie as this one does, up to `last`.
  int64_t setRhs(int64_t panel, int64_t last) {
    if (plan.fillsBlocks) {
      const int64_t lines = std::min(plan.chunkLines, plan.numLines - firstLine);
      setPanels(packed + (panel - firstPanel) * lines * int64_t(plan.form.lineBytes()), lines);
      return last - panel;
    }
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
    setPanels(block.panels + slot * int64_t(plan.panelBytes) +
                  plan.form.placeOf(firstLine) * int64_t(plan.form.lineBytes()),
              plan.form.panelLines(shape.depth));
    return last - panel;
  }

  int64_t packLines(int64_t panel, int64_t last) {
    const int64_t begin = firstLine * plan.form.perColumn, end = endOfChunk();
    const int64_t count = std::min<int64_t>(last - panel, kernels.panels());
    packPanels(plan.form, block.rhs, begin, end, shape.columns, panel, panel + count, packed);
    setPanels(packed, plan.form.panelLines(end - begin));
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

  template <typename Sum>
  void writeSums(const Sum *from, int64_t firstRow, int64_t rows, int64_t firstColumn, int64_t columns) const {
    if (plan.gathersPanels)
      writeResults(plan.results, result, {from, 1, outStride, firstColumn, columns, firstRow, rows}, block.out);
    else
      writeResults(plan.results, result, {from, outStride, 1, firstRow, rows, firstColumn, columns}, block.out);
  }

  /// Adds the sums of all chunks to row-major results.
  void addSums(int64_t firstRow, int64_t rows, int64_t firstColumn, int64_t columns) const {
    const bool isDouble = result == DType::Float64;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t from = row * outStride, at = (firstRow + row) * shape.columns + firstColumn;
      if (isDouble)
        addRow(reinterpret_cast<const double *>(sums) + from, columns, reinterpret_cast<double *>(block.out) + at);
      else if (plan.isDeep)
        addRow(totals + from, columns, reinterpret_cast<float *>(block.out) + at);
      else
        addRow(reinterpret_cast<const float *>(sums) + from, columns, reinterpret_cast<float *>(block.out) + at);
    }
  }

  template <typename Sum, typename T> static void addRow(const Sum *from, int64_t columns, T *to) {
    for (int64_t column = 0; column < columns; ++column)
      to[column] += T(from[column]);
  }

  const ProductShape &shape;
  const ProductPlan &plan;
  const Kernels &kernels;
  const ProductBlock &block;
  const int64_t width, lhsWidth; // of an element
  const DType result;
  const int64_t sumBytes;
  // The block's memory: rows of the left operand, panels of the right one, and sums that are wider than results.
  char *const copied, *const packed, *const sums;
  double *const totals;
  TileCall call;
  WindowRuns runs;     // of the chunk, where windows are columns
  char *out = nullptr; // of the block that is computed
  int64_t outStride = 0, panelStride = 0, firstPanel = 0, firstLine = 0, chunk = 0;
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
