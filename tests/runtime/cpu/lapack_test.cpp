#include "runtime/device/Elements.h"
#include "tests/runtime/KernelHarness.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// Batches of matrices in double, row-major.
using Numbers = std::vector<double>;

HostTensor tensorOf(DType dtype, llvm::ArrayRef<int64_t> shape, const Numbers &values) {
  HostTensor out(dtype, shape);
  withFloatType(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < values.size(); ++i)
      out.as<T>()[i] = narrow<T>(values[i]);
  });
  return out;
}

/// Of each [m, k] and [k, n] of a batch.
Numbers product(const Numbers &x, const Numbers &y, size_t m, size_t k, size_t n) {
  Numbers out(x.size() / (m * k) * m * n);
  for (size_t i = 0; i < out.size(); ++i) {
    size_t matrix = i / (m * n), row = i / n % m, column = i % n;
    for (size_t j = 0; j < k; ++j)
      out[i] += x[(matrix * m + row) * k + j] * y[(matrix * k + j) * n + column];
  }
  return out;
}

Numbers transposed(const Numbers &x, size_t m, size_t n) {
  Numbers out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    out[i / (m * n) * m * n + i % n * m + i / n % m] = x[i];
  return out;
}

/// Each vector as a diagonal matrix.
Numbers diagonal(const Numbers &x, size_t n) {
  Numbers out(x.size() * n);
  for (size_t i = 0; i < x.size(); ++i)
    out[i * n + i % n] = x[i];
  return out;
}

Numbers identities(size_t count, size_t n) { return diagonal(Numbers(count * n, 1), n); }

void checkClose(const Numbers &got, const Numbers &wanted, DType dtype) {
  double tolerance = dtype == DType::Float64   ? 1e-12
                     : dtype == DType::Float32 ? 1e-5
                     : dtype == DType::Float16 ? 1e-2
                                               : 1e-1;
  test::checkClose(got, wanted, tolerance);
}

/// Random numbers of a shape, with something added on the diagonals of square matrices.
HostTensor random(DType dtype, llvm::ArrayRef<int64_t> shape, unsigned seed, double onDiagonal = 0) {
  HostTensor drawn = randomF32(shape, seed);
  auto floats = drawn.values<float>();
  Numbers values(floats.begin(), floats.end());
  size_t n = size_t(shape.back());
  for (size_t i = 0; i < values.size(); ++i)
    if (i / n % n == i % n)
      values[i] += onDiagonal;
  return tensorOf(dtype, shape, values);
}

HostTensor definite(DType dtype, int64_t batch, int64_t n) {
  Numbers x = asDouble(random(DType::Float64, {batch, n, n}, 5));
  Numbers values = product(x, transposed(x, size_t(n), size_t(n)), size_t(n), size_t(n), size_t(n));
  for (size_t i = 0; i < values.size(); ++i)
    if (i / size_t(n) % size_t(n) == i % size_t(n))
      values[i] += double(n);
  return tensorOf(dtype, {batch, n, n}, values);
}

std::vector<Numbers> resultsOf(const char *op, std::vector<HostTensor> inputs) {
  CallResult result = callKernel(OpDef::get(op), std::move(inputs));
  REQUIRE(result.error.empty());
  CHECK(result.implementation == std::string("lapack:") + op);
  std::vector<Numbers> all;
  for (const HostTensor &output : result.outputs)
    all.push_back(asDouble(output));
  return all;
}

DType eachDType() { return GENERATE(DType::Float16, DType::BFloat16, DType::Float32, DType::Float64); }

} // namespace

TEST_CASE("lapack: systems are solved in every dtype, batches broadcast") {
  DType dtype = eachDType();
  HostTensor a = random(dtype, {2, 1, 5, 5}, 1, 4), b = random(dtype, {3, 5, 2}, 2);
  Numbers x = resultsOf("solve", {a, b})[0], left = asDouble(a), right = asDouble(b);
  REQUIRE(x.size() == 2 * 3 * 5 * 2);
  for (size_t i = 0; i < 6; ++i) {
    Numbers one(left.begin() + long(i / 3 * 25), left.begin() + long(i / 3 * 25 + 25));
    Numbers wanted(right.begin() + long(i % 3 * 10), right.begin() + long(i % 3 * 10 + 10));
    checkClose(product(one, {x.begin() + long(i * 10), x.begin() + long(i * 10 + 10)}, 5, 5, 2), wanted, dtype);
  }
  checkClose(product(left, resultsOf("matinv", {a})[0], 5, 5, 5), identities(2, 5), dtype);
}

