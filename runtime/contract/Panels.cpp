//===- Panels.cpp - operands as kernels read them -------------------------===//
#include "runtime/contract/Panels.h"

#include "runtime/device/Elements.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

LineForm::LineForm(DType dtype)
    : dtype(dtype), ofKernel(dtype == DType::Float16 ? DType::Float32 : dtype),
      perColumn(dtype == DType::BFloat16 ? 2 : 1) {}

namespace {

constexpr int64_t kWidth = kLanes;
/// Rows of a copy lie this many words apart, so that they share no set of a cache.
constexpr int64_t kRowWords = kContractLines + 16;

/// Eight numbers of 32 bits.
using Words = uint32_t __attribute__((vector_size(32), aligned(4)));

/// The square whose lines these are, by columns.
void transpose(Words (&w)[8]) {
  Words a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(w[i], w[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(w[i], w[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = i; j < i + 2; ++j) {
      b[j] = __builtin_shufflevector(a[j], a[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[j + 2] = __builtin_shufflevector(a[j], a[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    w[j] = __builtin_shufflevector(b[j], b[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    w[j + 4] = __builtin_shufflevector(b[j], b[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Lines of kLanes words from as many columns, each of which has `lines` words behind each other, `apart` bytes from
/// column to column.
void transposeColumns(const char *from, int64_t apart, int64_t lines, uint32_t *to) {
  int64_t line = 0;
  for (; line + 8 <= lines; line += 8)
    for (int64_t first = 0; first < kWidth; first += 8) {
      Words square[8];
      for (int64_t i = 0; i < 8; ++i)
        std::memcpy(&square[i], from + (first + i) * apart + line * 4, sizeof(Words));
      transpose(square);
      for (int64_t i = 0; i < 8; ++i)
        std::memcpy(to + (line + i) * kWidth + first, &square[i], sizeof(Words));
    }
  for (; line < lines; ++line)
    for (int64_t column = 0; column < kWidth; ++column)
      std::memcpy(to + line * kWidth + column, from + column * apart + line * 4, 4);
}

/// The word of two bfloat16 numbers that follow each other.
uint32_t pairOf(BF16 even, BF16 odd) { return uint32_t(odd.bits) << 16 | even.bits; }

/// Element `k` of column `c` of a matrix of T.
template <typename T> const T &elementAt(const Matrix &matrix, int64_t k, int64_t c) {
  return static_cast<const T *>(matrix.data)[k * matrix.rowStride + c * matrix.columnStride];
}

/// Lines of a panel that begins with column `first` and has `count` columns: rows [begin, end) of the operand, at `to`.
template <typename W, typename T>
void packElements(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, W *to) {
  for (int64_t k = begin; k < end; ++k, to += kWidth) {
    const T *from = &elementAt<T>(rhs, k, first);
    if (rhs.columnStride == 1 && count == kWidth) {
      for (int64_t c = 0; c < kWidth; ++c)
        to[c] = W(widen(from[c]));
      continue;
    }
    for (int64_t c = 0; c < count; ++c)
      to[c] = W(widen(from[c * rhs.columnStride]));
    std::fill(to + count, to + kWidth, W(0));
  }
}

/// Sixteen numbers of 16 bits.
using Halves = uint16_t __attribute__((vector_size(32), aligned(2)));

/// The line of two rows, column by column.
void interleave(const void *even, const void *odd, uint32_t *to) {
  Halves a, b, lower, upper;
  std::memcpy(&a, even, sizeof a);
  std::memcpy(&b, odd, sizeof b);
  lower = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  upper = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  std::memcpy(to, &lower, sizeof lower);
  std::memcpy(to + kWidth / 2, &upper, sizeof upper);
}

void packPairs(const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, uint32_t *to) {
  for (int64_t k = begin; k < end; k += 2, to += kWidth) {
    const bool isLast = k + 1 == end;
    if (rhs.columnStride == 1 && count == kWidth && !isLast) {
      interleave(&elementAt<BF16>(rhs, k, first), &elementAt<BF16>(rhs, k + 1, first), to);
      continue;
    }
    for (int64_t c = 0; c < count; ++c)
      to[c] = pairOf(elementAt<BF16>(rhs, k, first + c), isLast ? BF16{0} : elementAt<BF16>(rhs, k + 1, first + c));
    std::fill(to + count, to + kWidth, 0);
  }
}

/// Lines [begin, end) of rows of a panel whose columns lie along the contracted axis.
void packTransposed(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t first, uint32_t *to) {
  const int64_t width = byteWidth(form.dtype), whole = (end - begin) / form.perColumn;
  const char *from = static_cast<const char *>(rhs.data) + (first * rhs.columnStride + begin) * width;
  transposeColumns(from, rhs.columnStride * width, whole, to);
  if (whole < form.lines(end - begin))
    packPairs(rhs, end - 1, end, first, kWidth, to + whole * kWidth);
}

void packLines(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count,
               void *to) {
  const bool isAlongDepth = rhs.rowStride == 1 && rhs.columnStride != 1;
  if (isAlongDepth && count == kWidth && (form.dtype == DType::BFloat16 || form.dtype == DType::Float32))
    return packTransposed(form, rhs, begin, end, first, static_cast<uint32_t *>(to));
  switch (form.dtype) {
  case DType::BFloat16:
    return packPairs(rhs, begin, end, first, count, static_cast<uint32_t *>(to));
  case DType::Float16:
    return packElements<float, F16>(rhs, begin, end, first, count, static_cast<float *>(to));
  case DType::Float64:
    return packElements<double, double>(rhs, begin, end, first, count, static_cast<double *>(to));
  default:
    return packElements<float, float>(rhs, begin, end, first, count, static_cast<float *>(to));
  }
}

} // namespace

// Some rows of all panels at a time, so that rows of the operand are read in one go.
void packPanels(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t columns, int64_t first,
                int64_t last, char *to) {
  constexpr int64_t kRows = 32;
  const int64_t lineBytes = int64_t(form.lineBytes()), panelBytes = form.lines(end - begin) * lineBytes;
  for (int64_t row = begin; row < end; row += kRows)
    for (int64_t panel = first; panel < last; ++panel)
      packLines(form, rhs, row, std::min(row + kRows, end), panel * kWidth, std::min(kWidth, columns - panel * kWidth),
                to + (panel - first) * panelBytes + form.lines(row - begin) * lineBytes);
}

namespace {

/// A chunk of rows that follow each other along it.
template <typename W, typename T> void copyRows(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, W *to) {
  for (unsigned r = 0; r < rows; ++r, to += kRowWords)
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

void copyPairs(const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, uint32_t *to, RowStrides strides) {
  for (int64_t k = begin; k < end; k += 2, to += strides.line)
    for (unsigned r = 0; r < rows; ++r)
      to[r * strides.row] = pairOf(elementAt<BF16>(lhs, r, k), k + 1 == end ? BF16{0} : elementAt<BF16>(lhs, r, k + 1));
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
  const RowStrides strides = lhs.columnStride == 1 ? RowStrides{kRowWords, 1} : RowStrides{1, kWidth};
  switch (form.dtype) {
  case DType::BFloat16:
    copyPairs(lhs, rows, begin, end, static_cast<uint32_t *>(to), strides);
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
  static_assert(kRowWords > kContractLines);
  return std::max<size_t>(rows * kRowWords, kContractLines * kWidth) * form.wordBytes();
}

} // namespace tess::runtime::contract
