//===- inference_test.cpp - shapes, dtypes and the texts of errors -------===//
#include "tests/ops/Samples.h"

#include "ops/table/Builtin.h"

#include <numeric>

using namespace tess;
using namespace tess::test;
using namespace tess::builtin;

static TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }
static TensorMeta i32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Int32, shape); }
static constexpr int64_t U = kUnknown;

static std::string results(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                           llvm::ArrayRef<unsigned> segments = {}) {
  llvm::Expected<Metas> metas = op.infer(operands, segments);
  if (!metas)
    return takeError(metas.takeError()).second;
  std::string text;
  for (const TensorMeta &meta : *metas)
    text += (text.empty() ? "" : " ") + toString(meta);
  return text;
}

TEST_CASE("elementwise operators broadcast") { // add.operands_must_broadcast
  CHECK(results(Add(), {f32({2, 3}), f32({2, 3})}) == "f32[2, 3]");
  CHECK(results(Add(), {f32({2, 1}), f32({3})}) == "f32[2, 3]");
  CHECK(results(Add(), {f32({}), f32({0, 3})}) == "f32[0, 3]");
  CHECK(results(Equal(), {f32({2}), f32({2})}) == "bool[2]");
  CHECK(results(Add(), {f32({2, 3}), f32({4})}) == "add: operands must broadcast, got x f32[2, 3] and y f32[4]");
}

TEST_CASE("unknown dimensions propagate") {
  CHECK(results(Add(), {f32({U, 3}), f32({1, 3})}) == "f32[?, 3]");
  CHECK(results(Add(), {f32({U, 3}), f32({5, 3})}) == "f32[5, 3]");
  CHECK(results(Add(), {f32({U}), f32({U})}) == "f32[?]");
  CHECK(results(Add(), {f32({U}), f32({0})}) == "f32[0]");
  CHECK(results(Matmul(), {f32({U, U}), f32({4, 5})}) == "f32[?, 5]");
  CHECK(results(Matmul(), {f32({2, U}), f32({U, U})}) == "f32[2, ?]");
  CHECK(results(Sum({0}), {f32({U, 3})}) == "f32[3]");
  CHECK(results(Reshape({-1, 3}), {f32({U, 3})}) == "f32[?, 3]");
  CHECK(results(Conv2d(), {f32({U, 3, U, 8}), f32({4, 3, 3, 3})}) == "f32[?, 4, ?, 6]");
  CHECK(results(Concat(), {f32({U, 3}), f32({2, U})}) == "f32[?, 3]");
}

TEST_CASE("products of narrow floats in float32") {
  const OpDef wide = Matmul(false, false, DType::Float32);
  const TensorMeta f16(DType::Float16, {2, 3}), bf16(DType::BFloat16, {3, 4});
  CHECK(results(wide, {f16, bf16}) == "f32[2, 4]");
  CHECK(results(wide, {f32({2, 3}), bf16}) == "f32[2, 4]");
  CHECK(results(Matmul(), {f16, bf16}) == "matmul: operands must have one dtype, got x f16[2, 3] and y bf16[3, 4]");
  CHECK(results(wide, {f16, TensorMeta(DType::Float64, {3, 4})}) ==
        "matmul: y must be float16, bfloat16 or float32 where dtype is given, got f64[3, 4]");
  CHECK(results(Matmul(false, false, DType::Float64), {f16, bf16}) == "matmul: dtype must be float32 or none, got f64");
}

TEST_CASE("matrix products") {
  CHECK(results(Matmul(), {f32({7, 2, 3}), f32({3, 4})}) == "f32[7, 2, 4]");
  CHECK(results(Matmul(true, true), {f32({3, 2}), f32({4, 3})}) == "f32[2, 4]");
  // matmul.x_must_have_rank_at_least_2, matmul.y_must_have_rank_at_least_2, matmul.dimensions_B_must_broadcast,
  // matmul.dimension_K_must_match
  CHECK(results(Matmul(), {f32({3}), f32({3, 4})}) == "matmul: x must have rank >= 2, got x f32[3]");
  CHECK(results(Matmul(), {f32({2, 3}), f32({})}) == "matmul: y must have rank >= 2, got y f32[]");
  CHECK(results(Matmul(), {f32({2, 2, 3}), f32({3, 3, 4})}) ==
        "matmul: dimensions *B must broadcast, got x f32[2, 2, 3] (B=[2]) and y f32[3, 3, 4] (B=[3])");
  CHECK(results(Matmul(), {f32({2, 3}), f32({4, 5})}) ==
        "matmul: dimension K must match, got x f32[2, 3] (K=3) and y f32[4, 5] (K=4)");
  CHECK(results(Matmul(true), {f32({2, 3}), f32({4, 5})}) ==
        "matmul: dimension K must match, got x f32[2, 3] (K=2) and y f32[4, 5] (K=4)");
}

