//===- WinogradWeights.cpp - weights at the points ------------------------===//
#include "runtime/contract/Winograd.h"
#include "runtime/contract/WinogradMath.h"
#include "runtime/device/Elements.h"

#include <array>
#include <cstring>
#include <vector>

namespace tess::runtime::contract {

using namespace winograd;

namespace {

constexpr int kWeightPlaces = kPlaces * kPlaces;
constexpr int64_t kDoubles = 4;
using Doubles = double __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(16)));

Doubles loadWide(const float *from) {
  Floats lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return __builtin_convertvector(lanes, Doubles);
}

/// Three numbers at the points; those of +-p are a sum and a difference.
void toPoints(const Doubles (&d)[kPlaces], Doubles (&out)[kPoints]) {
  auto pair = [&](int point) {
    const Doubles even =
        __builtin_elementwise_fma(Doubles{} + weightFactor(point, 2), d[2], weightFactor(point, 0) * d[0]);
    const Doubles odd = weightFactor(point, 1) * d[1];
    out[point] = even + odd;
    out[point + 1] = even - odd;
  };
  out[0] = weightFactor(0, 0) * d[0];
  pair(1);
  pair(3);
  out[kPoints - 1] = d[2];
}

/// The lines of one channel of the image at all points, from those of its places.
void transformLines(const float *const (&places)[kWeightPlaces], float (&lines)[kSquare][kLanes]) {
  for (int64_t lane = 0; lane < int64_t(kLanes); lane += kDoubles)
    transformTwice<kPlaces, kPoints, Doubles>(
        [&](int y, int x, Doubles &to) { to = loadWide(places[y * kPlaces + x] + lane); },
        [](const auto &d, auto &out) { toPoints(d, out); },
        [&](int y, const Doubles(&points)[kPoints]) {
          for (int x = 0; x < kPoints; ++x) {
            const Floats rounded = __builtin_convertvector(points[x], Floats);
            std::memcpy(&lines[y * kPoints + x][lane], &rounded, sizeof rounded);
          }
        });
}

/// One panel of a weight whose places lie side by side, in float32.
void packPanel(DType dtype, const RightMatrix &weight, int64_t panel, float *to) {
  const int64_t rows = weight.runLength * int64_t(weight.runAt.size()), columns = (panel + 1) * int64_t(kLanes);
  if (dtype != DType::BFloat16)
    return packPanels(LineForm(dtype), weight, 0, rows, columns, panel, panel + 1, reinterpret_cast<char *>(to));
  auto *elements = static_cast<const BF16 *>(weight.data);
  for (int64_t place : weight.runAt)
    for (int64_t row = 0; row < weight.runLength; ++row)
      for (int64_t column = columns - kLanes; column < columns; ++column)
        *to++ = widen(elements[row * weight.rowStride + column * weight.columnStride + place]);
}

} // namespace

// In float64, rounded once.
void Winograd::transformPanels(const void *weight, int64_t first, int64_t last, float *to) const {
  constexpr std::array<int64_t, kWeightPlaces> at = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t apart = shape.in * int64_t(kLanes);
  std::vector<float> packed(size_t(kWeightPlaces * apart));
  const RightMatrix matrix{{weight, shape.weightIn, shape.weightOut}, shape.in, at};
  for (int64_t panel = first; panel < last; ++panel) {
    packPanel(shape.dtype, matrix, panel, packed.data());
    for (int64_t channel = 0; channel < shape.in; ++channel) {
      const float *places[kWeightPlaces];
      for (int place = 0; place < kWeightPlaces; ++place)
        places[place] =
            &packed[size_t((shape.flipsPlaces ? kWeightPlaces - 1 - place : place) * apart + channel * kLanes)];
      float lines[kSquare][kLanes];
      transformLines(places, lines);
      for (int64_t point = 0; point < kSquare; ++point)
        std::memcpy(to + (panel * kSquare + point) * pointStride() + channel * kLanes, lines[point],
                    sizeof lines[point]);
    }
  }
}

} // namespace tess::runtime::contract
