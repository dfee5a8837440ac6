//===- DepthwiseWeightWide.cpp - gradients of weights by 512 bits ---------===//
//
// Windows of 3 x 3 places, whose images are read in place: a vector has 8 windows
// of a row of each of two channels, as the other loops have them in two vectors.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/DepthwiseWeight.h"

#include "runtime/contract/Kernels.h"
#include "runtime/contract/WideLanes.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes, kHalf = kWidth / 2;
constexpr int kSide = 3, kPlaces = kSide * kSide, kTwins = 2;

} // namespace

bool DepthwiseWeight::takesWide(const DepthwiseWeightShape &shape) {
  const WindowAxis &depth = shape.axes[0], &rows = shape.axes[1], &columns = shape.axes[2];
  auto isPlain = [](const WindowAxis &axis) { return axis.kernel == kSide && axis.dilation == 1 && axis.stride <= 2; };
  return hasWideVectors() && shape.dtype != DType::Float64 && depth.kernel == 1 && isPlain(rows) && isPlain(columns) &&
         rows.stride == columns.stride;
}

WIDE_BEGIN

namespace {

using wide::Lanes;
using wide::Words;

/// The elements that windows have at the places of a row.
struct RowElements {
  Lanes at[kSide];
};

template <typename T, int kStride> class Twins {
public:
  Twins(const DepthwiseWeightShape &shape, const PaddedBoxes &boxes, const T *operand, const T *gradient,
        const T *zeros)
      : shape(shape), boxes(boxes), operand(operand), gradient(gradient), zeros(zeros) {
    for (int place = 0; place < (kStride == 1 ? kSide : 2); ++place)
      for (int lane = 0; lane < int(kLanes); ++lane)
        picks[place][lane] = lane % int(kHalf) * kStride + place + (lane < int(kHalf) ? 0 : int(kLanes));
  }

  /// Writes the gradients of channels [begin, end) of the result.
  void run(int64_t begin, int64_t end, int64_t pieceImages, T *out) {
    for (int64_t channel = begin; channel < end; channel += kTwins) {
      const int64_t count = std::min<int64_t>(kTwins, end - channel);
      double totals[kTwins][kPlaces] = {};
      for (int64_t number = 0; number < boxes.count(); ++number) {
        box = boxes.box(number);
        for (int64_t image = 0; image < shape.batch; image += pieceImages)
          addPiece(image, std::min(image + pieceImages, shape.batch), channel, channel + count - 1, totals);
      }
      for (int64_t i = 0; i < count; ++i)
        for (int place = 0; place < kPlaces; ++place)
          out[(channel + i) * kPlaces + place] = narrow<T>(float(totals[i][place]));
    }
  }

private:
  /// Adds the products of the box of images [image, end).
  void addPiece(int64_t image, int64_t end, int64_t first, int64_t second, double (&totals)[kTwins][kPlaces]) {
    Lanes sums[kPlaces] = {};
    for (; image < end; ++image) {
      setChannel(0, image, first);
      setChannel(1, image, second);
      for (int64_t column = 0; column < box.counts[2]; column += kHalf)
        addColumn(column, sums);
    }
    for (int place = 0; place < kPlaces; ++place) {
      const Lanes added = wide::addedHalves(sums[place]);
      totals[0][place] += double(added[0]);
      totals[1][place] += double(added[kHalf]);
    }
  }

  void setChannel(int twin, int64_t image, int64_t channel) {
    from[twin] = operand + image * shape.operand.batchStride + shape.operand.channelAt(channel / shape.results);
    factors[twin] = gradient + image * shape.result.batchStride + shape.result.channelAt(channel);
  }

  /// Adds the products of windows [column, column + kHalf) of the rows of the box.
  [[gnu::noinline]] void addColumn(int64_t column, Lanes (&sums)[kPlaces]) {
    const WindowAxis &along = shape.axes[2];
    const int64_t count = std::min(kHalf, box.counts[2] - column);
    windows = wide::firstOf(count);
    left = (box.first[2] + column) * kStride - along.pad;
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t first = std::clamp<int64_t>(-left - 2 * i, 0, kWidth),
                    last = std::clamp<int64_t>(along.size - left - 2 * i, 0, kWidth);
      inside[i] = wide::Mask(wide::firstOf(last) & ~wide::firstOf(first));
    }
    Lanes local[kPlaces];
    std::memcpy(local, sums, sizeof sums);
    for (int64_t depth = 0; depth < box.counts[0]; ++depth)
      kStride == 1 ? addNeighbours(box.first[0] + depth, column, local) : addApart(box.first[0] + depth, column, local);
    std::memcpy(sums, local, sizeof sums);
  }

