//===- WinogradImages.cpp - squares of images at the points ---------------===//
//
// Transforms take elements with kLanes channels side by side. Images that lie
// otherwise are copied to a band first: the rows of a run of squares, with zeros
// beyond the edges; results go by such a band, too.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/WinogradImages.h"

#include "runtime/contract/Transpose.h"
#include "runtime/contract/WideLanes.h"
#include "runtime/contract/WinogradMath.h"
#include "runtime/device/Elements.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract::winograd {

namespace {

constexpr int64_t kWidth = kLanes, kHalf = 8;

/// A part of a band: kLanes channels of each element.
struct Band {
  float *data;
  int64_t columns;

  float *at(int64_t row, int64_t column) const { return data + (row * columns + column) * kWidth; }
};

/// Calls fn(row, begin, end) for the rows of `band` with the columns that are inside of a plane of these sizes. The
/// band begins at (top, left).
template <typename Fn>
void visitInside(const int64_t (&sizes)[2], int64_t rows, int64_t columns, int64_t top, int64_t left, Fn &&fn) {
  const int64_t begin = std::clamp<int64_t>(-left, 0, columns), end = std::clamp(sizes[1] - left, begin, columns);
  for (int64_t row = 0; row < rows; ++row) {
    const bool isInside = top + row >= 0 && top + row < sizes[0];
    fn(row, isInside ? begin : 0, isInside ? end : 0);
  }
}

/// Transforms a square of elements that lie with their channels side by side, from channel `channel` of a block on.
template <typename V>
[[gnu::always_inline]] inline void squareToPoints(const float *from, int64_t rowStride, float *to, int64_t apart) {
  transformTwice<kPoints, kPoints, V>(
      [&](int y, int x, V &element) { std::memcpy(&element, from + y * rowStride + x * kWidth, sizeof element); },
      [](const auto &d, auto &out) { toPoints(d, out); },
      [&](int y, const V(&points)[kPoints]) {
        for (int x = 0; x < kPoints; ++x)
          std::memcpy(to + (y * kPoints + x) * apart, &points[x], sizeof(V));
      });
}

/// Where the results of a square go: the first `rows` rows of `columns`.
struct ResultSquare {
  int64_t rows, columns;
  float *to;
  int64_t rowStride;
};

/// Transforms products back to results.
template <typename V>
[[gnu::always_inline]] inline void squareToResults(const float *from, int64_t apart, const ResultSquare &square) {
  transformTwice<kPoints, kResults, V>(
      [&](int y, int x, V &product) { std::memcpy(&product, from + (y * kPoints + x) * apart, sizeof product); },
      [](const auto &d, auto &out) { fromPoints(d, out); },
      [&](int y, const V(&results)[kResults]) {
#pragma unroll
        for (int x = 0; x < kResults; ++x)
          if (y < square.rows && x < square.columns)
            std::memcpy(square.to + y * square.rowStride + x * kWidth, &results[x], sizeof(V));
      });
}

/// Loops by vectors of eight channels.
struct Narrow {
  using Lanes = float __attribute__((vector_size(32)));

  static void toPoints(const float *from, int64_t rowStride, float *to, int64_t apart) {
    for (int64_t half = 0; half < kWidth; half += kHalf)
      squareToPoints<Lanes>(from + half, rowStride, to + half, apart);
  }

  static void toResults(const float *from, int64_t apart, const ResultSquare &square) {
    for (int64_t half = 0; half < kWidth; half += kHalf)
      squareToResults<Lanes>(from + half, apart, {square.rows, square.columns, square.to + half, square.rowStride});
  }

  /// Copies between a row whose channels are `apart` apart and a band, by squares of 8 x 8.
  template <bool ToBand> static void moveSquares(float *band, float *image, int64_t apart, int64_t count) {
    int64_t column = 0;
    auto square = [&](int64_t at, int64_t channel) {
      Words words[8];
      for (int64_t i = 0; i < kHalf; ++i)
        std::memcpy(&words[i], ToBand ? image + (channel + i) * apart + at : band + (at + i) * kWidth + channel,
                    sizeof(Words));
      transpose(words);
      for (int64_t i = 0; i < kHalf; ++i)
        std::memcpy(ToBand ? band + (at + i) * kWidth + channel : image + (channel + i) * apart + at, &words[i],
                    sizeof(Words));
    };
    for (; column + kHalf <= count; column += kHalf)
      for (int64_t channel = 0; channel < kWidth; channel += kHalf)
        square(column, channel);
    if (column < count && count >= kHalf) { // elements of a square before it, again
      for (int64_t channel = 0; channel < kWidth; channel += kHalf)
        square(count - kHalf, channel);
      return;
    }
    for (; column < count; ++column)
      for (int64_t channel = 0; channel < kWidth; ++channel)
        ToBand ? band[column * kWidth + channel] = image[channel * apart + column]
               : image[channel * apart + column] = band[column * kWidth + channel];
  }

