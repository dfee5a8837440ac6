//===- Sizes.h - arguments of modules ---------------------------*- C++ -*-===//
#pragma once

#include "tessera/Tensor.h"

#include <array>

namespace tessera {

/// One number for all axes, or one for each: `3`, `{3, 5}`.
class Sizes {
public:
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Sizes(T all) : numbers{int64_t(all)}, forAll(true) {}
  Sizes(std::initializer_list<int64_t> each) : numbers(each) {}
  Sizes(const Shape &each) : numbers(each) {}
  Sizes() = default;

  /// Whether it is one number for all axes.
  bool isOne() const { return forAll; }
  /// The numbers as they were given.
  const Shape &list() const { return numbers; }
  /// The numbers of so many axes.
  Shape each(int64_t axes) const { return forAll ? Shape(axes, numbers[0]) : numbers; }

private:
  Shape numbers;
  bool forAll = false;
};

/// Elements (before, after) along each axis.
using Widths = std::vector<Shape>;

/// The state (h, c) of a long short-term memory; undefined tensors: zeros.
using States = std::array<Tensor, 2>;

} // namespace tessera
