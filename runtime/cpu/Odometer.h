//===- Odometer.h - walking a shape over several layouts --------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"

#include <array>

namespace tess::runtime::cpu {

/// Steps through a shape in row-major order, along N layouts at once.
template <size_t N> class Odometer {
public:
  Odometer(const Shape &shape, std::array<Shape, N> strides) : shape(shape), strides(std::move(strides)) {
    index.assign(shape.size(), 0);
  }

  /// The present element in a layout, in elements from its element 0.
  int64_t offset(size_t layout) const { return offsets[layout]; }
  /// The index along an axis.
  int64_t at(size_t axis) const { return index[axis]; }

  /// Goes to element `number` in this order, which is one of the shape's or 0.
  void seek(int64_t number) {
    index.assign(shape.size(), 0);
    offsets = {};
    for (size_t axis = shape.size(); number > 0 && axis-- > 0; number /= shape[axis]) {
      index[axis] = number % shape[axis];
      for (size_t i = 0; i < N; ++i)
        offsets[i] += index[axis] * strides[i][axis];
    }
  }

  /// Goes to the next element; after the last one to the first.
  void next() {
    for (size_t axis = shape.size(); axis-- > 0;) {
      for (size_t i = 0; i < N; ++i)
        offsets[i] += strides[i][axis];
      if (++index[axis] < shape[axis])
        return;
      for (size_t i = 0; i < N; ++i)
        offsets[i] -= strides[i][axis] * shape[axis];
      index[axis] = 0;
    }
  }

private:
  Shape shape;
  std::array<Shape, N> strides;
  Shape index;
  std::array<int64_t, N> offsets = {};
};

/// Elements of a shape.
inline int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

} // namespace tess::runtime::cpu
