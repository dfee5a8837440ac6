//===- BytePanels.cpp - operands of 8 bits as kernels read them -----------===//
#include "runtime/contract/BytePanels.h"

#include "runtime/contract/ByteSquares.h"
#include "runtime/contract/Transpose.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes, kPerWord = 4;

const uint8_t *byteAt(const ByteMatrix &matrix, int64_t k, int64_t c) {
  return static_cast<const uint8_t *>(matrix.data) + k * matrix.rowStride + c * matrix.columnStride;
}

/// The word of `count` bytes that lie `apart` bytes from each other; bytes that are missing are zeros.
uint32_t wordOf(const uint8_t *from, int64_t apart, int64_t count) {
  uint32_t word = 0;
  if (apart == 1 && count == kPerWord) {
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  for (int64_t i = 0; i < count; ++i)
    word |= uint32_t(from[i * apart]) << 8 * i;
  return word;
}

/// The line of four rows, column by column.
void interleave(const uint8_t *first, int64_t apart, int64_t count, uint32_t *to) {
  Bytes row[4], pairs[4];
  for (int64_t i = 0; i < 4; ++i)
    row[i] = loadBytes(first + i * apart, count);
  for (int64_t i = 0; i < 4; i += 2) {
    pairs[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    pairs[i + 1] =
        __builtin_shufflevector(row[i], row[i + 1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  for (int64_t i = 0; i < 2; ++i) {
    Bytes lower =
        __builtin_shufflevector(pairs[i], pairs[i + 2], 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
    Bytes upper =
        __builtin_shufflevector(pairs[i], pairs[i + 2], 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
    std::memcpy(to + i * 8, &lower, sizeof lower);
    std::memcpy(to + i * 8 + 4, &upper, sizeof upper);
  }
}

/// The words of a line.
using LineWords = int32_t __attribute__((vector_size(64), aligned(4)));

/// One chunk of panels that lie `apart` words from each other. Some rows of all panels at a time, so that rows of the
/// operand are read in one go.
void packChunk(const ByteMatrix &rhs, int64_t begin, int64_t end, int64_t columns, int64_t first, int64_t last,
               int64_t apart, uint32_t *to) {
  constexpr int64_t kRows = 32;
  for (int64_t row = begin; row < end; row += kRows)
    for (int64_t panel = first; panel < last; ++panel)
      packByteLines(rhs, row, std::min(row + kRows, end), panel * kWidth, std::min(kWidth, columns - panel * kWidth),
                    to + (panel - first) * apart + (row - begin) / kPerWord * kWidth);
}

} // namespace

void writeOffsets(uint32_t *panel, int64_t lines) {
  LineWords sums = {}, word;
  for (int64_t line = 0; line < lines; ++line) {
    std::memcpy(&word, panel + line * kWidth, sizeof word);
    sums += (word << 24 >> 24) + (word << 16 >> 24) + (word << 8 >> 24) + (word >> 24);
  }
  sums = -sums * 128;
  std::memcpy(panel + lines * kWidth, &sums, sizeof sums);
}

void packByteLines(const ByteMatrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, uint32_t *to,
                   bool fetchesNext) {
  const int64_t whole = (end - begin) / kPerWord;
  if (rhs.rowStride == 1 && rhs.columnStride != 1 && count == kWidth) {
    transposeColumns(reinterpret_cast<const char *>(byteAt(rhs, begin, first)), rhs.columnStride, kLanes, whole, to,
                     fetchesNext);
    begin += whole * kPerWord;
    to += whole * kWidth;
  }
  for (int64_t k = begin; k < end; k += kPerWord, to += kWidth) {
    const int64_t depth = std::min(kPerWord, end - k);
    if (rhs.columnStride == 1 && count >= kLeastBytes && depth == kPerWord) {
      interleave(byteAt(rhs, k, first), rhs.rowStride, count, to);
      continue;
    }
    for (int64_t c = 0; c < count; ++c)
      to[c] = wordOf(byteAt(rhs, k, first + c), rhs.rowStride, depth);
    std::fill(to + count, to + kWidth, 0);
  }
}

void packBytePanels(bool hasOffsets, const ByteMatrix &rhs, int64_t begin, int64_t end, int64_t columns, int64_t first,
                    int64_t last, char *to) {
  constexpr int64_t kChunk = kContractLines * kPerWord;
  const int64_t lines = (end - begin + kPerWord - 1) / kPerWord;
  const int64_t apart = (hasOffsets ? linesWithOffsets(lines) : lines) * kWidth;
  auto *at = reinterpret_cast<uint32_t *>(to);
  for (int64_t chunk = begin; chunk < end; chunk += kChunk) {
    const int64_t chunkEnd = std::min(chunk + kChunk, end), chunkLines = (chunkEnd - chunk + kPerWord - 1) / kPerWord;
    packChunk(rhs, chunk, chunkEnd, columns, first, last, apart, at);
    for (int64_t panel = 0; hasOffsets && panel < last - first; ++panel)
      writeOffsets(at + panel * apart, chunkLines);
    at += (chunkLines + hasOffsets) * kWidth;
  }
}

void packByteRows(const ByteMatrix &lhs, unsigned rows, int64_t begin, int64_t end, int64_t rowStride, uint32_t *to) {
  const int64_t count = end - begin;
  if (lhs.columnStride != 1)
    return packByteLines({lhs.data, lhs.columnStride, lhs.rowStride}, begin, end, 0, rows, to);
  for (unsigned r = 0; r < rows; ++r, to += rowStride) {
    to[(count - 1) / kPerWord] = 0;
    std::memcpy(to, byteAt(lhs, r, begin), size_t(count));
  }
}

} // namespace tess::runtime::contract
