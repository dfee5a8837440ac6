//===- QuantizedPanels.cpp - quantized weights as kernels read them -------===//
#include "runtime/contract/QuantizedPanels.h"

#include "ops/vocabulary/Error.h"
#include "runtime/contract/Transpose.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
    : isNibbles(shape.numbers == TileLines::Nibbles), byBytes(shape.rows == DType::Int8),
      numPanels(llvm::divideCeil(shape.columns, int64_t(kLanes))), numLines(llvm::divideCeil(shape.depth, perColumn())),
      chunkLines(isNibbles ? kContractLines : kContractLines / perColumn()),
      groupLines(shape.group ? shape.group / perColumn() : chunkLines),
      scaleLines(shape.group ? llvm::divideCeil(numLines, groupLines) : 1) {
  if (shape.group)
    numLines = scaleLines * groupLines;
}

namespace {

constexpr int64_t kWidth = kLanes, kPerWord = 4;
/// Lines of words that are copied at a time.
constexpr int64_t kSomeLines = 16;

using Bytes = uint8_t __attribute__((vector_size(16)));
using FourWords = uint32_t __attribute__((vector_size(16)));

/// Writes a line of words, four bytes of each column, as up to four lines of bytes.
void splitLine(const uint32_t *words, int64_t lines, char *to, int64_t lineBytes) {
  FourWords of[4]; // columns, with their first bytes in the first word
  for (int64_t i = 0; i < 4; ++i) {
    Bytes bytes;
    std::memcpy(&bytes, words + i * 4, sizeof bytes);
    of[i] = std::bit_cast<FourWords>(
        __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  }
  const FourWords lower[2] = {__builtin_shufflevector(of[0], of[1], 0, 4, 1, 5),
                              __builtin_shufflevector(of[2], of[3], 0, 4, 1, 5)};
  const FourWords upper[2] = {__builtin_shufflevector(of[0], of[1], 2, 6, 3, 7),
                              __builtin_shufflevector(of[2], of[3], 2, 6, 3, 7)};
  const FourWords line[4] = {
      __builtin_shufflevector(lower[0], lower[1], 0, 1, 4, 5), __builtin_shufflevector(lower[0], lower[1], 2, 3, 6, 7),
      __builtin_shufflevector(upper[0], upper[1], 0, 1, 4, 5), __builtin_shufflevector(upper[0], upper[1], 2, 3, 6, 7)};
  for (int64_t i = 0; i < lines; ++i)
    std::memcpy(to + i * lineBytes, &line[i], sizeof line[i]);
}

class NumberPacker {
public:
  NumberPacker(const QuantizedShape &shape, const void *numbers)
      : shape(shape), form(shape), bytes(form.isNibbles ? llvm::divideCeil(shape.depth, int64_t(2)) : shape.depth),
        numbers{numbers, 1, bytes} {}

  void packPanel(int64_t column, int64_t first, int64_t last, char *to, int64_t lineBytes) const {
    uint32_t words[kSomeLines * kWidth];
    const bool isOfWords = form.columnBytes() == kPerWord;
    const int64_t perWord = isOfWords ? 1 : kPerWord; // lines
    for (int64_t line = first; line < last; line += perWord) {
      const int64_t at = (line - first) / perWord % kSomeLines;
      if (at == 0)
        readWords(line / perWord, llvm::divideCeil(std::min(kSomeLines * perWord, last - line), perWord), column,
                  words);
      char *place = to + (line - first) * lineBytes;
      if (isOfWords)
        copyWords(words + at * kWidth, place);
      else
        splitLine(words + at * kWidth, std::min(perWord, last - line), place, lineBytes);
    }
  }

private:
  void copyWords(const uint32_t *words, char *to) const {
    uint32_t line[kWidth];
    std::transform(words, words + kWidth, line, [&](uint32_t word) { return word ^ form.offsets(); });
    std::memcpy(to, line, sizeof line);
  }

  /// Lines of words [first, first + count); zeros beyond the last number.
  void readWords(int64_t first, int64_t count, int64_t column, uint32_t *to) const {
    const int64_t begin = first * kPerWord, end = std::clamp(begin + count * kPerWord, begin, std::max(begin, bytes));
    const int64_t read = llvm::divideCeil(end - begin, kPerWord);
    if (begin < end)
      packByteLines(numbers, begin, end, column, std::min(kWidth, shape.columns - column), to, /*fetchesNext=*/true);
    std::fill(to + read * kWidth, to + count * kWidth, 0);
    if (form.isNibbles && shape.depth % 2 && begin < end && end == bytes) // the upper half of the last byte
      std::for_each(to + (read - 1) * kWidth, to + read * kWidth,
                    [&](uint32_t &word) { word &= ~(uint32_t(0xf0) << 8 * ((bytes - 1) % kPerWord)); });
  }

  const QuantizedShape &shape;
  const QuantizedForm form;
  const int64_t bytes; // of a column
  const ByteMatrix numbers;
};

} // namespace

void packNumbers(const QuantizedShape &shape, const void *numbers, int64_t block, int64_t first, int64_t last,
                 char *to) {
  const QuantizedForm form(shape);
  const NumberPacker packer(shape, numbers);
  const int64_t panels = form.panelsOf(block);
  for (int64_t panel = 0; panel < panels; ++panel)
    packer.packPanel((block * form.blockPanels() + panel) * kWidth, first, last, to + panel * form.lineBytes(1),
                     form.lineBytes(panels));
}

void packNumbers(const QuantizedShape &shape, const void *numbers, char *to) {
  const QuantizedForm form(shape);
  for (int64_t block = 0; block < form.numBlocks(); ++block)
    packNumbers(shape, numbers, block, 0, form.numLines, to + form.lineAt(block, 0));
}

void packScales(const QuantizedShape &shape, const float *scales, float *to) {
  const QuantizedForm form(shape);
  uint32_t words[kSomeLines * kWidth];
  for (int64_t panel = 0; panel < form.numPanels; ++panel) {
    const int64_t block = panel / form.blockPanels(), column = panel * kWidth;
    const int64_t count = std::min(kWidth, shape.columns - column);
    for (int64_t line = 0; line < form.scaleLines; line += kSomeLines) {
      const int64_t lines = std::min(kSomeLines, form.scaleLines - line);
      transposeColumns(reinterpret_cast<const char *>(scales + column * form.scaleLines + line),
                       form.scaleLines * int64_t(sizeof(float)), count, lines, words);
      for (int64_t i = 0; i < lines; ++i)
        std::memcpy(to + form.scalesAt(block, line + i) + panel % form.blockPanels() * kWidth, words + i * kWidth,
                    kWidth * sizeof(float));
    }
  }
}

} // namespace tess::runtime::contract
