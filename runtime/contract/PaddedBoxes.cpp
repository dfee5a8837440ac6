//===- PaddedBoxes.cpp - parts of images with their margins ---------------===//
#include "runtime/contract/PaddedBoxes.h"

#include "runtime/contract/Transpose.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

using llvm::divideCeil;

PaddedBoxes::PaddedBoxes(const WindowAxes &axes, int64_t lanes, int64_t vector, BoxLimits limits)
    : axes(axes), lanes(lanes), vector(vector), residues(lanes == 1 ? axes[2].stride : 1),
      columnStep(lanes == 1 ? 1 : lanes * axes[2].stride) {
  const int64_t margin = std::max<int64_t>(0, axes[2].pad - lowest(2));
  if (residues == 1 && lanes == 1)
    lead = int64_t(llvm::alignTo(uint64_t(margin), uint64_t(vector))) - margin;
  for (unsigned axis = Windows::kAxes; axis-- > 0;)
    resize(axis, axes[axis].results);
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis) {
    const int64_t least = axis + 1 == Windows::kAxes && lanes == 1 ? std::min(vector, axes[axis].results) : 1;
    for (int64_t parts = 2; !isWithin(limits) && most[axis] > least; ++parts)
      resize(axis, std::max(least, int64_t(divideCeil(axes[axis].results, parts))));
  }
}

void PaddedBoxes::resize(unsigned axis, int64_t count) {
  most[axis] = count;
  boxes[axis] = divideCeil(axes[axis].results, count);
  copied[axis] = reachOf(axis, count);
  linePitch = divideCeil(copied[2], residues) + lead;
  if (lanes == 1)
    linePitch = int64_t(llvm::alignTo(uint64_t(linePitch), uint64_t(vector)));
  rowPitch = residues * linePitch * lanes;
}

bool PaddedBoxes::isWithin(BoxLimits limits) const {
  return elements() <= limits.elements && most[0] * most[1] * vectors(most[2]) <= limits.vectors;
}

int64_t PaddedBoxes::reachOf(unsigned axis, int64_t count) const {
  const WindowAxis &along = axes[axis];
  return (count - 1) * along.stride + (along.kernel - 1) * std::abs(along.dilation) + 1;
}

int64_t PaddedBoxes::lowest(unsigned axis) const {
  return std::min<int64_t>(0, (axes[axis].kernel - 1) * axes[axis].dilation);
}

WindowBox PaddedBoxes::box(int64_t number) const {
  WindowBox box;
  for (unsigned axis = Windows::kAxes; axis-- > 0; number /= boxes[axis]) {
    const WindowAxis &along = axes[axis];
    box.first[axis] = number % boxes[axis] * most[axis];
    box.counts[axis] = std::min(most[axis], along.results - box.first[axis]);
    box.begin[axis] = box.first[axis] * along.stride - along.pad + lowest(axis);
    box.reach[axis] = reachOf(axis, box.counts[axis]);
    box.insideFirst[axis] = std::clamp<int64_t>(-box.begin[axis], 0, box.reach[axis]);
    box.inside[axis] =
        std::max<int64_t>(0, std::min(box.reach[axis], along.size - box.begin[axis]) - box.insideFirst[axis]);
  }
  findLines(box);
  return box;
}

void PaddedBoxes::findLines(WindowBox &box) const {
  const int64_t first = box.insideFirst[2], last = first + box.inside[2];
  for (int64_t residue = 0; residue < residues; ++residue) {
    auto before = [&](int64_t end) { return end <= residue ? 0 : int64_t(divideCeil(end - residue, residues)); };
    const int64_t from = before(first);
    box.lines.push_back({from, before(last), box.begin[2] + residue + from * residues});
  }
}

int64_t PaddedBoxes::placeAt(const Numbers &place) const {
  Numbers at;
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
    at[axis] = place[axis] * axes[axis].dilation - lowest(axis);
  const int64_t column = lead + at[2] % residues * linePitch + at[2] / residues;
  return (at[0] * copied[1] + at[1]) * rowPitch + column * lanes;
}

