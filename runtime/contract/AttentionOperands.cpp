//===- AttentionOperands.cpp - operands of attention in the caches --------===//
#include "runtime/contract/AttentionOperands.h"

#include "runtime/contract/Panels.h"

#include <algorithm>
#include <limits>

namespace tess::runtime::contract {

static constexpr int64_t kWidth = kLanes;

/// Packs `columns` columns of a panel of rows of sums, which are `apart` from row to row.
template <typename Sum> static void packPanel(const Sum *from, int64_t apart, int64_t rows, int64_t columns, Sum *to) {
  const DType dtype = std::is_same_v<Sum, double> ? DType::Float64 : DType::Float32;
  packPanels(LineForm(dtype), {{from, 1, apart}}, 0, columns, rows, 0, 1, reinterpret_cast<char *>(to));
}

/// Widens columns of a panel a few at a time, and packs them.
template <typename T, typename Sum>
static void packWidened(const T *from, int64_t apart, int64_t rows, int64_t columns, Sum *to) {
  constexpr int64_t kColumns = 64;
  Sum wide[kWidth * kColumns];
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t count = std::min(kColumns, columns - column);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < count; ++i)
        wide[row * kColumns + i] = widen(from[row * apart + column + i]);
    packPanel<Sum>(wide, kColumns, rows, count, to + column * kWidth);
  }
}

template <typename T, typename Sum> void packColumns(const T *from, int64_t rows, int64_t columns, Sum *to) {
  for (int64_t row = 0; row < rows; row += kWidth, from += kWidth * columns, to += kWidth * columns) {
    const int64_t count = std::min(kWidth, rows - row);
    if constexpr (std::is_same_v<T, Sum>)
      packPanel(from, columns, count, columns, to);
    else
      packWidened(from, columns, count, columns, to);
  }
}

template <typename T, typename Sum> void packLines(const T *from, int64_t rows, int64_t columns, Sum *to) {
  for (int64_t row = 0; row < rows; ++row, from += columns)
    for (int64_t column = 0; column < columns; column += kWidth) {
      Sum *line = to + (column * rows + row * kWidth);
      const int64_t count = std::min(kWidth, columns - column);
      if (count == kWidth) {
        for (int64_t i = 0; i < kWidth; ++i)
          line[i] = widen(from[column + i]);
        continue;
      }
      for (int64_t i = 0; i < kWidth; ++i)
        line[i] = i < count ? Sum(widen(from[column + i])) : Sum(0);
    }
}

/// Applies a row of a mask, whose elements are `step` apart.
template <typename M, typename Sum> static void maskRow(const M *mask, int64_t step, int64_t count, Sum *scores) {
  for (int64_t i = 0; i < count; ++i)
    if constexpr (std::is_same_v<M, Bool8>)
      scores[i] = mask[i * step].value ? scores[i] : -std::numeric_limits<Sum>::infinity();
    else
      scores[i] += Sum(widen(mask[i * step]));
}

template <typename Sum>
void maskScores(const MaskForm &form, const void *mask, int64_t matrix, int64_t query, int64_t key, int64_t count,
                Sum *scores) {
  const int64_t at = form.at[size_t(matrix)] + query * form.rowStride + key * form.columnStride;
  auto apply = [&](auto tag) {
    const auto *row = static_cast<const decltype(tag) *>(mask) + at;
    if (form.columnStride == 1)
      maskRow(row, 1, count, scores);
    else
      maskRow(row, form.columnStride, count, scores);
  };
  if (form.dtype == DType::Bool)
    apply(Bool8());
  else
    withFloatType(form.dtype, apply);
}

template void packColumns(const F16 *, int64_t, int64_t, float *);
template void packColumns(const BF16 *, int64_t, int64_t, float *);
template void packColumns(const float *, int64_t, int64_t, float *);
template void packColumns(const double *, int64_t, int64_t, double *);
template void packLines(const F16 *, int64_t, int64_t, float *);
template void packLines(const BF16 *, int64_t, int64_t, float *);
template void packLines(const float *, int64_t, int64_t, float *);
template void packLines(const double *, int64_t, int64_t, double *);
template void maskScores(const MaskForm &, const void *, int64_t, int64_t, int64_t, int64_t, float *);
template void maskScores(const MaskForm &, const void *, int64_t, int64_t, int64_t, int64_t, double *);

} // namespace tess::runtime::contract
