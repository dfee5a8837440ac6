//===- QuantizedRefusals.h - what quantized products refuse -----*- C++ -*-===//
#pragma once

#include "ops/table/Builtin.h"

namespace tess::test {

/// A call and the error that it must be.
struct Refusal {
  OpDef op;
  Metas operands;
  std::string text;
};

inline TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }
inline TensorMeta i32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Int32, shape); }
inline TensorMeta i8(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Int8, shape); }

/// `sizes`, then axes of one element, as an image of `axes` has.
inline Shape withOnes(llvm::ArrayRef<int64_t> sizes, int axes) {
  Shape shape(sizes);
  shape.append(size_t(axes), 1);
  return shape;
}

inline std::vector<Refusal> quantizedRefusals() {
  constexpr int64_t kDepth = 140000;
  std::vector<Refusal> list = {
      {builtin::IntegerMatmul(),
       {i8({1, kDepth}), i8({kDepth, 1})},
       "integer_matmul: depth (140000, at most 131071) must keep sums within int32, got x i8[1, 140000] and y "
       "i8[140000, 1]"},
      {builtin::SimulatedLinear(DType::Int16),
       {f32({2, 3}), f32({4, 3}), f32({}), i32({}), f32({})},
       "simulated_linear: dtype must be int8 or uint8, got i16"},
      {builtin::SimulatedMatmul(DType::Int8, DType::Int32),
       {f32({2, 3}), f32({3, 4}), f32({}), i32({}), f32({}), i32({})},
       "simulated_matmul: dtypes must be int8 or uint8, got i8 and i32"},
      {builtin::WeightOnlyLinear(2),
       {f32({2, 3}), i8({4, 3}), f32({4})},
       "weight_only_linear: bits must be 4 or 8, got 2"},
      {builtin::WeightOnlyLinear(8, 24),
       {f32({2, 24}), i8({4, 24}), f32({4, 1})},
       "weight_only_linear: group must be 0 or a power of 2 from 8 to 256, got 24"},
      {builtin::WeightOnlyLinear(4),
       {f32({2, 5}), i8({4, 5}), f32({4})},
       "weight_only_linear: weight must have the numbers of each column of x, got x f32[2, 5], weight i8[4, 5] and "
       "bits "
       "4"},
      {builtin::WeightOnlyLinear(8, 8),
       {f32({2, 9}), i8({4, 9}), f32({4, 1})},
       "weight_only_linear: scale must have one for each channel, or for each group of it, got scale f32[4, 1], x "
       "f32[2, 9] and group 8"}};
  const Metas fused = {i8({1, 2, 1, 1}), i8({2, 2, 1, 1}), f32({}), i32({}), f32({}), f32({}), i32({}), f32({7})};
  list.push_back({OpDef::get("quantized_conv2d"), fused,
                  "quantized_conv2d: weight_scale and bias must be one number or one for each output channel, got bias "
                  "f32[7] and weight i8[2, 2, 1, 1]"});
  for (int axes = 1; axes <= 3; ++axes) {
    const std::string dims = std::to_string(axes) + "d", integer = "integer_conv", simulated = "simulated_conv";
    const TensorMeta image = i8(withOnes({1, kDepth}, axes)), deep = i8(withOnes({kDepth, 1}, axes));
    const std::string must = ": depth (140000, at most 131071) must keep sums within int32, got x " + toString(image);
    list.push_back(
        {OpDef::get(integer + dims), {image, image}, integer + dims + must + " and weight " + toString(image)});
    list.push_back({OpDef::get(integer + "_transpose" + dims),
                    {image, deep},
                    integer + "_transpose" + dims + must + " and weight " + toString(deep)});
    for (const std::string &name : {simulated + dims, simulated + "_transpose" + dims})
      list.push_back({OpDef::get(name),
                      {f32(withOnes({1, 2}, axes)), f32(withOnes({2, 2}, axes)), f32({}), i32({}), f32({7})},
                      name +
                          ": weight_scale must be one number or one for each output channel, got weight_scale f32[7] "
                          "and weight " +
                          toString(f32(withOnes({2, 2}, axes)))});
  }
  return list;
}

} // namespace tess::test
