//===- Panels.cpp - operands as kernels read them -------------------------===//
#include "runtime/contract/Panels.h"

#include "runtime/contract/Copies.h"
#include "runtime/contract/Transpose.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

LineForm::LineForm(DType dtype) : LineForm(dtype, dtype == DType::Float16 ? DType::Float32 : dtype) {}

LineForm::LineForm(DType dtype, DType ofKernel)
    : dtype(dtype), ofKernel(ofKernel), perColumn(isInt(ofKernel)               ? 4
                                                  : ofKernel == DType::BFloat16 ? 2
                                                                                : 1),
      hasOffsets(ofKernel == DType::Int8) {}

namespace {

constexpr int64_t kWidth = kLanes;

/// Elements ahead along a row of the operand at which the machine is told to fetch: those of the panels that come next,
/// which it does not find by itself, as it goes down many rows at a time.
constexpr int64_t kFetchAhead = 4 * kWidth;

/// The word of two bfloat16 numbers that follow each other.
uint32_t pairOf(BF16 even, BF16 odd) { return uint32_t(odd.bits) << 16 | even.bits; }

/// Element `k` of column `c` of a matrix of T.
template <typename T> const T &elementAt(const Matrix &matrix, int64_t k, int64_t c) {
  return static_cast<const T *>(matrix.data)[k * matrix.rowStride + c * matrix.columnStride];
}

/// Whether columns lie along the contracted axis.
bool isAlongDepth(const Matrix &rhs) { return rhs.rowStride == 1 && rhs.columnStride != 1; }

/// Two lines of the elements in a line of words, the lower halves first.
template <typename T> void widenPairs(const uint32_t *words, float *to) {
  for (int64_t c = 0; c < kWidth; ++c)
    to[c] = widen(std::bit_cast<T>(uint16_t(words[c])));
  for (int64_t c = 0; c < kWidth; ++c)
    to[kWidth + c] = widen(std::bit_cast<T>(uint16_t(words[c] >> 16)));
}

/// Lines of a panel that begins with column `first` and has `count` columns: rows [begin, end) of the operand, at `to`.
template <typename W, typename T>
void packElements(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, W *to) {
  const int64_t row = rhs.rowStride, column = rhs.columnStride; // stores below might change those of `rhs`
  const T *from = &elementAt<T>(rhs, begin, first);
  if (column == 1 && count == kWidth) {
    for (int64_t k = begin; k < end; ++k, to += kWidth, from += row) {
      __builtin_prefetch(from + kFetchAhead);
      for (int64_t c = 0; c < kWidth; c += kCopyVector)
        copyFixed<kCopyVector>(from + c, to + c);
    }
    return;
  }
  for (int64_t k = begin; k < end; ++k, to += kWidth, from += row) {
    for (int64_t c = 0; c < count; ++c)
      to[c] = worded<W>(from[c * column]);
    std::fill(to + count, to + kWidth, W(0));
  }
}

void packPairs(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, uint32_t *to) {
  int64_t k = begin;
  if (rhs.columnStride == 1 && count == kWidth) {
    const int64_t row = rhs.rowStride; // stores below might change that of `rhs`
    for (const BF16 *from = &elementAt<BF16>(rhs, k, first); k + 1 < end; k += 2, to += kWidth, from += 2 * row) {
      __builtin_prefetch(from + kFetchAhead);
      __builtin_prefetch(from + row + kFetchAhead);
      for (int64_t c = 0; c < kWidth; c += kCopyVector)
        copyPairs(from + c, from + row + c, to + c);
    }
  }
  for (; k < end; k += 2, to += kWidth) {
    const bool isLast = k + 1 == end;
    for (int64_t c = 0; c < count; ++c)
      to[c] = pairOf(elementAt<BF16>(rhs, k, first + c), isLast ? BF16{0} : elementAt<BF16>(rhs, k + 1, first + c));
    std::fill(to + count, to + kWidth, 0);
  }
}

/// The matrix that has row `row` of the operand as its own row of that number.
Matrix runOf(const RightMatrix &rhs, int64_t row, int64_t width) {
  if (!rhs.runLength)
    return rhs;
  const int64_t run = row / rhs.runLength;
  const int64_t at = rhs.runAt[run] - run * rhs.runLength * rhs.rowStride;
  return {static_cast<const char *>(rhs.data) + at * width, rhs.rowStride, rhs.columnStride};
}

/// Pairs of which the two elements may be in two runs.
void packSplitPairs(const RightMatrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, uint32_t *to) {
  auto element = [&](int64_t k, int64_t c) {
    return k < end ? elementAt<BF16>(runOf(rhs, k, sizeof(BF16)), k, first + c) : BF16{0};
  };
  for (int64_t k = begin; k < end; k += 2, to += kWidth)
    for (int64_t c = 0; c < kWidth; ++c)
      to[c] = c < count ? pairOf(element(k, c), element(k + 1, c)) : 0;
}

/// Lines [begin, end) of rows of a panel whose columns lie along the contracted axis.
void packTransposed(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count,
                    uint32_t *to, bool fetchesNext) {
  const int64_t width = byteWidth(form.dtype), whole = (end - begin) / form.perColumn;
  const char *from = static_cast<const char *>(rhs.data) + (first * rhs.columnStride + begin) * width;
  transposeColumns(from, rhs.columnStride * width, count, whole, to, fetchesNext);
  if (whole < form.lines(end - begin))
    packPairs(rhs, end - 1, end, first, count, to + whole * kWidth);
}

/// Packs columns of 16-bit floats that are widened: words of two are transposed, and each line of these becomes two.
template <typename T>
void packTransposedHalves(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, float *to,
                          bool fetchesNext) {
  const int64_t apart = rhs.columnStride * int64_t(sizeof(T));
  for (int64_t k = begin; k + 1 < end; k += 2 * kWidth) {
    uint32_t words[kWidth * kWidth];
    const int64_t lines = std::min(kWidth, (end - k) / 2);
    transposeColumns(reinterpret_cast<const char *>(&elementAt<T>(rhs, k, first)), apart, count, lines, words,
                     fetchesNext);
    for (int64_t i = 0; i < lines; ++i)
      widenPairs<T>(words + i * kWidth, to + (k - begin + 2 * i) * kWidth);
  }
  if ((end - begin) % 2)
    packElements<float, T>(rhs, end - 1, end, first, count, to + (end - 1 - begin) * kWidth);
}

/// Packs floats of 16 bits as float32.
template <typename T>
void packHalves(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, float *to,
                bool fetchesNext) {
  if (isAlongDepth(rhs))
    packTransposedHalves<T>(rhs, begin, end, first, count, to, fetchesNext);
  else
    packElements<float, T>(rhs, begin, end, first, count, to);
}

void packLines(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count,
               void *to, bool fetchesNext) {
  const bool isWidened = form.dtype != form.ofKernel;
  if (isAlongDepth(rhs) && !isWidened && form.dtype != DType::Float64)
    return packTransposed(form, rhs, begin, end, first, count, static_cast<uint32_t *>(to), fetchesNext);
  switch (form.dtype) {
  case DType::BFloat16:
    if (isWidened)
      return packHalves<BF16>(rhs, begin, end, first, count, static_cast<float *>(to), fetchesNext);
    return packPairs(rhs, begin, end, first, count, static_cast<uint32_t *>(to));
  case DType::Float16:
    return packHalves<F16>(rhs, begin, end, first, count, static_cast<float *>(to), fetchesNext);
  case DType::Float64:
    return packElements<double, double>(rhs, begin, end, first, count, static_cast<double *>(to));
  default:
    return packElements<float, float>(rhs, begin, end, first, count, static_cast<float *>(to));
  }
}

/// Whether row k of every run lies beside that of the run before, as places of a weight do.
bool areSideBySide(llvm::ArrayRef<int64_t> runAt) {
  for (size_t run = 0; run < runAt.size(); ++run)
    if (runAt[run] != int64_t(run))
      return false;
  return runAt.size() > 1;
}

/// Packs a whole panel of such runs.
void packPlaces(const RightMatrix &rhs, int64_t column, uint32_t *to) {
  constexpr int64_t kSide = 8;
  const int64_t runs = int64_t(rhs.runAt.size());
  for (int64_t row = 0; row < rhs.runLength; ++row) {
    const float *from = &elementAt<float>(rhs, row, column);
    auto lineOf = [&](int64_t run) { return to + (run * rhs.runLength + row) * kWidth; };
    int64_t run = 0;
    for (; run + kSide <= runs; run += kSide)
      for (int64_t first = 0; first < kWidth; first += kSide) {
        Words square[8];
        for (int64_t i = 0; i < kSide; ++i)
          std::memcpy(&square[i], from + (first + i) * rhs.columnStride + run, sizeof(Words));
        transpose(square);
        for (int64_t i = 0; i < kSide; ++i)
          std::memcpy(lineOf(run + i) + first, &square[i], sizeof(Words));
      }
    for (; run < runs; ++run)
      for (int64_t c = 0; c < kWidth; ++c)
        std::memcpy(lineOf(run) + c, from + c * rhs.columnStride + run, sizeof(float));
  }
}

} // namespace

