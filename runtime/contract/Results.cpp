//===- Results.cpp - where the results of a product lie -------------------===//
#include "runtime/contract/Results.h"

#include "runtime/contract/Copies.h"
#include "runtime/contract/Transpose.h"
#include "runtime/device/Elements.h"
#include "runtime/schema/KernelAbi.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes;

template <typename T, typename Sum> T rounded(Sum x) {
  if constexpr (std::is_same_v<T, double>)
    return T(x);
  else
    return narrow<T>(float(x));
}

/// Rows that follow each other along the last axis of a form.
struct RowRun {
  int64_t row, count; // in the block
  int64_t at;         // elements
};

template <typename T, typename Sum> class Writer {
public:
  Writer(const ResultForm &form, const SumBlock<Sum> &block, T *out) : form(form), block(block), out(out) {}

  void run() const {
    for (int64_t row = 0; row < block.rows;) {
      const RowRun run = runAt(row);
      if (block.columnStride != 1)
        writeAlongRows(run);
      else if (form.columnStride == 1)
        writeRows(run);
      else
        writeColumns(run);
      row += run.count;
    }
  }

private:
  RowRun runAt(int64_t row) const {
    constexpr unsigned kLast = ResultForm::kAxes - 1;
    int64_t number = block.firstRow + row;
    RowRun run{row, std::min(form.sizes[kLast] - number % form.sizes[kLast], block.rows - row), 0};
    for (unsigned axis = ResultForm::kAxes; axis-- > 0; number /= form.sizes[axis])
      run.at += number % form.sizes[axis] * form.strides[axis];
    return run;
  }

  static constexpr int64_t kSide = 8; // of a square

  int64_t step() const { return form.strides[ResultForm::kAxes - 1]; }
  const Sum *sumsAt(int64_t row, int64_t column) const {
    return block.sums + row * block.rowStride + column * block.columnStride;
  }
  T *columnAt(const RowRun &run, int64_t column) const {
    const int64_t number = block.firstColumn + column;
    return out + run.at + number / kWidth * form.panelStride + number % kWidth * form.columnStride;
  }

  /// Sums that lie side by side along rows; to blocks of columns by squares.
  void writeAlongRows(const RowRun &run) const {
    const bool hasSquares = form.columnStride == 1 && run.count >= kSide;
    for (int64_t column = 0, width = 1; column < block.columns; column += width) {
      width = 1;
      if constexpr (std::is_same_v<Sum, float>)
        if (hasSquares && (block.firstColumn + column) % kSide == 0 && column + kSide <= block.columns) {
          visitSquares(run.count, [&](int64_t i) { writeSquareOfRows(run, i, column); });
          width = kSide;
          continue;
        }
      writeRun(sumsAt(run.row, column), run.count, columnAt(run, column));
    }
  }

  void writeRows(const RowRun &run) const {
    for (int64_t i = 0; i < run.count; ++i)
      for (int64_t column = 0; column < block.columns; column += kWidth) {
        const Sum *from = sumsAt(run.row + i, column);
        T *to = columnAt(run, column) + i * step();
        if (block.columns - column >= kWidth)
          std::transform(from, from + kWidth, to, rounded<T, Sum>);
        else
          std::transform(from, from + (block.columns - column), to, rounded<T, Sum>);
      }
  }

  void writeColumns(const RowRun &run) const {
    int64_t column = 0;
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Sum, float>)
      for (; step() == 1 && run.count >= kSide && column + kSide <= block.columns; column += kSide)
        visitSquares(run.count, [&](int64_t i) { writeSquare(run, i, column); });
    for (; column < block.columns; ++column) {
      T *to = columnAt(run, column);
      for (int64_t i = 0; i < run.count; ++i)
        to[i * step()] = rounded<T>(*sumsAt(run.row + i, column));
    }
  }

  void writeRun(const Sum *from, int64_t count, T *to) const {
    if (step() != 1)
      for (int64_t i = 0; i < count; ++i)
        to[i * step()] = rounded<T>(from[i]);
    else if constexpr (std::is_same_v<T, Sum>)
      copyStrided(from, 1, count, to);
    else
      std::transform(from, from + count, to, rounded<T, Sum>);
  }

  /// Calls fn(first row) for squares that cover `count` rows; the last one may write results of the one before it
  /// again.
  template <typename Fn> static void visitSquares(int64_t count, Fn &&fn) {
    int64_t i = 0;
    for (; i + kSide <= count; i += kSide)
      fn(i);
    if (i < count)
      fn(count - kSide);
  }

  void writeSquareOfRows(const RowRun &run, int64_t i, int64_t column) const {
    Words square[kSide];
    for (int64_t k = 0; k < kSide; ++k)
      std::memcpy(&square[k], sumsAt(run.row + i, column + k), sizeof(Words));
    transpose(square);
    float sums[kSide * kSide];
    std::memcpy(sums, square, sizeof sums);
    T results[kSide * kSide];
    std::transform(sums, std::end(sums), results, rounded<T, float>);
    T *to = columnAt(run, column) + i * step();
    for (int64_t k = 0; k < kSide; ++k, to += step())
      copyFixed<kSide>(results + k * kSide, to);
  }

  void writeSquare(const RowRun &run, int64_t i, int64_t column) const {
    Words square[8];
    for (int64_t k = 0; k < 8; ++k)
      std::memcpy(&square[k], sumsAt(run.row + i + k, column), sizeof(Words));
    transpose(square);
    T *to = columnAt(run, column) + i;
    for (int64_t k = 0; k < 8; ++k, to += form.columnStride)
      std::memcpy(to, &square[k], sizeof(Words));
  }

  const ResultForm &form;
  const SumBlock<Sum> &block;
  T *const out;
};

template <typename Sum> void writeAs(const ResultForm &form, DType dtype, const SumBlock<Sum> &block, void *out) {
  withFloatType(dtype, [&]<typename T>(T) { Writer<T, Sum>(form, block, static_cast<T *>(out)).run(); });
}

} // namespace

bool ResultForm::isDirect(bool byColumns) const {
  int64_t stride = rowStride();
  for (unsigned axis = kAxes; axis-- > 0; stride *= sizes[axis])
    if (sizes[axis] != 1 && strides[axis] != stride)
      return false;
  return byColumns ? rowStride() == 1 && panelStride == columnStride * kWidth : columnStride == 1;
}

void writeResults(const ResultForm &form, DType dtype, const SumBlock<float> &block, void *out) {
  writeAs(form, dtype, block, out);
}

void writeResults(const ResultForm &form, DType dtype, const SumBlock<double> &block, void *out) {
  writeAs(form, dtype, block, out);
}

} // namespace tess::runtime::contract
