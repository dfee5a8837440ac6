// Products by cuBLASLt against plain loops. Small integers: every order of summation gives the same bits.
#include "runtime/cuda/CublasLt.h"
#include "tests/runtime/cuda/Gpu.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace tess;
using namespace tess::test;
using namespace tess::runtime;
using namespace tess::runtime::cuda;

namespace {

uint16_t toBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float fromBFloat16(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}

template <typename T> T narrow(double value) {
  if constexpr (std::is_same_v<T, uint16_t>)
    return toBFloat16(float(value));
  else
    return T(value);
}
template <typename T> double widen(T value) {
  if constexpr (std::is_same_v<T, uint16_t>)
    return fromBFloat16(value);
  else
    return value;
}

template <typename T> std::vector<T> integers(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> result(count);
  for (T &v : result)
    v = narrow<T>(int(engine() % 17) - 8);
  return result;
}

template <typename T>
void reference(const MatmulShape &s, const std::vector<T> &lhs, const std::vector<T> &rhs, std::vector<T> &out) {
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        T &result = out[b * s.out.batchStride + i * s.out.rowStride + j];
        double sum = s.accumulate ? widen(result) : 0;
        for (int64_t k = 0; k < s.k; ++k) {
          int64_t x = s.transposeLhs ? k * s.lhs.rowStride + i : i * s.lhs.rowStride + k;
          int64_t y = s.transposeRhs ? j * s.rhs.rowStride + k : k * s.rhs.rowStride + j;
          sum += widen(lhs[b * s.lhs.batchStride + x]) * widen(rhs[b * s.rhs.batchStride + y]);
        }
        result = narrow<T>(sum);
      }
}

/// Elements of an operand, up to the last one.
size_t extent(const MatrixLayout &layout, int64_t batch, int64_t rows) {
  return size_t((batch - 1) * layout.batchStride + rows * layout.rowStride + 1);
}

template <typename T> void check(CudaDevice &gpu, const CublasLt &blas, const MatmulShape &s) {
  CAPTURE(s.batch, s.m, s.n, s.k, s.transposeLhs, s.transposeRhs, s.accumulate);
  auto lhs = integers<T>(extent(s.lhs, s.batch, s.transposeLhs ? s.k : s.m), 1);
  auto rhs = integers<T>(extent(s.rhs, s.batch, s.transposeRhs ? s.n : s.k), 2);
  auto out = integers<T>(extent(s.out, s.batch, s.m), 3);
  OnGpu<T> gpuLhs(gpu, lhs), gpuRhs(gpu, rhs), gpuOut(gpu, out);
  MatmulPlan plan = get(blas.plan(s));
  OnGpu<char> workspace(gpu, std::vector<char>(plan.workspaceBytes));
  reference(s, lhs, rhs, out);
  auto &stream = static_cast<CudaStream &>(gpu.defaultStream());
  ok(blas.run(plan, gpuLhs.data(), gpuRhs.data(), gpuOut.data(), workspace.data(), stream));
  CHECK(gpuOut.values() == out); // what lies between the rows too
}

template <typename T> void checkShapes(CudaDevice &gpu, DType dtype) {
  auto blas = get(CublasLt::create(gpu));
  for (bool transposeLhs : {false, true})
    for (bool transposeRhs : {false, true}) {
      check<T>(gpu, *blas, MatmulShape::packed(dtype, 1, 64, 96, 128, transposeLhs, transposeRhs));
      check<T>(gpu, *blas, MatmulShape::packed(dtype, 3, 24, 40, 56, transposeLhs, transposeRhs));
      check<T>(gpu, *blas, MatmulShape::packed(dtype, 1, 1, 200, 300, transposeLhs, transposeRhs));
    }
  MatmulShape strided = MatmulShape::packed(dtype, 2, 32, 48, 64);
  strided.lhs = {72, 0}; // one matrix for the whole batch, rows apart
  strided.rhs = {56, 64 * 56 + 8};
  strided.out = {64, 32 * 64};
  check<T>(gpu, *blas, strided);
  strided.accumulate = !isNarrowFloat(dtype);
  check<T>(gpu, *blas, strided);
}

} // namespace

