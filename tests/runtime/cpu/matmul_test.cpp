#include "runtime/device/Elements.h"
#include "tests/runtime/KernelHarness.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

HostTensor cast(HostTensor from, DType dtype, double scale = 1) {
  HostTensor out(dtype, from.meta.shape);
  auto values = from.values<float>();
  withType(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < values.size(); ++i)
      out.as<T>()[i] = narrow<T>(Accumulator<T>(int64_t(0)) + decltype(widen(T()))(values[i] * scale));
  });
  return out;
}

/// (*B, M, K) x (*B, K, N) in double; batch axes right-aligned.
std::vector<double> reference(HostTensor a, HostTensor b, llvm::ArrayRef<int64_t> batch) {
  auto x = asDouble(a), y = asDouble(b);
  size_t ra = a.meta.rank(), rb = b.meta.rank();
  int64_t m = a.meta.shape[ra - 2], k = a.meta.shape[ra - 1], n = b.meta.shape[rb - 1], count = 1;
  for (int64_t size : batch)
    count *= size;
  auto matrixOf = [&](const Shape &shape, int64_t index) {
    int64_t offset = 0, stride = 1;
    for (size_t i = 0; i < batch.size(); ++i) {
      size_t axis = batch.size() - 1 - i;
      int64_t position = index % batch[axis];
      index /= batch[axis];
      if (i + 2 < shape.size()) {
        int64_t size = shape[shape.size() - 3 - i];
        offset += size == 1 ? 0 : position * stride;
        stride *= size;
      }
    }
    return offset;
  };
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j)
          sum += x[size_t((matrixOf(a.meta.shape, i) * m + r) * k + j)] *
                 y[size_t((matrixOf(b.meta.shape, i) * k + j) * n + c)];
        out.push_back(sum);
      }
  return out;
}

/// A float32 tensor with its last two axes exchanged.
HostTensor transposed(HostTensor from) {
  Shape shape = from.meta.shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  HostTensor out(DType::Float32, shape);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  for (int64_t i = 0, n = out.meta.numElements(); i < n; ++i) {
    int64_t matrix = i / (rows * columns), row = i / columns % rows, column = i % columns;
    out.as<float>()[i] = from.as<float>()[(matrix * columns + column) * rows + row];
  }
  return out;
}

OpDef matmul() { return OpDef::get("matmul"); }

struct BatchCase {
  std::vector<int64_t> a, b, batch;
};

} // namespace

TEST_CASE("matmul: every batch form") {
  auto test = GENERATE(values<BatchCase>({{{3, 4}, {4, 5}, {}},
                                          {{1, 1}, {1, 1}, {}},
                                          {{1, 7}, {7, 1}, {}},
                                          {{2, 3, 4}, {4, 5}, {2}},
                                          {{3, 4}, {2, 4, 5}, {2}},
                                          {{2, 3, 4}, {2, 4, 5}, {2}},
                                          {{2, 1, 3, 4}, {1, 6, 4, 5}, {2, 6}},
                                          {{1, 2, 3, 1, 4}, {2, 1, 4, 5}, {1, 2, 3}},
                                          {{5, 1, 4}, {4, 5}, {5}},
                                          {{65, 130}, {130, 67}, {}}}));
  HostTensor a = randomF32(test.a, 1), b = randomF32(test.b, 2);
  auto expected = reference(a, b, test.batch);
  CallResult plain = callKernel(matmul(), {a, b});
  CHECK(plain.error.empty());
  checkClose(asDouble(plain.outputs[0]), expected, 1e-5);
}

TEST_CASE("matmul: transposes are those of the last two axes") {
  int64_t m = GENERATE(3, 1, 130), k = GENERATE(4, 1, 90), n = GENERATE(5, 1, 67); // by our own loops and the library
  HostTensor a = randomF32({2, k, m}, 1), b = randomF32({n, k}, 2);
  OpDef op = matmul();
  op.set("transpose_x", true).set("transpose_y", true);
  CallResult result = callKernel(op, {a, b});
  checkClose(asDouble(result.outputs[0]), reference(transposed(a), transposed(b), {2}), 1e-5);
}