TEST_CASE("lapack: a triangle is read, the rest is not") {
  bool isLower = GENERATE(false, true), isTransposed = GENERATE(false, true), isUnit = GENERATE(false, true);
  Numbers a = asDouble(random(DType::Float64, {4, 4}, 1, 3)), triangle = a;
  for (size_t i = 0; i < 16; ++i)
    if (i / 4 == i % 4 ? isUnit : (i / 4 < i % 4) == isLower)
      triangle[i] = i / 4 == i % 4 ? 1 : 0;
  HostTensor b = random(DType::Float64, {4, 3}, 2);
  OpDef op = OpDef::get("solve_triangular");
  op.set("lower", isLower).set("transpose", isTransposed).set("unit_diagonal", isUnit);
  CallResult result = callKernel(op, {tensorOf(DType::Float64, {4, 4}, a), b});
  Numbers matrix = isTransposed ? transposed(triangle, 4, 4) : triangle;
  checkClose(product(matrix, asDouble(result.outputs[0]), 4, 4, 3), asDouble(b), DType::Float64);
}

TEST_CASE("lapack: the product of factors is the matrix, in every dtype") {
  DType dtype = eachDType();
  HostTensor x = definite(dtype, 3, 6);
  Numbers l = resultsOf("cholesky", {x})[0];
  checkClose(product(l, transposed(l, 6, 6), 6, 6, 6), asDouble(x), dtype);
  CHECK(l[1] == 0);
  auto spectrum = resultsOf("eigh", {x});
  Numbers scaled = product(spectrum[1], diagonal(spectrum[0], 6), 6, 6, 6);
  checkClose(product(scaled, transposed(spectrum[1], 6, 6), 6, 6, 6), asDouble(x), dtype);
  int64_t rows = GENERATE(2, 5), columns = GENERATE(2, 4);
  size_t m = size_t(rows), n = size_t(columns), k = std::min(m, n);
  HostTensor y = random(dtype, {3, rows, columns}, 4);
  auto qr = resultsOf("qr", {y});
  checkClose(product(qr[0], qr[1], m, k, n), asDouble(y), dtype);
  checkClose(product(transposed(qr[0], m, k), qr[0], k, m, k), identities(3, k), dtype);
  auto svd = resultsOf("svd", {y});
  checkClose(product(product(svd[0], diagonal(svd[1], k), m, k, k), svd[2], m, k, n), asDouble(y), dtype);
  checkClose(product(svd[2], transposed(svd[2], k, n), k, n, k), identities(3, k), dtype);
  checkClose(resultsOf("svdvals", {y})[0], svd[1], dtype);
}

TEST_CASE("lapack: determinants of products are products, of nothing 1") {
  Numbers x = asDouble(random(DType::Float64, {2, 4, 4}, 1)), y = asDouble(random(DType::Float64, {2, 4, 4}, 2));
  auto det = [](const Numbers &of) { return resultsOf("det", {tensorOf(DType::Float64, {2, 4, 4}, of)})[0]; };
  Numbers both = det(product(x, y, 4, 4, 4)), first = det(x), second = det(y);
  checkClose(both, {first[0] * second[0], first[1] * second[1]}, DType::Float64);
  auto logarithm = resultsOf("slogdet", {tensorOf(DType::Float64, {2, 4, 4}, x)});
  checkClose({logarithm[0][0] * std::exp(logarithm[1][0]), logarithm[0][1] * std::exp(logarithm[1][1])}, first,
             DType::Float64);
  CHECK(resultsOf("det", {HostTensor(DType::Float32, {2, 0, 0})})[0] == Numbers{1, 1});
}

TEST_CASE("lapack: no matrices and no elements are no error") {
  for (const char *op : {"cholesky", "matinv", "det", "slogdet", "qr", "eigh", "svd", "svdvals"})
    for (const Shape &shape : {Shape{0, 3, 3}, Shape{2, 0, 0}})
      resultsOf(op, {HostTensor(DType::Float32, shape)});
  for (const char *op : {"qr", "svd", "svdvals"})
    resultsOf(op, {HostTensor(DType::Float32, {0, 3})});
  resultsOf("solve", {HostTensor(DType::Float32, {0, 0}), HostTensor(DType::Float32, {2, 0, 3})});
}

TEST_CASE("lapack: threads change no bit") {
  const auto *op = GENERATE("cholesky", "matinv", "det", "qr", "eigh", "svd", "svdvals");
  HostTensor x = definite(DType::Float32, 40, 24);
  CallResult alone = callKernel(OpDef::get(op), {x});
  for (unsigned threads : {2, 3, 7}) {
    CallResult result = callKernel(OpDef::get(op), {x}, {threads});
    for (size_t i = 0; i < alone.outputs.size(); ++i)
      CHECK(sameBits<float>(alone.outputs[i], result.outputs[i]));
  }
}

TEST_CASE("lapack: matrices of more elements than LAPACK counts are refused") {
  OpDef op = OpDef::get("matinv");
  Metas metas = {TensorMeta(DType::Float32, {1 << 16, 1 << 16})};
  CHECK(messageOf(prepareKernel(hostDevice().kernels(), {op, metas, metas})) ==
        "matinv: matrices must have fewer than 2147483648 elements, got f32[65536, 65536]");
}
