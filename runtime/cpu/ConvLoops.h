//===- ConvLoops.h - convolutions by plain loops ----------------*- C++ -*-===//
//
// Each element is one sum in a fixed order (channels, then window; for the
// weight's gradient batch, then rows). A plane or a window's weights are computed
// at a time, so threads split whole results only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/ConvShape.h"

#include <vector>

namespace tess::runtime::cpu {

/// The output columns [first, last) for which window column `k` is inside the input.
struct Columns {
  int64_t first, last, input; // `input`: the column that `first` reads
};

inline Columns columnsOf(const SpatialAxis &axis, int64_t k) {
  int64_t shift = k * axis.dilation - axis.pad;
  int64_t first = shift < 0 ? (-shift + axis.stride - 1) / axis.stride : 0;
  int64_t last = axis.size - 1 - shift < 0 ? 0 : (axis.size - 1 - shift) / axis.stride + 1;
  return {first, std::max(first, std::min(last, axis.results)), first * axis.stride + shift};
}

/// Loops whose sums are of this type; load(element) is a number of it.
template <typename Sum> class ConvLoops {
public:
  explicit ConvLoops(const ConvShape &shape) : s(shape) {}

  /// The sums of plane `index` of the result of image and weight.
  template <typename X, typename W, typename LoadX, typename LoadW>
  void forwardPlane(int64_t index, const X *x, const W *w, LoadX loadX, LoadW loadW, std::vector<Sum> &sums) const {
    int64_t o = index % s.out, g = index / s.out % s.groups, n = index / s.out / s.groups, stride = width().stride;
    sums.assign(s.resultPlane(), 0);
    for (int64_t i = 0; i < s.in; ++i)
      places([&](const Place &place) {
        Columns c = columnsOf(width(), place.column);
        const Sum factor = loadW(w[weightAt(g, o, i, place)]);
        rows(place, [&](int64_t row, int64_t inputRow) {
          const X *from = sourceRow(x, n, g, i, inputRow) + c.input;
          Sum *to = sums.data() + row * width().results + c.first;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            to[j] += Sum(factor * loadX(from[j * stride]));
        });
      });
  }

  /// The sums of plane `index` of the image's gradient, of weight and result.
  template <typename W, typename Y, typename LoadW, typename LoadY>
  void dataPlane(int64_t index, const W *w, const Y *y, LoadW loadW, LoadY loadY, std::vector<Sum> &sums) const {
    int64_t i = index % s.in, g = index / s.in % s.groups, n = index / s.in / s.groups, stride = width().stride;
    sums.assign(s.plane(), 0);
    for (int64_t o = 0; o < s.out; ++o)
      places([&](const Place &place) {
        Columns c = columnsOf(width(), place.column);
        const Sum factor = loadW(w[weightAt(g, o, i, place)]);
        rows(place, [&](int64_t row, int64_t inputRow) {
          const Y *from = targetRow(y, n, g, o, row) + c.first;
          Sum *to = sums.data() + inputRow * width().size + c.input;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            to[j * stride] += Sum(factor * loadY(from[j]));
        });
      });
  }

  /// Calls write(place of the window, sum) for window `index` of the weight's gradient, of image and result.
  template <typename T, typename Load, typename Write>
  void weightPlane(int64_t index, const T *x, const T *y, Load load, Write write) const {
    int64_t i = index % s.in, o = index / s.in % s.out, g = index / s.in / s.out, stride = width().stride;
    places([&](const Place &place) {
      Columns c = columnsOf(width(), place.column);
      Sum sum = 0;
      for (int64_t n = 0; n < s.batch; ++n)
        rows(place, [&](int64_t row, int64_t inputRow) {
          const T *a = sourceRow(x, n, g, i, inputRow) + c.input;
          const T *b = targetRow(y, n, g, o, row) + c.first;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            sum += Sum(load(a[j * stride]) * load(b[j]));
        });
      write(place.index, sum);
    });
  }

private:
  const SpatialAxis &depth() const { return s.axes[0]; }
  const SpatialAxis &height() const { return s.axes[1]; }
  const SpatialAxis &width() const { return s.axes[2]; }

  /// A row of channel `i` of a group of the forward convolution's operand, and one of channel `o` of its result; rows
  /// count over depth and height.
  template <typename T> const T *sourceRow(const T *x, int64_t n, int64_t g, int64_t i, int64_t row) const {
    return x + ((n * s.groups + g) * s.in + i) * s.plane() + row * width().size;
  }
  template <typename T> const T *targetRow(const T *y, int64_t n, int64_t g, int64_t o, int64_t row) const {
    return y + ((n * s.groups + g) * s.out + o) * s.resultPlane() + row * width().results;
  }

  /// A place in a window, and its number in row-major order.
  struct Place {
    int64_t depth, row, column, index;
  };
  /// Calls fn for every place of the window in row-major order.
  template <typename Fn> void places(Fn &&fn) const {
    for (int64_t index = 0; index < s.window(); ++index) {
      int64_t row = index / width().kernel;
      fn(Place{row / height().kernel, row % height().kernel, index % width().kernel, index});
    }
  }

  int64_t weightAt(int64_t g, int64_t o, int64_t i, const Place &place) const {
    return ((g * s.out + o) * s.in + i) * s.window() + place.index;
  }
  /// Calls fn(output row, input row) for the rows where the place is inside the input.
  template <typename Fn> void rows(const Place &place, Fn &&fn) const {
    for (int64_t d = 0; d < depth().results; ++d) {
      int64_t slice = d * depth().stride - depth().pad + place.depth * depth().dilation;
      if (slice < 0 || slice >= depth().size)
        continue;
      for (int64_t row = 0; row < height().results; ++row) {
        int64_t input = row * height().stride - height().pad + place.row * height().dilation;
        if (input >= 0 && input < height().size)
          fn(d * height().results + row, slice * height().size + input);
      }
    }
  }

  const ConvShape s;
};

} // namespace tess::runtime::cpu
