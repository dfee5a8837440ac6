// Products added one after the other: the bits of a loop of matmul and add.
#include "tests/runtime/KernelHarness.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

template <typename T> HostTensor randomOf(DType dtype, std::vector<int64_t> shape, unsigned seed) {
  HostTensor from = randomF32(shape, seed), out(dtype, from.meta.shape);
  llvm::copy(from.values<float>(), out.as<T>());
  return out;
}

/// Matrix number `index` of a batch.
template <typename T> HostTensor matrixOf(HostTensor &batch, int64_t index) {
  HostTensor out(batch.meta.dtype, llvm::ArrayRef(batch.meta.shape).drop_front());
  const int64_t count = out.meta.numElements();
  std::copy_n(batch.as<T>() + index * count, count, out.as<T>());
  return out;
}

/// The sums that a loop carries.
template <typename T> HostTensor expected(HostTensor sum, HostTensor x, HostTensor y, bool reverse) {
  OpDef product = OpDef::get("matmul");
  product.set("transpose_x", true);
  const int64_t trips = x.meta.shape[0];
  for (int64_t trip : llvm::seq<int64_t>(0, trips)) {
    const int64_t at = reverse ? trips - 1 - trip : trip;
    CallResult made = callKernel(product, {matrixOf<T>(x, at), matrixOf<T>(y, at)});
    for (int64_t i = 0; i < sum.meta.numElements(); ++i)
      sum.as<T>()[i] += made.outputs[0].as<T>()[i];
  }
  return sum;
}

template <typename T> void checkSums(DType dtype, int64_t trips, int64_t depth, int64_t rows, int64_t columns) {
  HostTensor sum = randomOf<T>(dtype, {rows, columns}, 1), x = randomOf<T>(dtype, {trips, depth, rows}, 2),
             y = randomOf<T>(dtype, {trips, depth, columns}, 3);
  for (bool reverse : {false, true}) {
    OpDef op = OpDef::get("add_products");
    op.set("reverse", reverse);
    HostTensor wanted = expected<T>(sum, x, y, reverse);
    for (unsigned threads : {1u, 2u, 3u}) {
      INFO(trips << " of " << depth << ", " << rows << "x" << columns << ", " << threads << " threads " << reverse);
      CallResult result = callKernel(op, {sum, x, y}, {threads});
      CHECK(result.error.empty());
      CHECK(sameBits<T>(result.outputs[0], wanted));
    }
  }
}

} // namespace

TEST_CASE("added products have the bits of a loop") {
  const int64_t sizes[][4] = {{5, 2, 3, 4},    {1, 16, 40, 70},  {9, 16, 200, 90}, {70, 1, 33, 17},
                              {3, 13, 15, 16}, {100, 4, 64, 32}, {3, 256, 40, 50}, {2, 300, 30, 47},
                              {0, 3, 4, 5},    {3, 0, 4, 5},     {3, 2, 0, 5}};
  for (const auto &[trips, depth, rows, columns] : sizes) {
    checkSums<float>(DType::Float32, trips, depth, rows, columns);
    checkSums<double>(DType::Float64, trips, depth, rows, columns);
  }
}

TEST_CASE("a sum of -0.0 stays where products of no rows are not added") {
  HostTensor sum(DType::Float32, {1, 1}), x(DType::Float32, {0, 2, 1}), y(DType::Float32, {0, 2, 1});
  sum.as<float>()[0] = -0.0f;
  CallResult result = callKernel(OpDef::get("add_products"), {sum, x, y});
  CHECK(std::signbit(result.outputs[0].as<float>()[0]));
}