TEST_CASE("matmul by a vector: the same bits in either layout, with one thread and two") {
  int64_t rows = GENERATE(1, 130, 700), depth = GENERATE(40, 1500);
  HostTensor a = randomF32({rows, depth}, 1), b = randomF32({depth, 1}, 2);
  CallResult one = callKernel(matmul(), {a, b}), two = callKernel(matmul(), {a, b}, {2});
  checkClose(asDouble(one.outputs[0]), reference(a, b, {}), 1e-4);
  CHECK(one.implementation == "own:contract");
  OpDef op = matmul();
  op.set("transpose_x", true);
  CallResult other = callKernel(op, {transposed(a), b}, {2});
  CHECK(two.outputs[0].values<float>() == one.outputs[0].values<float>());
  CHECK(other.outputs[0].values<float>() == one.outputs[0].values<float>());
}

TEST_CASE("matmul of a row by a transposed matrix is that matrix by the row") {
  HostTensor a = randomF32({1, 700}, 1), b = randomF32({300, 700}, 2);
  OpDef op = matmul();
  op.set("transpose_y", true);
  CallResult row = callKernel(op, {a, b}, {2}), column = callKernel(matmul(), {b, transposed(a)});
  CHECK(row.outputs[0].values<float>() == column.outputs[0].values<float>());
}

TEST_CASE("matmul: a row has the same bits alone and among others, a column too") {
  auto dtype = GENERATE(DType::Float16, DType::BFloat16, DType::Float32, DType::Float64);
  int64_t depth = GENERATE(3, 600), columns = GENERATE(1, 70);
  HostTensor a = cast(randomF32({30, depth}, 1), dtype), b = cast(randomF32({depth, columns}, 2), dtype);
  CallResult all = callKernel(matmul(), {a, b}, {2});
  HostTensor row = a;
  row.meta.shape = {1, depth};
  CallResult alone = callKernel(matmul(), {row, b});
  std::vector<double> first = asDouble(all.outputs[0]);
  first.resize(size_t(columns));
  CHECK(asDouble(alone.outputs[0]) == first);
}

TEST_CASE("matmul: a prepared batch counts what it holds for each matrix") {
  auto footprintOf = [](int64_t batch) {
    OpDef op = matmul();
    Metas operands = {TensorMeta(DType::Float32, {batch, 4, 4}), TensorMeta(DType::Float32, {batch, 4, 4})};
    Metas results = get(op.infer(operands));
    return get(prepareKernel(hostDevice().kernels(), {op, operands, results}))->footprint();
  };
  CHECK(footprintOf(5000) >= footprintOf(2) + 4998 * 2 * sizeof(int64_t));
}

TEST_CASE("matmul: the same bits in either layout, alone, in a batch and with its rows joined") {
  HostTensor a = randomF32({3, 50, 700}, 1), b = randomF32({700, 90}, 2);
  CallResult joined = callKernel(matmul(), {a, b}, {2});
  CHECK(joined.implementation == "own:contract");
  OpDef op = matmul();
  op.set("transpose_y", true);
  CHECK(callKernel(op, {a, transposed(b)}).outputs[0].storage == joined.outputs[0].storage);
  HostTensor batch = a;
  batch.meta.shape = {3, 1, 50, 700}; // whose right operand has a batch of its own
  HostTensor rights = b;
  rights.meta.shape = {1, 1, 700, 90};
  CHECK(callKernel(matmul(), {batch, rights}, {2}).outputs[0].storage == joined.outputs[0].storage);
  OpDef other = matmul();
  other.set("transpose_x", true);
  CHECK(callKernel(other, {transposed(a), b}, {3}).outputs[0].storage == joined.outputs[0].storage);
}

TEST_CASE("matmul: every dtype against double") {
  auto dtype = GENERATE(DType::Float16, DType::BFloat16, DType::Float32, DType::Float64);
  HostTensor a = cast(randomF32({2, 17, 33}, 1), dtype), b = cast(randomF32({33, 70}, 2), dtype);
  double tolerance = dtype == DType::BFloat16 ? 1e-2 : dtype == DType::Float16 ? 2e-3 : 1e-5;
  checkClose(asDouble(callKernel(matmul(), {a, b}).outputs[0]), reference(a, b, {2}), tolerance);
  HostTensor c = randomF32({130, 63}, 1), d = randomF32({63, 15}, 2);
  OpDef op = matmul(); // oneDNN 2.6.3 ends the process at this one on AMX
  op.set("transpose_x", true).set("transpose_y", true);
  CallResult result = callKernel(op, {cast(transposed(c), dtype), cast(transposed(d), dtype)});
  checkClose(asDouble(result.outputs[0]), reference(cast(c, dtype), cast(d, dtype), {}), tolerance);
}