TEST_CASE("float32 products have the bits of plain loops") {
  TESS_GPU(gpu);
  checkShapes<float>(gpu, DType::Float32);
  auto blas = get(CublasLt::create(gpu));
  check<float>(gpu, *blas, MatmulShape::packed(DType::Float32, 1, 37, 41, 43)); // rows that are not aligned
  check<float>(gpu, *blas, MatmulShape::packed(DType::Float32, 2, 5, 7, 3, true, true));
}

TEST_CASE("float64 products have the bits of plain loops") {
  TESS_GPU(gpu);
  checkShapes<double>(gpu, DType::Float64);
}

TEST_CASE("bfloat16 products are summed in float32 and rounded once") {
  TESS_GPU(gpu);
  checkShapes<uint16_t>(gpu, DType::BFloat16);
}

TEST_CASE("float32 products are not made with TF32") {
  TESS_GPU(gpu);
  auto blas = get(CublasLt::create(gpu));
  MatmulShape shape = MatmulShape::packed(DType::Float32, 1, 128, 128, 128);
  std::vector<float> lhs(128 * 128, 1 + 0x1p-20f), rhs(128 * 128), out(128 * 128);
  for (int i = 0; i < 128; ++i)
    rhs[i * 128 + i] = 1;
  OnGpu<float> gpuLhs(gpu, lhs), gpuRhs(gpu, rhs), gpuOut(gpu, out);
  MatmulPlan plan = get(blas->plan(shape));
  OnGpu<char> workspace(gpu, std::vector<char>(plan.workspaceBytes));
  auto &stream = static_cast<CudaStream &>(gpu.defaultStream());
  ok(blas->run(plan, gpuLhs.data(), gpuRhs.data(), gpuOut.data(), workspace.data(), stream));
  CHECK(gpuOut.values() == lhs); // TF32 would drop the 2^-20
}

TEST_CASE("empty products and empty sums") {
  TESS_GPU(gpu);
  auto blas = get(CublasLt::create(gpu));
  check<float>(gpu, *blas, MatmulShape::packed(DType::Float32, 1, 0, 5, 7));
  check<float>(gpu, *blas, MatmulShape::packed(DType::Float32, 2, 3, 5, 0));
  MatmulShape adds = MatmulShape::packed(DType::Float32, 2, 3, 5, 0);
  adds.accumulate = true;
  check<float>(gpu, *blas, adds);
}

TEST_CASE("a product run twice has the same bits") {
  TESS_GPU(gpu);
  auto blas = get(CublasLt::create(gpu));
  MatmulShape shape = MatmulShape::packed(DType::Float32, 1, 96, 80, 4096);
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> lhs(96 * 4096), rhs(4096 * 80), out(96 * 80);
  for (float &v : lhs)
    v = uniform(engine);
  for (float &v : rhs)
    v = uniform(engine);
  OnGpu<float> gpuLhs(gpu, lhs), gpuRhs(gpu, rhs), gpuOut(gpu, out);
  MatmulPlan plan = get(blas->plan(shape));
  OnGpu<char> workspace(gpu, std::vector<char>(plan.workspaceBytes));
  auto &stream = static_cast<CudaStream &>(gpu.defaultStream());
  auto once = [&] {
    ok(blas->run(plan, gpuLhs.data(), gpuRhs.data(), gpuOut.data(), workspace.data(), stream));
    return gpuOut.values();
  };
  std::vector<float> first = once();
  CHECK(once() == first);
  reference(shape, lhs, rhs, out);
  size_t wrong = 0;
  for (size_t i = 0; i < out.size(); ++i)
    wrong += !(std::abs(out[i] - first[i]) < 1e-3f); // sums of 4096 products below 1; NaN is wrong, too
  CHECK(wrong == 0);
}
