//===- ConvCases.h - convolutions of tests ----------------------*- C++ -*-===//
#pragma once

#include "tests/runtime/KernelHarness.h"

namespace tess::test {

/// A convolution of as many axes as its attributes have numbers.
struct ConvCase {
  Shape x, weight;
  IntList strides = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
};

inline OpDef makeConv(const std::string &name, const ConvCase &c) {
  OpDef op = OpDef::get(name);
  op.set("strides", c.strides).set("padding", c.padding).set("dilation", c.dilation).set("groups", c.groups);
  return op;
}

/// The elements of a float32 tensor, rounded to `dtype`.
inline HostTensor convertedTo(HostTensor from, DType dtype) {
  HostTensor out(dtype, from.meta.shape);
  auto values = from.values<float>();
  runtime::withType(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < values.size(); ++i)
      out.as<T>()[i] = runtime::narrow<T>(values[i]);
  });
  return out;
}

/// Place `index` of a box, by axis.
inline Shape placeIn(llvm::ArrayRef<int64_t> box, int64_t index) {
  Shape place(box.size());
  for (size_t axis = box.size(); axis-- > 0; index /= box[axis])
    place[axis] = index % box[axis];
  return place;
}

/// Places of a box.
inline int64_t countOf(llvm::ArrayRef<int64_t> box) {
  int64_t count = 1;
  for (int64_t size : box)
    count *= size;
  return count;
}

/// The element of an image plane that place `k` of window `at` covers; -1 for padding.
inline int64_t covered(const ConvCase &c, llvm::ArrayRef<int64_t> plane, const Shape &at, const Shape &k) {
  int64_t element = 0;
  for (size_t axis = 0; axis < plane.size(); ++axis) {
    int64_t place = at[axis] * c.strides[axis] - c.padding[axis] + k[axis] * c.dilation[axis];
    if (place < 0 || place >= plane[axis])
      return -1;
    element = element * plane[axis] + place;
  }
  return element;
}

/// Calls fn(x offset, weight offset, out offset) for every product of a convolution.
template <typename Fn> void products(const ConvCase &c, const Shape &out, Fn &&fn) {
  llvm::ArrayRef<int64_t> plane = llvm::ArrayRef(c.x).drop_front(2), window = llvm::ArrayRef(c.weight).drop_front(2),
                          results = llvm::ArrayRef(out).drop_front(2);
  int64_t inPerGroup = c.x[1] / c.groups, outPerGroup = out[1] / c.groups;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t at = 0; at < countOf(results); ++at)
        for (int64_t i = 0; i < inPerGroup; ++i)
          for (int64_t k = 0; k < countOf(window); ++k) {
            int64_t element = covered(c, plane, placeIn(results, at), placeIn(window, k));
            if (element < 0)
              continue;
            int64_t channel = o / outPerGroup * inPerGroup + i;
            fn((n * c.x[1] + channel) * countOf(plane) + element, (o * inPerGroup + i) * countOf(window) + k,
               (n * out[1] + o) * countOf(results) + at);
          }
}

/// "conv2d" and the like, for as many axes as the case has.
inline std::string namedConv(const ConvCase &c, const std::string &prefix, const std::string &suffix = "") {
  return prefix + std::to_string(c.x.size() - 2) + "d" + suffix;
}

/// The transposed convolution that undoes the case's shapes.
inline OpDef transposedConv(const ConvCase &c, const Shape &out) {
  IntList outside;
  for (size_t axis = 0; axis < c.strides.size(); ++axis)
    outside.push_back(c.x[2 + axis] - ((out[2 + axis] - 1) * c.strides[axis] - 2 * c.padding[axis] +
                                       c.dilation[axis] * (c.weight[2 + axis] - 1) + 1));
  return makeConv(namedConv(c, "conv_transpose"), c).set("output_padding", outside);
}

} // namespace tess::test