TEST_CASE("matmul: nothing to sum is zero, nothing to compute is nothing") {
  HostTensor out = callKernel(matmul(), {randomF32({2, 0}, 1), randomF32({0, 3}, 1)}).outputs[0];
  CHECK(out.values<float>() == std::vector<float>(6, 0));
  CHECK(callKernel(matmul(), {randomF32({0, 4}, 1), randomF32({4, 3}, 1)}).error.empty());
}

TEST_CASE("matmul: one and two threads give the same bits") {
  auto dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16);
  HostTensor a = cast(randomF32({130, 300}, 1), dtype), b = cast(randomF32({300, 250}, 2), dtype);
  CallResult one = callKernel(matmul(), {a, b}), two = callKernel(matmul(), {a, b}, {2});
  CHECK(one.implementation == two.implementation);
  CHECK(one.outputs[0].storage == two.outputs[0].storage);
}

TEST_CASE("prepared kernels are cached, counted and bounded") {
  HostTensor a = randomF32({11, 13}, 1), b = randomF32({13, 17}, 2);
  PreparedCacheStats before = preparedCacheStats();
  callKernel(matmul(), {a, b});
  callKernel(matmul(), {a, b});
  PreparedCacheStats after = preparedCacheStats();
  CHECK(after.misses == before.misses + 1);
  CHECK(after.hits == before.hits + 1);
  setPreparedCacheLimit(0);
  CHECK(preparedCacheStats().entries == 0);
  CHECK(preparedCacheStats().bytes == 0);
  setPreparedCacheLimit(after.limit);
}

TEST_CASE("an implementation that this library does not pick is refused by name") {
  HostTensor a = randomF32({4, 4}, 1);
  OpDef op = matmul();
  Metas metas = {a.meta, a.meta}, results = {a.meta};
  PrepareRequest request{op, metas, results};
  request.implementation = "brg:imagined";
  CHECK(messageOf(prepareKernel(hostDevice().kernels(), request))
            .find("matmul: implementation must be brg:imagined, got ") == 0);
}

/// Prepares a product of this implementation; any: "".
static llvm::Expected<PreparedRef> prepareSmall(llvm::StringRef implementation) {
  static OpDef op = matmul();
  static TensorMeta metas[] = {TensorMeta(DType::Float32, {4, 4}), TensorMeta(DType::Float32, {4, 4})};
  PrepareRequest request{op, metas, llvm::ArrayRef(metas).take_front(1)};
  request.implementation = implementation;
  return prepareKernel(hostDevice().kernels(), request);
}

TEST_CASE("a cached kernel serves only those who want its implementation") {
  CHECK(get(prepareSmall(""))->implementation() == "own:contract");
  CHECK(get(prepareSmall("own:contract")) == get(prepareSmall("")));
  CHECK(get(prepareSmall("own:matmul"))->implementation() == "own:matmul");
  std::string refusal = messageOf(prepareSmall("brg:imagined"));
  std::string library = refusal.substr(refusal.find(", got ") + 6);
  library = library.substr(0, library.find(" from "));
  CHECK(library != "own:contract");
  CHECK(get(prepareSmall(library))->implementation() == library);
  CHECK(get(prepareSmall(library)) == get(prepareSmall(library)));
  CHECK(get(prepareSmall(""))->implementation() == "own:contract");
}

TEST_CASE("matmul: the library gets no rows of which a block needs offsets of more than 32 bits") {
  auto implementationOf = [](int64_t rows) {
    OpDef op = matmul();
    Metas operands = {TensorMeta(DType::Float32, {rows, 2}), TensorMeta(DType::Float32, {2, 1 << 25})};
    Metas results = get(op.infer(operands));
    PrepareRequest request{op, operands, results};
    request.implementation = "brg:imagined"; // of a file that was compiled for a kernel of the library
    return messageOf(prepareKernel(hostDevice().kernels(), request));
  };
  CHECK(implementationOf(17).find("got own:matmul") != std::string::npos); // which ended the process
  CHECK(implementationOf(16).find("got own:matmul") == std::string::npos);
}