namespace {

/// Elements that are copied at a time.
constexpr int64_t kVector = 8, kHalf = kVector / 2;

template <int64_t kCount, typename T, typename Sum> void copyFixed(const T *from, Sum *to) {
  T elements[kCount];
  Sum sums[kCount];
  std::memcpy(elements, from, sizeof elements);
  for (int64_t i = 0; i < kCount; ++i)
    sums[i] = Sum(widen(elements[i]));
  std::memcpy(to, sums, sizeof sums);
}

/// Copies elements 0, 2, 4 .. and 1, 3, 5 .. of `count`.
template <typename T, typename Sum> void copyPairs(const T *from, int64_t count, Sum *even, Sum *odd) {
  using Raw = std::conditional_t<std::is_same_v<T, BF16>, uint16_t, T>;
  using Vector = Raw __attribute__((ext_vector_type(kVector)));
  int64_t i = 0;
  for (; i + 2 * kVector <= count; i += 2 * kVector) {
    Vector both[2];
    std::memcpy(both, from + i, sizeof both);
    const Vector apart[2] = {__builtin_shufflevector(both[0], both[1], 0, 2, 4, 6, 8, 10, 12, 14),
                             __builtin_shufflevector(both[0], both[1], 1, 3, 5, 7, 9, 11, 13, 15)};
    copyFixed<kVector>(reinterpret_cast<const T *>(&apart[0]), even + i / 2);
    copyFixed<kVector>(reinterpret_cast<const T *>(&apart[1]), odd + i / 2);
  }
  for (; i < count; ++i)
    (i % 2 ? odd : even)[i / 2] = Sum(widen(from[i]));
}

template <int64_t kCount, typename T, typename Sum> void copyRun(const T *from, int64_t count, Sum *to) {
  int64_t i = 0;
  for (; i + kCount <= count; i += kCount)
    copyFixed<kCount>(from + i, to + i);
  if (i < count)
    copyFixed<kCount>(from + count - kCount, to + count - kCount);
}

template <typename T, typename Sum> void copyStrided(const T *from, int64_t step, int64_t count, Sum *to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = Sum(widen(from[i * step]));
}

template <typename T> bool areSideBySide(const Channels<T> &channels) {
  for (int64_t lane = 1; lane < int64_t(kLanes); ++lane)
    if (channels.laneAt[lane] != channels.laneAt[0] + lane)
      return false;
  return true;
}

/// Copies kLanes channels of `count` elements that are `step` apart.
template <typename T, typename Sum>
void copyLanes(const Channels<T> &channels, const T *from, int64_t step, int64_t count, Sum *to) {
  constexpr int64_t kWidth = kLanes, kSide = 8;
  int64_t i = 0;
  if constexpr (std::is_same_v<T, float>)
    for (; step == 1 && i + kSide <= count; i += kSide)
      for (int64_t lane = 0; lane < kWidth; lane += kSide) {
        Words square[kSide];
        for (int64_t k = 0; k < kSide; ++k)
          std::memcpy(&square[k], from + channels.laneAt[lane + k] + i, sizeof(Words));
        transpose(square);
        for (int64_t k = 0; k < kSide; ++k)
          std::memcpy(to + (i + k) * kWidth + lane, &square[k], sizeof(Words));
      }
  for (; i < count; ++i)
    for (int64_t lane = 0; lane < kWidth; ++lane)
      to[i * kWidth + lane] = Sum(widen(from[channels.laneAt[lane] + i * step]));
}

} // namespace

template <typename T, typename Sum>
void PaddedBoxes::copy(const WindowBox &box, const Channels<T> &channels, Sum *to) const {
  const int64_t step = residues * channels.strides[2];
  auto eachRow = [&](auto copyRow) {
    for (int64_t depth = box.insideFirst[0]; depth < box.insideFirst[0] + box.inside[0]; ++depth) {
      const T *row = channels.data + (box.begin[0] + depth) * channels.strides[0] +
                     (box.begin[1] + box.insideFirst[1]) * channels.strides[1];
      Sum *copy = to + (depth * copied[1] + box.insideFirst[1]) * rowPitch + lead * lanes;
      for (int64_t i = 0; i < box.inside[1]; ++i, row += channels.strides[1], copy += rowPitch)
        copyRow(row, copy);
    }
  };
  auto eachRun = [&](auto copyRun) {
    eachRow([&](const T *row, Sum *copy) {
      for (int64_t line = 0; line < residues; ++line, copy += linePitch * lanes) {
        const auto [first, last, at] = box.lines[line];
        copyRun(row + at * channels.strides[2], last - first, copy + first * lanes);
      }
    });
  };
  auto of = [&](const T *from) { return from + channels.laneAt[0]; };
  if (lanes == 1 && step == 1 && box.inside[2] >= kVector)
    eachRun([&](const T *from, int64_t count, Sum *copy) { copyRun<kVector>(of(from), count, copy); });
  else if (lanes == 1 && step == 1 && box.inside[2] >= kHalf)
    eachRun([&](const T *from, int64_t count, Sum *copy) { copyRun<kHalf>(of(from), count, copy); });
  else if (lanes == 1 && step == 2 && residues == 2 && box.inside[2] > 1)
    eachRow([&](const T *row, Sum *copy) {
      const int64_t line = box.insideFirst[2] % 2; // of the first element
      const T *from = row + box.begin[2] + box.insideFirst[2];
      copyPairs(of(from), box.inside[2], copy + line * linePitch + box.lines[line].first,
                copy + (1 - line) * linePitch + box.lines[1 - line].first);
    });
  else if (lanes == 1)
    eachRun([&](const T *from, int64_t count, Sum *copy) { copyStrided(of(from), step, count, copy); });
  else if (areSideBySide(channels))
    eachRun([&](const T *from, int64_t count, Sum *copy) {
      from = of(from);
      for (int64_t i = 0; i < count; ++i, from += step, copy += kLanes)
        copyFixed<kLanes>(from, copy);
    });
  else
    eachRun([&](const T *from, int64_t count, Sum *copy) { copyLanes(channels, from, step, count, copy); });
}

template void PaddedBoxes::copy(const WindowBox &, const Channels<float> &, float *) const;
template void PaddedBoxes::copy(const WindowBox &, const Channels<double> &, double *) const;
template void PaddedBoxes::copy(const WindowBox &, const Channels<F16> &, float *) const;
template void PaddedBoxes::copy(const WindowBox &, const Channels<BF16> &, float *) const;

} // namespace tess::runtime::contract
