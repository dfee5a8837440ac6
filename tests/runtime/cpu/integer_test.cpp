// Exact sums of products of bytes against plain loops in 64 bits: every level of processors, dtype, zero point and
// number of threads.
#include "runtime/contract/Kernels.h"
#include "tests/runtime/ConvCases.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

constexpr const char *kLevels[] = {"x86-64-v4+avx512bf16", "x86-64-v4", "x86-64-v3"};

/// Products of a level and of those below, while it lives.
class LevelUpTo {
public:
  explicit LevelUpTo(const char *name) { llvm::cantFail(contract::limitLevel(name)); }
  ~LevelUpTo() { llvm::cantFail(contract::limitLevel(kLevels[0])); }
};

/// Any bytes, or the two ends alone.
HostTensor randomBytes(DType dtype, llvm::ArrayRef<int64_t> shape, unsigned seed, bool onlyEnds = false) {
  HostTensor out(dtype, shape);
  std::mt19937 random(seed);
  const uint8_t lowest = dtype == DType::UInt8 ? 0 : 0x80;
  for (int64_t i = 0, n = out.meta.numElements(); i < n; ++i)
    out.as<uint8_t>()[i] = onlyEnds ? uint8_t(random() % 2 ? lowest : lowest - 1) : uint8_t(random());
  return out;
}

std::vector<int64_t> numbersOf(HostTensor &x, int64_t zero) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0, n = x.meta.numElements(); i < n; ++i)
    numbers.push_back((x.meta.dtype == DType::UInt8 ? int64_t(x.as<uint8_t>()[i]) : int64_t(x.as<int8_t>()[i])) - zero);
  return numbers;
}

HostTensor zeroPoint(int32_t value) { return {DType::Int32, {}, std::vector<int32_t>{value}}; }

struct Product {
  int64_t batch, m, n, k;
  bool isShared = false; // one right matrix for all
};

/// x [batch, m, k] by y [batch or 1, k, n].
std::vector<int32_t> reference(const Product &p, const std::vector<int64_t> &x, const std::vector<int64_t> &y,
                               bool transposesX, bool transposesY) {
  std::vector<int32_t> out;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t column = 0; column < p.n; ++column) {
        int64_t sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += x[size_t(b * p.m * p.k + (transposesX ? k * p.m + row : row * p.k + k))] *
                 y[size_t((p.isShared ? 0 : b) * p.k * p.n + (transposesY ? column * p.k + k : k * p.n + column))];
        out.push_back(int32_t(sum));
      }
  return out;
}

const std::vector<Product> kProducts = {{1, 1, 1, 1},     {1, 1, 70, 33},    {1, 5, 1, 40},    {3, 2, 3, 4},
                                        {1, 37, 65, 130}, {2, 14, 33, 257},  {1, 3, 17, 1030}, {4, 9, 20, 12, true},
                                        {1, 130, 96, 64}, {1, 64, 300, 520}, {1, 2, 3, 0},     {0, 2, 3, 4}};

} // namespace

TEST_CASE("integer_matmul: exact for all levels, dtypes, zero points and threads") {
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2]);
  auto [left, right] = GENERATE(std::pair(DType::Int8, DType::Int8), std::pair(DType::UInt8, DType::Int8),
                                std::pair(DType::Int8, DType::UInt8), std::pair(DType::UInt8, DType::UInt8));
  const unsigned zeros = GENERATE(0u, 1u, 2u);
  LevelUpTo limit(level);
  unsigned seed = 0;
  for (const Product &p : kProducts)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool ofX = transposes & 1, ofY = transposes & 2;
      ++seed;
      HostTensor x = randomBytes(left, {p.batch, ofX ? p.k : p.m, ofX ? p.m : p.k}, seed);
      const int64_t batches = p.isShared ? 1 : p.batch;
      HostTensor y = randomBytes(right, {batches, ofY ? p.n : p.k, ofY ? p.k : p.n}, seed + 100, seed % 3 == 0);
      const int32_t xZero = left == DType::UInt8 ? 200 : -100, yZero = right == DType::UInt8 ? 3 : 77;
      std::vector<HostTensor> operands = {x, y};
      if (zeros)
        operands.push_back(zeroPoint(xZero));
      if (zeros > 1)
        operands.push_back(zeroPoint(yZero));
      const auto expected =
          reference(p, numbersOf(x, zeros ? xZero : 0), numbersOf(y, zeros > 1 ? yZero : 0), ofX, ofY);
      OpDef op = OpDef::get("integer_matmul");
      op.set("transpose_x", ofX).set("transpose_y", ofY);
      for (unsigned threads : {1u, 2u, 3u}) {
        CallOptions options;
        options.threads = threads;
        CallResult result = callKernel(op, operands, options);
        REQUIRE(result.error == "");
        CAPTURE(level, left, right, zeros, transposes, p.m, p.n, p.k, threads);
        CHECK(result.outputs[0].values<int32_t>() == expected);
      }
    }
}

