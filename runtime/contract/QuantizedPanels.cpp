//===- QuantizedPanels.cpp - quantized weights as kernels read them -------===//
#include "runtime/contract/QuantizedPanels.h"

#include "ops/vocabulary/Error.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

llvm::Error QuantizedShape::check() const {
  if (depth < 1 || columns < 1)
    return invalidArgument("quantized weights: there must be depth and columns, got " + llvm::Twine(depth) + " and " +
                           llvm::Twine(columns));
  if (group && (group < 8 || group > kContractLines || !llvm::isPowerOf2_64(uint64_t(group))))
    return invalidArgument("quantized weights: group must be 0 or a power of 2 from 8 to " +
                           llvm::Twine(kContractLines) + ", got " + llvm::Twine(group));
  return llvm::Error::success();
}

QuantizedForm::QuantizedForm(const QuantizedShape &shape)
    : isNibbles(shape.numbers == TileLines::Nibbles), numPanels(llvm::divideCeil(shape.columns, int64_t(kLanes))),
      numLines(llvm::divideCeil(shape.depth, perColumn())),
      groupLines(shape.group ? shape.group / perColumn() : kContractLines),
      numGroups(llvm::divideCeil(numLines, groupLines)) {
  if (shape.group)
    numLines = numGroups * groupLines;
}

namespace {

class WeightPacker {
public:
  WeightPacker(const QuantizedShape &shape, const QuantizedWeights &weights)
      : shape(shape), weights(weights), form(shape) {}

  void run(char *to) const {
    for (int64_t block = 0; block < form.numBlocks(); ++block) {
      char *at = to + form.blockAt(block);
      for (int64_t group = 0; group < form.numGroups; ++group)
        at = packGroup(block, group, at);
    }
  }

private:
  /// Gives the end of the group.
  char *packGroup(int64_t block, int64_t group, char *at) const {
    const int64_t first = group * form.groupLines, last = std::min(first + form.groupLines, form.numLines);
    const int64_t panels = form.panelsOf(block), column = block * QuantizedForm::kBlockPanels * kLanes;
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t line = first; line < last; ++line)
        packLine(line, column + panel * kLanes,
                 at + (line - first) * form.lineBytes(panels) + panel * form.lineBytes(1));
    at += (last - first) * form.lineBytes(panels);
    for (int64_t panel = 0; panel < panels; ++panel)
      packScales(group, column + panel * kLanes, reinterpret_cast<float *>(at) + panel * kLanes);
    return at + panels * QuantizedForm::kScaleBytes;
  }

  int64_t columnsFrom(int64_t column) const { return std::min<int64_t>(kLanes, shape.columns - column); }

  void packLine(int64_t line, int64_t column, char *to) const {
    if (form.isNibbles)
      return packNibbles(line, column, reinterpret_cast<uint32_t *>(to));
    const auto *from = static_cast<const char *>(weights.numbers.data) + line * weights.numbers.rowStride;
    std::fill(to, to + kLanes, 0);
    for (int64_t c = 0; line < shape.depth && c < columnsFrom(column); ++c)
      to[c] = from[(column + c) * weights.numbers.columnStride];
  }

  void packNibbles(int64_t line, int64_t column, uint32_t *to) const {
    constexpr int64_t kPerWord = 4;
    const int64_t bytes = llvm::divideCeil(shape.depth, 2), begin = line * kPerWord;
    std::fill(to, to + kLanes, 0);
    if (begin < bytes)
      packByteLines({weights.numbers.data, weights.numbers.rowStride, weights.numbers.columnStride}, begin,
                    std::min(begin + kPerWord, bytes), column, columnsFrom(column), to);
    const int64_t left = shape.depth - line * form.perColumn();
    if (left == 1 || left == 3 || left == 5 || left == 7) // the upper half of the last byte is no number
      std::for_each(to, to + kLanes, [&](uint32_t &word) { word &= (uint32_t(1) << left * 4) - 1; });
  }

  void packScales(int64_t group, int64_t column, float *to) const {
    const auto *from =
        static_cast<const float *>(weights.scales.data) + (shape.group ? group * weights.scales.rowStride : 0);
    std::fill(to, to + kLanes, 0.0f);
    for (int64_t c = 0; c < columnsFrom(column); ++c)
      to[c] = from[(column + c) * weights.scales.columnStride];
  }

  const QuantizedShape &shape;
  const QuantizedWeights &weights;
  const QuantizedForm form;
};

} // namespace

void packWeights(const QuantizedShape &shape, const QuantizedWeights &weights, char *to) {
  WeightPacker(shape, weights).run(to);
}

} // namespace tess::runtime::contract
