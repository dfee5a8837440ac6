//===- AttentionOperands.h - operands of attention in the caches -*- C++ -*-===//
#pragma once

#include "runtime/contract/AttentionShape.h"
#include "runtime/device/Elements.h"

namespace tess::runtime::contract {

/// The dtype that sums of a float dtype are kept in.
inline DType sumOf(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

/// Copies rows of `columns` elements to rows `stride` apart, widened and multiplied by `factor`.
template <typename T, typename Sum>
void copyScaled(const T *from, int64_t rows, int64_t columns, Sum factor, Sum *to, int64_t stride) {
  for (int64_t row = 0; row < rows; ++row, from += columns, to += stride)
    for (int64_t i = 0; i < columns; ++i)
      to[i] = Sum(widen(from[i])) * factor;
}

/// Writes a row multiplied by `factor`, each element rounded once.
template <typename T, typename Sum> void writeScaled(const Sum *from, int64_t count, Sum factor, T *to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = narrow<T>(from[i] * factor);
}

/// A count up to whole multiples of `of`.
inline int64_t paddedTo(int64_t count, int64_t of) { return (count + of - 1) / of * of; }

/// Packs rows of a matrix (rows, columns) as columns of panels: [rows / kLanes][columns][kLanes], zeros behind the last
/// row.
template <typename T, typename Sum> void packColumns(const T *from, int64_t rows, int64_t columns, Sum *to);
/// Packs them as lines of panels: [columns / kLanes][rows][kLanes], zeros behind the last column.
template <typename T, typename Sum> void packLines(const T *from, int64_t rows, int64_t columns, Sum *to);

/// Applies a mask to scores of one query by `count` keys from `key` on. `mask`: of all matrices.
template <typename Sum>
void maskScores(const MaskForm &form, const void *mask, int64_t matrix, int64_t query, int64_t key, int64_t count,
                Sum *scores);

} // namespace tess::runtime::contract
