//===- StridedCopy.cpp - copying between layouts on the host --------------===//
#include "runtime/device/StridedCopy.h"

#include <array>
#include <cstring>

namespace tess::runtime {

namespace {

/// One axis of the walk; the outermost comes first, and strides are in bytes.
struct Axis {
  int64_t size, to, from;
};
using Axes = llvm::SmallVector<Axis, 8>;

} // namespace

/// The axes of the walk: neighbours that both sides walk in one piece are merged, axes of size 1 are dropped.
static Axes collapsed(const Layout &to, const Layout &from, int64_t width) {
  Axes axes;
  for (size_t i = 0; i < to.shape.size(); ++i) {
    Axis axis{to.shape[i], to.strides[i] * width, from.strides[i] * width};
    if (axis.size == 1)
      continue;
    if (!axes.empty() && axes.back().to == axis.to * axis.size && axes.back().from == axis.from * axis.size)
      axes.back() = {axes.back().size * axis.size, axis.to, axis.from};
    else
      axes.push_back(axis);
  }
  return axes;
}

template <typename T> static void copyLine(char *to, const char *from, const Axis &axis) {
  for (int64_t i = 0; i < axis.size; ++i)
    std::memcpy(to + i * axis.to, from + i * axis.from, sizeof(T));
}

static void copyInner(char *to, const char *from, const Axis &axis, int64_t width) {
  if (axis.to == width && axis.from == width) {
    std::memcpy(to, from, axis.size * width);
    return;
  }
  switch (width) {
  case 1:
    return copyLine<uint8_t>(to, from, axis);
  case 2:
    return copyLine<uint16_t>(to, from, axis);
  case 4:
    return copyLine<uint32_t>(to, from, axis);
  case 8:
    return copyLine<uint64_t>(to, from, axis);
  default:
    return copyLine<std::array<uint64_t, 2>>(to, from, axis);
  }
}

static void walk(char *to, const char *from, llvm::ArrayRef<Axis> axes, int64_t width) {
  if (axes.size() == 1)
    return copyInner(to, from, axes[0], width);
  for (int64_t i = 0; i < axes[0].size; ++i)
    walk(to + i * axes[0].to, from + i * axes[0].from, axes.drop_front(), width);
}

void copyStrided(void *destination, const Layout &to, const void *source, const Layout &from, int64_t width) {
  for (int64_t size : to.shape)
    if (size == 0)
      return;
  Axes axes = collapsed(to, from, width);
  if (axes.empty())
    axes.push_back({1, width, width});
  walk(static_cast<char *>(destination), static_cast<const char *>(source), axes, width);
}

std::pair<int64_t, int64_t> reachOf(const Layout &layout, int64_t width) {
  int64_t first = 0, last = 0;
  for (auto [size, stride] : llvm::zip(layout.shape, layout.strides))
    (stride < 0 ? first : last) += (size - 1) * stride;
  return {first * width, (last + 1) * width};
}

} // namespace tess::runtime