TEST_CASE("optional and variadic operands are counted") {
  OpDef linear = OpDef::get("linear");
  CHECK(results(linear, {f32({2, 3}), f32({4, 3})}) == "f32[2, 4]");
  CHECK(results(linear, {f32({2, 3}), f32({4, 3}), f32({4})}) == "f32[2, 4]");
  CHECK(results(linear, {f32({2, 3}), f32({4, 3}), f32({5})}) ==
        "linear: dimension O must match, got weight f32[4, 3] (O=4) and bias f32[5] (O=5)");
  CHECK(results(linear, {f32({2, 3})}) == "linear: number of operands must be 2 to 3, got 1");
  CHECK(results(Add(), {f32({2})}) == "add: number of operands must be 2, got 1");
  CHECK(results(Concat(), {}) == "concat: inputs must not be empty, got none");
  CHECK(results(IndexGet({0}), {}) == "index_get: number of operands must be >= 1, got 0");
  CHECK(results(linear, {f32({2, 3}), f32({4, 3})}, {1, 1, 1}) == "linear: number of operands must be 2 to 3, got 2");
  OpDef norm = OpDef::get("layer_norm");
  CHECK(results(norm, {f32({2, 3}), f32({3})}, {1, 1, 0}) == "f32[2, 3]");
  CHECK(results(norm, {f32({2, 3}), f32({3})}, {1, 0, 1}) == "layer_norm: scale must be given where bias is, got none");
}

TEST_CASE("dtypes are checked") {
  CHECK(results(Sqrt(), {i32({2})}) == "sqrt: x must be a float, got i32[2]");
  CHECK(results(LogicalAnd(), {f32({2}), f32({2})}) == "logical_and: x must be bool, got f32[2]");
  CHECK(results(Add(), {f32({2}), i32({2})}) == "add: operands must have one dtype, got x f32[2] and y i32[2]");
  CHECK(results(Where(), {f32({2}), f32({2}), f32({2})}) == "where: mask must be bool, got f32[2]");
  CHECK(results(Embedding(), {f32({4, 2}), f32({2})}) == "embedding: ids must be i32 or i64, got f32[2]");
  CHECK(results(Sum(), {TensorMeta(DType::Bool, {2})}) == "i32[]");
  CHECK(results(Sum(), {TensorMeta(DType::Float16, {2})}) == "f16[]");
  CHECK(results(Argmax(), {f32({2})}) == "i32[]");
  CHECK(results(Cast(DType::Int8), {f32({2})}) == "i8[2]");
  CHECK(results(Topk(1), {f32({2})}) == "f32[1] i32[1]");
}

TEST_CASE("ranks are limited") {
  Shape nine(9, 1);
  CHECK(results(Neg(), {f32(nine)}) == "neg: x must have rank <= 8, got f32[1, 1, 1, 1, 1, 1, 1, 1, 1]");
  CHECK(results(ExpandDims({0}), {f32(Shape(8, 1))}) ==
        "expand_dims: results must have rank <= 8 and at most 2^59 elements, got f32[1, 1, 1, 1, 1, 1, 1, 1, 1]");
  IntList many(40);
  std::iota(many.begin(), many.end(), 0);
  CHECK(llvm::StringRef(results(ExpandDims(many), {f32({2})})).starts_with("expand_dims: results must have rank <= 8"));
}

TEST_CASE("axes are checked") {
  CHECK(results(Sum({3}), {f32({2, 3})}) == "sum: axes must be in [-2, 1], got 3");
  CHECK(results(Sum({0, -2}), {f32({2, 3})}) == "sum: axes must be distinct, got [0, -2]");
  CHECK(results(Softmax(2), {f32({2, 3})}) == "softmax: axis must be in [-2, 1], got 2");
  CHECK(results(Softmax(), {f32({})}) == "softmax: axis must not be given for rank 0, got -1");
  CHECK(results(ExpandDims({3}), {f32({2, 3})}) == "expand_dims: axis must be in [-3, 2], got 3");
  CHECK(results(ExpandDims({0, 3}), {f32({2, 3})}) == "f32[1, 2, 3, 1]");
  CHECK(results(Stack(2), {f32({2}), f32({2})}) == "stack: axis must be in [-2, 1], got 2");
  CHECK(results(OpDef::get("reshape"), {f32({2})}) == "reshape: shape must be given, got none");
}