TEST_CASE("integer_conv and its transposed form: exact for all levels, dtypes, zero points and threads") {
  const std::vector<ConvCase> cases = {
      {{2, 3, 5, 6}, {4, 3, 3, 3}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{2, 3, 5, 6}, {4, 3, 3, 2}, {1, 1}, {1, 1}},
      {{1, 4, 7, 7}, {6, 2, 3, 3}, {2, 1}, {1, 0}, {1, 1}, 2},
      {{2, 16, 8, 8}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},
      {{2, 40, 9, 8}, {40, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 40},
      {{1, 24, 9, 9}, {48, 1, 3, 2}, {2, 1}, {1, 2}, {2, 1}, 24},
      {{2, 12, 8, 7}, {6, 2, 3, 3}, {1, 2}, {1, 1}, {1, 1}, 6},
      {{1, 17, 10, 11}, {19, 17, 3, 3}, {2, 2}, {1, 1}},
      {{1, 8, 6, 6}, {3, 8, 1, 1}, {1, 1}, {1, 1}}, // a transposed one has fewer elements than places
      {{1, 6, 12}, {18, 1, 4}, {3}, {1}, {2}, 6},
      {{1, 9, 5, 6, 7}, {9, 1, 3, 2, 3}, {1, 2, 2}, {1, 0, 1}, {1, 2, 1}, 9},
      {{1, 32, 10, 10}, {24, 32, 2, 2}, {3, 3}, {0, 0}, {1, 1}}, // elements that no window reaches
      {{1, 3, 20, 20}, {8, 3, 7, 7}, {2, 2}, {3, 3}},
      {{3, 32, 6, 6}, {8, 32, 1, 1}},
      {{4, 32, 6, 6}, {8, 16, 1, 1}, {2, 2}, {0, 0}, {1, 1}, 2},
      {{2, 8, 9}, {5, 8, 3}, {1}, {2}, {1}},
      {{1, 16, 4, 5, 6}, {16, 8, 3, 1, 2}, {2, 1, 3}, {1, 0, 1}, {1, 3, 2}, 2},
      {{1, 40, 31, 30}, {24, 40, 3, 3}, {1, 1}, {1, 1}}, // several blocks of windows
      {{2, 64, 14, 14}, {40, 64, 3, 3}, {1, 1}, {1, 1}},
      {{1, 16, 4, 4}, {5, 16, 3, 3}, {1, 1}, {20, 20}, {20, 20}}, // places beyond the edges
  };
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2]);
  auto dtype = GENERATE(DType::Int8, DType::UInt8);
  const bool hasZero = GENERATE(false, true);
  LevelUpTo limit(level);
  const int32_t zero = !hasZero ? 0 : dtype == DType::UInt8 ? 131 : -7;
  for (const ConvCase &c : cases) {
    OpDef op = makeConv(namedConv(c, "integer_conv"), c);
    HostTensor x = randomBytes(dtype, c.x, 1), weight = randomBytes(DType::Int8, c.weight, 2);
    const Shape shape = get(op.infer({x.meta, weight.meta}))[0].shape;
    HostTensor dout = randomBytes(dtype, shape, 3);
    const auto xs = numbersOf(x, zero), ws = numbersOf(weight, 0), ds = numbersOf(dout, zero);
    std::vector<int32_t> y(ds.size()), dx(xs.size());
    products(c, shape, [&](int64_t a, int64_t b, int64_t o) {
      y[size_t(o)] += int32_t(xs[size_t(a)] * ws[size_t(b)]);
      dx[size_t(a)] += int32_t(ds[size_t(o)] * ws[size_t(b)]);
    });
    OpDef transposed = transposedConv(c, shape), of = OpDef::get(namedConv(c, "integer_conv_transpose"));
    for (const char *attr : {"strides", "padding", "dilation", "output_padding"})
      of.set(attr, transposed.ints(attr));
    of.set("groups", c.groups);
    for (unsigned threads : {1u, 2u, 3u}) {
      CallOptions options;
      options.threads = threads;
      std::vector<HostTensor> forward = {x, weight}, backward = {dout, weight};
      if (hasZero) {
        forward.push_back(zeroPoint(zero));
        backward.push_back(zeroPoint(zero));
      }
      CAPTURE(level, dtype, hasZero, threads, c.x, c.weight);
      CHECK(callKernel(op, forward, options).outputs[0].values<int32_t>() == y);
      CHECK(callKernel(of, backward, options).outputs[0].values<int32_t>() == dx);
    }
  }
}

TEST_CASE("integer sums: the deepest ones are exact, and a deeper one is refused") {
  HostTensor x(DType::UInt8, {1, 65793}), y(DType::Int8, {65793, 17});
  std::fill_n(x.as<uint8_t>(), 65793, uint8_t(255));
  std::fill_n(y.as<int8_t>(), 65793 * 17, int8_t(-128));
  const OpDef op = OpDef::get("integer_matmul");
  CHECK(callKernel(op, {x, y}).outputs[0].values<int32_t>() == std::vector<int32_t>(17, -65793 * 255 * 128));
  Metas deep = {TensorMeta(DType::UInt8, Shape{1, 65794}), TensorMeta(DType::Int8, Shape{65794, 17})};
  CHECK(messageOf(op.infer(deep).takeError()) ==
        "integer_matmul: depth (65794, at most 65793) must keep sums within int32, got x u8[1, 65794] and y i8[65794, "
        "17]");
}
