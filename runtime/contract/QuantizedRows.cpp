//===- QuantizedRows.cpp - a few rows by quantized weights ----------------===//
#include "runtime/contract/QuantizedRows.h"

#include "runtime/contract/ShareParts.h"
#include "runtime/contract/TileCall.h"
#include "runtime/device/Elements.h"

namespace tess::runtime::contract {

namespace {

/// Bytes of weights that a part takes 10 us for, and parts for each thread where there are more, so that one which
/// comes late leaves some to others.
constexpr int64_t kPartBytes = 256 << 10;
constexpr unsigned kPartsPerThread = 8;

/// Rows as float32, with zeros behind them up to `depth`.
template <typename T>
void widenRows(const void *from, int64_t rowStride, int64_t rows, int64_t count, int64_t depth, float *to) {
  for (int64_t r = 0; r < rows; ++r, to += depth) {
    const T *row = static_cast<const T *>(from) + r * rowStride;
    std::transform(row, row + count, to, [](T x) { return widen(x); });
    std::fill(to + count, to + depth, 0.0f);
  }
}

template <typename T> void narrowRow(const float *from, int64_t count, void *to, int64_t at) {
  std::transform(from, from + count, static_cast<T *>(to) + at, [](float x) { return narrow<T>(x); });
}

} // namespace

QuantizedRows::QuantizedRows(DType dtype, int64_t rows, const QuantizedShape &weights, unsigned threads,
                             const Kernels *ofTest)
    : dtype(dtype), numRows(rows), shape(weights), form(weights),
      kernels(ofTest ? *ofTest : Kernels::of(DType::Float32, weights.numbers)), numThreads(threads) {
  const int64_t most = std::min<int64_t>(form.numBlocks(), int64_t(threads) * kPartsPerThread);
  const int64_t least = std::min<int64_t>(form.numBlocks(), threads);
  numParts = threads == 1 ? 1 : unsigned(std::clamp<int64_t>(int64_t(form.bytes()) / kPartBytes, least, most));
}

void QuantizedRows::run(const void *lhs, int64_t rowStride, const void *panels, void *out, void *workspace) const {
  auto *copy = static_cast<float *>(workspace);
  auto *sums = reinterpret_cast<float *>(static_cast<char *>(workspace) + copyBytes());
  const auto widenAs = dtype == DType::BFloat16  ? widenRows<BF16>
                       : dtype == DType::Float16 ? widenRows<F16>
                                                 : widenRows<float>;
  widenAs(lhs, rowStride, numRows, shape.depth, copiedDepth(), copy);
  const Operands operands{copy, static_cast<const char *>(panels), out,
                          dtype == DType::Float32 ? static_cast<float *>(out) : sums};
  shareParts(numThreads, numParts, [&](unsigned part) {
    const int64_t blocks = form.numBlocks();
    for (int64_t block = blocks * part / numParts; block < blocks * (part + 1) / numParts; ++block)
      runBlock(block, operands);
  });
}

void QuantizedRows::runBlock(int64_t block, const Operands &operands) const {
  for (int64_t row = 0; row < numRows; row += kernels.rows())
    runTile(block, row, unsigned(std::min<int64_t>(kernels.rows(), numRows - row)), operands);
  if (dtype != DType::Float32)
    writeResults(block, operands);
}

/// Rows of a tile by a block, chunk after chunk.
void QuantizedRows::runTile(int64_t block, int64_t row, unsigned rows, const Operands &operands) const {
  const int64_t panels = form.panelsOf(block), lineBytes = form.lineBytes(panels), groupBytes = form.groupBytes(panels);
  const int64_t firstColumn = block * QuantizedForm::kBlockPanels * kLanes;
  GroupsCall call;
  call.setStride(GroupsCall::Lhs, GroupsCall::Rows, copiedDepth());
  call.setStride(GroupsCall::Lhs, GroupsCall::Groups, form.groupLines * form.perColumn());
  call.setStride(GroupsCall::Lhs, GroupsCall::Lines, form.perColumn());
  call.setStride(GroupsCall::Rhs, GroupsCall::Columns, kLanes);
  call.setStride(GroupsCall::Rhs, GroupsCall::Groups, groupBytes / form.columnBytes());
  call.setStride(GroupsCall::Rhs, GroupsCall::Lines, panels * kLanes);
  call.setStride(GroupsCall::Scales, GroupsCall::Columns, kLanes);
  call.setStride(GroupsCall::Scales, GroupsCall::Groups, groupBytes / int64_t(sizeof(float)));
  call.setStride(GroupsCall::Out, GroupsCall::Rows, shape.columns);
  call.setStride(GroupsCall::Out, GroupsCall::Columns, kLanes);
  for (int64_t line = 0; line < form.numLines; line += kContractLines) {
    const int64_t left = std::min(kContractLines, form.numLines - line), lines = std::min(form.groupLines, left);
    const char *group = operands.panels + form.blockAt(block) + line / form.groupLines * groupBytes;
    call.setSize(GroupsCall::Groups, left / lines);
    call.setSize(GroupsCall::Lines, lines);
    call.setData(GroupsCall::Lhs, operands.lhs + row * copiedDepth() + line * form.perColumn());
    for (int64_t panel = 0; panel < panels;) {
      const unsigned together = kernels.panelsFor(rows, panels - panel);
      const int64_t column = firstColumn + panel * kLanes;
      call.setSize(GroupsCall::Columns, std::min<int64_t>(together * int64_t(kLanes), shape.columns - column));
      call.setData(GroupsCall::Rhs, group + panel * form.lineBytes(1));
      call.setData(GroupsCall::Scales, group + lines * lineBytes + panel * QuantizedForm::kScaleBytes);
      call.setData(GroupsCall::Out, operands.sums + row * shape.columns + column);
      call.run(kernels.at(rows, together), line / kContractLines);
      panel += together;
    }
  }
}

void QuantizedRows::writeResults(int64_t block, const Operands &operands) const {
  const int64_t first = block * QuantizedForm::kBlockPanels * kLanes;
  const int64_t count = std::min(QuantizedForm::kBlockPanels * int64_t(kLanes), shape.columns - first);
  for (int64_t at = first; at < numRows * shape.columns; at += shape.columns)
    if (dtype == DType::BFloat16)
      narrowRow<BF16>(operands.sums + at, count, operands.out, at);
    else
      narrowRow<F16>(operands.sums + at, count, operands.out, at);
}

} // namespace tess::runtime::contract