  /// Adds a slice whose windows have the rows of those before, one on: row by row of the image.
  [[gnu::always_inline]] void addNeighbours(int64_t depth, int64_t column, Lanes (&sums)[kPlaces]) const {
    const int64_t rows = box.counts[1];
    Lanes ofRows[kSide] = {}; // gradients of the windows that have the row as their first one, and of those before
    for (int64_t row = 0; row < rows + kSide - 1; ++row) {
      ofRows[2] = ofRows[1];
      ofRows[1] = ofRows[0];
      if (row < rows)
        ofRows[0] = factorsOf(depth, row, column);
      const RowElements elements = elementsOf(depth, box.first[1] + row - shape.axes[1].pad);
      if (row < rows)
        addRow<0>(elements, ofRows[0], sums);
      if (row >= 1 && row - 1 < rows)
        addRow<1>(elements, ofRows[1], sums);
      if (row >= 2)
        addRow<2>(elements, ofRows[2], sums);
    }
  }

  /// Adds a slice of windows two rows apart, which have one row of those before.
  [[gnu::always_inline]] void addApart(int64_t depth, int64_t column, Lanes (&sums)[kPlaces]) const {
    const int64_t top = box.first[1] * kStride - shape.axes[1].pad;
    RowElements last = elementsOf(depth, top);
    for (int64_t row = 0; row < box.counts[1]; ++row) {
      const Lanes factor = factorsOf(depth, row, column);
      addRow<0>(last, factor, sums);
      addRow<1>(elementsOf(depth, top + row * kStride + 1), factor, sums);
      last = elementsOf(depth, top + row * kStride + 2);
      addRow<2>(last, factor, sums);
    }
  }

  template <int kRow>
  [[gnu::always_inline]] static void addRow(const RowElements &elements, Lanes factor, Lanes (&sums)[kPlaces]) {
    for (int place = 0; place < kSide; ++place)
      sums[kRow * kSide + place] = __builtin_elementwise_fma(elements.at[place], factor, sums[kRow * kSide + place]);
  }

  /// The gradients of windows of a row of the box.
  [[gnu::always_inline]] Lanes factorsOf(int64_t depth, int64_t row, int64_t column) const {
    const int64_t at =
        depth * shape.result.strides[0] + (box.first[1] + row) * shape.result.strides[1] + box.first[2] + column;
    return wide::joined(wide::load(factors[0] + at, windows),
                        wide::load(factors[1] + at - kHalf, wide::Mask(windows << kHalf)));
  }

  /// The elements of row `row` of an image, zeros beyond its edges and for what is no window.
  [[gnu::always_inline]] RowElements elementsOf(int64_t depth, int64_t row) const {
    const int64_t plane = depth * shape.axes[0].stride - shape.axes[0].pad;
    const bool isInside =
        uint64_t(plane) < uint64_t(shape.axes[0].size) && uint64_t(row) < uint64_t(shape.axes[1].size);
    const int64_t at = plane * shape.operand.strides[0] + row * shape.operand.strides[1] + left;
    const T *rows[kTwins] = {isInside ? from[0] + at : zeros + left, isInside ? from[1] + at : zeros + left};
    const wide::Mask both = wide::Mask(windows | windows << kHalf);
    const Lanes a = wide::load(rows[0], inside[0]), b = wide::load(rows[1], inside[0]);
    RowElements elements;
    if constexpr (kStride == 1) {
      for (int place = 0; place < kSide; ++place)
        elements.at[place] = wide::picked(a, picks[place], b, both);
    } else {
      elements.at[0] = wide::picked(a, picks[0], b, both);
      elements.at[1] = wide::picked(a, picks[1], b, both);
      elements.at[2] =
          wide::picked(wide::load(rows[0] + 2, inside[1]), picks[0], wide::load(rows[1] + 2, inside[1]), both);
    }
    return elements;
  }

  const DepthwiseWeightShape &shape;
  const PaddedBoxes &boxes;
  const T *const operand;
  const T *const gradient;
  const T *const zeros;
  Words picks[kSide] = {};
  WindowBox box;
  const T *from[kTwins] = {}, *factors[kTwins] = {};
  int64_t left = 0;          // element of a row at which the column's first window begins
  wide::Mask windows = 0;    // of the column
  wide::Mask inside[2] = {}; // elements from `left` on, and two behind it
};

} // namespace

WIDE_END

void DepthwiseWeight::runWide(int64_t begin, int64_t end, const void *operand, const void *gradient, void *out) const {
  wide::withElement(shape.dtype, [&]<typename T>(T) {
    auto run = [&](auto twins) {
      twins.run(begin * shape.results, end * shape.results, pieceImages, static_cast<T *>(out));
    };
    const T *images = static_cast<const T *>(operand), *gradients = static_cast<const T *>(gradient),
            *none = reinterpret_cast<const T *>(zeros.data());
    if (shape.axes[1].stride == 1)
      run(Twins<T, 1>(shape, boxes, images, gradients, none));
    else
      run(Twins<T, 2>(shape, boxes, images, gradients, none));
  });
}

} // namespace tess::runtime::contract