// Some rows of all panels at a time, so that rows of the operand are read in one go; of columns that lie along them
// more.
void packPanels(const LineForm &form, const RightMatrix &rhs, int64_t begin, int64_t end, int64_t columns,
                int64_t first, int64_t last, char *to) {
  const int64_t rowsAtOnce = rhs.rowStride == 1 ? 512 : 32;
  if (isInt(form.dtype))
    return packBytePanels(form.hasOffsets, {rhs.data, rhs.rowStride, rhs.columnStride}, begin, end, columns, first,
                          last, to);
  const int64_t lineBytes = int64_t(form.lineBytes()), panelBytes = form.lines(end - begin) * lineBytes;
  const bool splitsLines = rhs.runLength % form.perColumn != 0;
  if (form.dtype == DType::Float32 && begin == 0 && end == rhs.runLength * int64_t(rhs.runAt.size()) &&
      areSideBySide(rhs.runAt))
    for (; first < last && (first + 1) * kWidth <= columns; ++first, to += panelBytes)
      packPlaces(rhs, first * kWidth, reinterpret_cast<uint32_t *>(to));
  for (int64_t row = begin, next = 0; row < end; row = next) {
    next = std::min(row + rowsAtOnce, end);
    if (rhs.runLength && !splitsLines)
      next = std::min(next, (row / rhs.runLength + 1) * rhs.runLength);
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t column = panel * kWidth, count = std::min(kWidth, columns - column);
      char *line = to + (panel - first) * panelBytes + form.lines(row - begin) * lineBytes;
      if (splitsLines)
        packSplitPairs(rhs, row, next, column, count, reinterpret_cast<uint32_t *>(line));
      else
        packLines(form, runOf(rhs, row, byteWidth(form.dtype)), row, next, column, count, line, rhs.isReadOnce);
    }
  }
}