  /// Copies a row of an image to a band.
  template <typename T> static void readRow(const ImageForm &form, const T *from, int64_t count, float *band) {
    if (form.block != 1)
      std::transform(from, from + count * kWidth, band, [](T x) { return float(widen(x)); });
    else if constexpr (std::is_same_v<T, float>)
      moveSquares<true>(band, const_cast<float *>(from), form.blockStride, count);
    else
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = 0; c < kWidth; ++c)
          band[i * kWidth + c] = widen(from[c * form.blockStride + i]);
  }

  /// Copies a row of a band to an image.
  template <typename T> static void writeRow(const ImageForm &form, float *band, int64_t count, T *to) {
    if (form.block != 1)
      std::transform(band, band + count * kWidth, to, [](float x) { return narrow<T>(x); });
    else if constexpr (std::is_same_v<T, float>)
      moveSquares<false>(band, to, form.blockStride, count);
    else
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = 0; c < kWidth; ++c)
          to[c * form.blockStride + i] = narrow<T>(band[i * kWidth + c]);
  }
};

WIDE_BEGIN

/// Loops by vectors of sixteen channels.
struct Wide {
  static void toPoints(const float *from, int64_t rowStride, float *to, int64_t apart) {
    squareToPoints<wide::Lanes>(from, rowStride, to, apart);
  }

  static void toResults(const float *from, int64_t apart, const ResultSquare &square) {
    squareToResults<wide::Lanes>(from, apart, square);
  }

  /// Calls fn(first, count) for pieces of at most kWidth of `count` elements; those of whole ones are constants.
  template <typename Fn> [[gnu::always_inline]] static void visitPieces(int64_t count, Fn fn) {
    int64_t first = 0;
    for (; first + kWidth <= count; first += kWidth)
      fn(first, std::integral_constant<int64_t, kWidth>());
    if (first < count)
      fn(first, count - first);
  }

  template <typename T> static void readRow(const ImageForm &form, const T *from, int64_t count, float *band) {
    if (form.block != 1) {
      for (int64_t i = 0; i < count; ++i)
        wide::store(wide::load(from + i * kWidth, wide::kAll), band + i * kWidth, wide::kAll);
      return;
    }
    const int64_t apart = form.blockStride;
    visitPieces(count, [&](int64_t first, auto size) {
      wide::Lanes square[kLanes];
      for (int64_t channel = 0; channel < kWidth; ++channel)
        square[channel] = wide::load(from + channel * apart + first, wide::firstOf(size));
      wide::transpose(square);
      for (int64_t i = 0; i < kWidth; ++i)
        if (i < size)
          std::memcpy(band + (first + i) * kWidth, &square[i], sizeof square[i]);
    });
  }

  template <typename T> static void writeRow(const ImageForm &form, const float *band, int64_t count, T *to) {
    if (form.block != 1) {
      for (int64_t i = 0; i < count; ++i)
        wide::store(wide::load(band + i * kWidth, wide::kAll), to + i * kWidth, wide::kAll);
      return;
    }
    const int64_t apart = form.blockStride;
    visitPieces(count, [&](int64_t first, auto size) {
      wide::Lanes square[kLanes] = {};
      for (int64_t i = 0; i < kWidth; ++i)
        if (i < size)
          std::memcpy(&square[i], band + (first + i) * kWidth, sizeof square[i]);
      wide::transpose(square);
      for (int64_t channel = 0; channel < kWidth; ++channel)
        wide::store(square[channel], to + channel * apart + first, wide::firstOf(size));
    });
  }
};

WIDE_END

