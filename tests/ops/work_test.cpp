#include "ops/inference/Work.h"

#include "ops/table/Builtin.h"
#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::builtin;

static TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

/// Operations by the metas that inference gives.
static double operations(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  return operationsOf(op, operands, llvm::cantFail(op.infer(operands)));
}

TEST_CASE("a contraction has two operations for each of its products") {
  CHECK(operations(Matmul(), {f32({5, 2, 3}), f32({3, 4})}) == 2 * 5 * 2 * 3 * 4);
  CHECK(operations(Matmul(true, true), {f32({3, 2}), f32({4, 3})}) == 2 * 2 * 3 * 4);
  CHECK(operations(Linear(), {f32({7, 3}), f32({4, 3}), f32({4})}) == 2 * 7 * 3 * 4);
  CHECK(operations(Linear(), {f32({3}), f32({4, 3})}) == 2 * 3 * 4);
  CHECK(operations(AddProducts(), {f32({3, 4}), f32({5, 2, 3}), f32({5, 2, 4})}) == 2 * 5 * 2 * 3 * 4);
  CHECK(operations(Attention(), {f32({2, 3, 4}), f32({2, 5, 4}), f32({2, 5, 6})}) == 2 * 2 * 3 * 5 * (4 + 6));
}

TEST_CASE("a convolution and its gradients count the same products, of windows within the padded input") {
  const TensorMeta x = f32({2, 3, 5, 6}), weight = f32({4, 3, 3, 2}), out = f32({2, 4, 3, 5});
  const double products = 2 * 4 * 3 * 5 * 3 * 3 * 2;
  CHECK(operations(Conv2d(), {x, weight}) == 2 * products);
  CHECK(operations(Conv2dBackwardData(), {weight, out, x}) == 2 * products);
  CHECK(operations(Conv2dBackwardWeight(), {x, out, weight}) == 2 * products);
  CHECK(operations(ConvTranspose2d(), {out, weight}) == 2 * products);
}

TEST_CASE("other operators count elements where a kernel computes them") {
  CHECK(operations(Add(), {f32({2, 1}), f32({3})}) == 6);
  CHECK(operations(Sum({1}), {f32({4, 5})}) == 20);
  CHECK(operations(Reshape({6}), {f32({2, 3})}) == 0);
  CHECK(operations(Concat(0), {f32({2}), f32({3})}) == 0);
}

TEST_CASE("sizes that are not known, and counts beyond int64") {
  CHECK(operations(Matmul(), {f32({kUnknown, 3}), f32({3, 4})}) == 0);
  CHECK(operations(Matmul(), {f32({1 << 26, 1 << 26}), f32({1 << 26, 1 << 26})}) == 0x1p79);
  CHECK(picosecondsOf(f32({kUnknown, 4})) == 0);
}

TEST_CASE("time grows with products and with bytes") {
  const Metas square = {f32({64, 64}), f32({64, 64})};
  CHECK(picosecondsOf(Matmul(), square, {f32({64, 64})}) > picosecondsOf(Add(), square, {f32({64, 64})}));
  CHECK(picosecondsOf(f32({8})) == 2 * picosecondsOf(f32({4})));
}