namespace {

/// A chunk of rows that follow each other along it.
template <typename W, typename T> void copyRows(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, W *to) {
  for (unsigned r = 0; r < rows; ++r, to += kCopiedRowWords)
    std::transform(&elementAt<T>(lhs, r, begin), &elementAt<T>(lhs, r, begin) + (end - begin), to,
                   [](T x) { return W(widen(x)); });
}

/// Copies `count` numbers by two vectors that may overlap. There are as many as in one, at least.
template <unsigned Vector, typename T> void copyOverlapping(const T *from, unsigned count, T *to) {
  T first[Vector], last[Vector];
  std::memcpy(first, from, sizeof first);
  std::memcpy(last, from + count - Vector, sizeof last);
  std::memcpy(to, first, sizeof first);
  std::memcpy(to + count - Vector, last, sizeof last);
}

/// A chunk of rows that lie side by side, line by line.
template <typename W, typename T> void copyLines(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, W *to) {
  constexpr unsigned kVector = 8;
  if constexpr (std::is_same_v<W, T>)
    if (lhs.rowStride == 1 && rows >= kVector && rows <= 2 * kVector) {
      for (int64_t k = begin; k < end; ++k, to += kWidth)
        copyOverlapping<kVector>(&elementAt<T>(lhs, 0, k), rows, to);
      return;
    }
  for (int64_t k = begin; k < end; ++k, to += kWidth)
    for (unsigned r = 0; r < rows; ++r)
      to[r] = W(widen(elementAt<T>(lhs, r, k)));
}

/// Rows of which two neighbours are a word already.
void copyRowsOfPairs(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, uint32_t *to) {
  const int64_t whole = (end - begin) / 2;
  for (unsigned r = 0; r < rows; ++r, to += kCopiedRowWords) {
    std::memcpy(to, &elementAt<BF16>(lhs, r, begin), size_t(whole) * sizeof(uint32_t));
    if (end - begin > 2 * whole)
      to[whole] = pairOf(elementAt<BF16>(lhs, r, end - 1), BF16{0});
  }
}

/// Rows that lie side by side, two lines of which become one.
void copyLinesOfPairs(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, uint32_t *to) {
  for (int64_t k = begin; k < end; k += 2, to += kWidth) {
    if (rows >= kCopyVector && k + 1 < end) {
      for (int64_t r : {int64_t(0), int64_t(rows) - kCopyVector})
        copyPairs(&elementAt<BF16>(lhs, r, k), &elementAt<BF16>(lhs, r, k + 1), to + r);
      continue;
    }
    for (unsigned r = 0; r < rows; ++r)
      to[r] = pairOf(elementAt<BF16>(lhs, r, k), k + 1 == end ? BF16{0} : elementAt<BF16>(lhs, r, k + 1));
  }
}

template <typename W, typename T>
void copyElements(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, void *to) {
  if (lhs.columnStride == 1)
    copyRows<W, T>(lhs, rows, begin, end, static_cast<W *>(to));
  else
    copyLines<W, T>(lhs, rows, begin, end, static_cast<W *>(to));
}

} // namespace