TEST_CASE("sizes that cannot be counted are refused") {
  int64_t big = int64_t(1) << 32;
  CHECK(results(Full({big, big}, 0), {}) ==
        "full: results must have rank <= 8 and at most 2^59 elements, got f32[4294967296, 4294967296]");
  CHECK(results(Full({big, big, 0}, 0), {}) == "f32[4294967296, 4294967296, 0]");
  CHECK(results(Reshape({big, big}), {f32({0})}) ==
        "reshape: number of elements must stay the same, got x f32[0] and shape [4294967296, 4294967296]");
  CHECK(results(Add(), {f32({big, 1}), f32({big})}) ==
        "add: results must have rank <= 8 and at most 2^59 elements, got f32[4294967296, 4294967296]");
  CHECK(results(Pad({INT64_MAX}, {INT64_MAX}), {f32({3})}) ==
        "pad: padded dimensions must not be negative, got x f32[3], low [9223372036854775807] and high "
        "[9223372036854775807]");
  CHECK(results(OpDef::get("one_hot").set("num_classes", 2), {i32(Shape(8, 1))}) ==
        "one_hot: results must have rank <= 8 and at most 2^59 elements, got i32[1, 1, 1, 1, 1, 1, 1, 1, 2]");
}

TEST_CASE("reductions") {
  CHECK(results(Sum(), {f32({2, 3})}) == "f32[]");
  CHECK(results(Sum({-1}, true), {f32({2, 3})}) == "f32[2, 1]");
  CHECK(results(Max({0}), {f32({0, 0})}) == "f32[0]");
  CHECK(results(Sum({0}), {f32({0, 3})}) == "f32[3]");
  // max.reduced_dimensions_must_not_be_empty_unless_allow_empty
  CHECK(results(Max({0}), {f32({0, 3})}) == "max: reduced dimensions must not be empty, got x f32[0, 3]");
  CHECK(results(Argmin(1, true), {f32({2, 3})}) == "i32[2, 1]");
  CHECK(results(SumTo(), {f32({2, 3}), f32({1, 3})}) == "f32[1, 3]");
  CHECK(results(SumTo(), {f32({2, 3}), f32({2})}) ==
        "sum_to: like must broadcast to x, got x f32[2, 3] and like f32[2]");
}

TEST_CASE("creation takes its shape from attributes") {
  CHECK(results(Full({2, 0}, 1), {}) == "f32[2, 0]");
  CHECK(results(Full({-1}, 1), {}) == "full: dimensions of out must be >= 0, got [-1]");
  CHECK(results(Arange(4, 0, 1, DType::Int64), {}) == "i64[4]");
  CHECK(results(OneHot(5), {i32({2, 3})}) == "i32[2, 3, 5]");
}

TEST_CASE("indexed axes stand where NumPy puts them") {
  auto shape = [](const IntList &axes, Metas operands) {
    return toString(llvm::cantFail(IndexGet(axes).infer(operands))[0]);
  };
  TensorMeta x = f32({5, 6, 7, 8}), i = i32({2, 3}), j = i32({3});
  CHECK(shape({1}, {x, i}) == "f32[5, 2, 3, 7, 8]");
  CHECK(shape({1, 2}, {x, i, j}) == "f32[5, 2, 3, 8]");
  CHECK(shape({0, 2}, {x, i, j}) == "f32[2, 3, 6, 8]");
  CHECK(shape({-1}, {x, j}) == "f32[5, 6, 7, 3]");
}

TEST_CASE("results whose size depends on data are unknown, with a bound") {
  const OpInfo &mask = *findOp("mask_get"), &positions = *findOp("non_zero");
  Metas operands = {f32({4, 3, 2}), TensorMeta(DType::Bool, {4, 3})};
  CHECK(toString(llvm::cantFail(MaskGet().infer(operands))[0]) == "f32[?, 2]");
  CHECK(toString(llvm::cantFail(mask.boundRule(MaskGet(), operands, {}))[0]) == "f32[12, 2]");
  CHECK(toString(llvm::cantFail(NonZero().infer({f32({4, 3})}))[0]) == "i32[?, 2]");
  CHECK(toString(llvm::cantFail(positions.boundRule(NonZero(), {f32({4, 3})}, {}))[0]) == "i32[12, 2]");
}