template <typename Loops, typename T>
void fillBand(const WinogradShape &shape, const T *plane, int64_t top, int64_t left, const Band &band) {
  const ImageForm &form = shape.image;
  visitInside(shape.size, kPoints, band.columns, top, left, [&](int64_t row, int64_t begin, int64_t end) {
    std::fill(band.at(row, 0), band.at(row, begin), 0.0f);
    if (begin < end)
      Loops::readRow(form, plane + (top + row) * form.strides[1] + (left + begin) * form.strides[2], end - begin,
                     band.at(row, begin));
    std::fill(band.at(row, end), band.at(row, band.columns), 0.0f);
  });
}

template <typename Loops, typename T>
void toPointsOf(const WinogradShape &shape, const T *image, const SquareRun &run, int64_t channel, float *to,
                int64_t stride, int64_t apart, float *memory) {
  const ImageForm &form = shape.image;
  const T *plane = image + run.image * form.batchStride + form.channelAt(channel);
  const int64_t top = run.row * kResults - shape.pad[0];
  auto left = [&](int64_t square) { return (run.column + square) * kResults - shape.pad[1]; };
  if constexpr (std::is_same_v<T, float>)
    if (form.block != 1) {
      for (int64_t i = 0; i < run.count; ++i, to += stride) {
        const bool isInside =
            top >= 0 && top + kPoints <= shape.size[0] && left(i) >= 0 && left(i) + kPoints <= shape.size[1];
        if (isInside) {
          Loops::toPoints(plane + top * form.strides[1] + left(i) * kWidth, form.strides[1], to, apart);
          continue;
        }
        Band band{memory, kPoints};
        fillBand<Loops>(shape, plane, top, left(i), band);
        Loops::toPoints(band.data, kPoints * kWidth, to, apart);
      }
      return;
    }
  Band band{memory, run.count * kResults + kPlaces - 1};
  fillBand<Loops>(shape, plane, top, left(0), band);
  for (int64_t i = 0; i < run.count; ++i)
    Loops::toPoints(band.at(0, i * kResults), band.columns * kWidth, to + i * stride, apart);
}

template <typename Loops, typename T>
void toResultsOf(const WinogradShape &shape, const float *from, int64_t stride, int64_t apart, const SquareRun &run,
                 int64_t channel, T *out, float *memory) {
  const ImageForm &form = shape.result;
  const int64_t top = run.row * kResults, left = run.column * kResults;
  const int64_t rows = std::min<int64_t>(kResults, shape.results[0] - top),
                columns = std::min(run.count * kResults, shape.results[1] - left);
  T *corner =
      out + run.image * form.batchStride + form.channelAt(channel) + top * form.strides[1] + left * form.strides[2];
  Band band{memory, columns};
  int64_t rowStride = columns * kWidth;
  if constexpr (std::is_same_v<T, float>)
    if (form.block != 1) {
      band.data = corner;
      rowStride = form.strides[1];
    }
  for (int64_t i = 0; i < run.count; ++i)
    Loops::toResults(
        from + i * stride, apart,
        {rows, std::min<int64_t>(kResults, columns - i * kResults), band.data + i * kResults * kWidth, rowStride});
  if (band.data == memory)
    for (int64_t row = 0; row < rows; ++row)
      Loops::writeRow(form, band.at(row, 0), columns, corner + row * form.strides[1]);
}

} // namespace

size_t bandBytes(int64_t squares) {
  return size_t(kPoints * (squares * kResults + kPlaces - 1) * kWidth) * sizeof(float);
}

/// Calls fn(loops, element) with the loops of a width and an element of `dtype`.
template <typename Fn> static void withLoops(DType dtype, bool isWide, Fn &&fn) {
  wide::withElement(dtype, [&](auto element) { isWide ? fn(Wide(), element) : fn(Narrow(), element); });
}

void squaresToPoints(const WinogradShape &shape, bool isWide, const void *image, const SquareRun &run, int64_t channel,
                     float *to, int64_t stride, int64_t apart, float *band) {
  withLoops(shape.dtype, isWide, [&]<typename Loops, typename T>(Loops, T) {
    toPointsOf<Loops>(shape, static_cast<const T *>(image), run, channel, to, stride, apart, band);
  });
}

void pointsToResults(const WinogradShape &shape, bool isWide, const float *from, int64_t stride, int64_t apart,
                     const SquareRun &run, int64_t channel, void *out, float *band) {
  withLoops(shape.dtype, isWide, [&]<typename Loops, typename T>(Loops, T) {
    toResultsOf<Loops>(shape, from, stride, apart, run, channel, static_cast<T *>(out), band);
  });
}

} // namespace tess::runtime::contract::winograd