RowStrides packRows(const LineForm &form, const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, void *to) {
  const RowStrides strides = lhs.columnStride == 1 ? RowStrides{kCopiedRowWords, 1} : RowStrides{1, kWidth};
  switch (form.dtype) {
  case DType::BFloat16:
    if (form.dtype != form.ofKernel)
      copyElements<float, BF16>(lhs, rows, begin, end, to);
    else
      (lhs.columnStride == 1 ? copyRowsOfPairs : copyLinesOfPairs)(lhs, rows, begin, end, static_cast<uint32_t *>(to));
    break;
  case DType::Int8:
  case DType::UInt8:
    packByteRows({lhs.data, lhs.rowStride, lhs.columnStride}, rows, begin, end, strides.row,
                 static_cast<uint32_t *>(to));
    break;
  case DType::Float16:
    copyElements<float, F16>(lhs, rows, begin, end, to);
    break;
  case DType::Float64:
    copyElements<double, double>(lhs, rows, begin, end, to);
    break;
  default:
    copyElements<float, float>(lhs, rows, begin, end, to);
  }
  return strides;
}

size_t packedRowsBytes(const LineForm &form, unsigned rows) {
  static_assert(kCopiedRowWords > kContractLines);
  return std::max<size_t>(rows * kCopiedRowWords, kContractLines * kWidth) * form.wordBytes();
}

} // namespace tess::runtime::contract
