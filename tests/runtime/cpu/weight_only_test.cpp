// Linear layers by quantized weights against plain loops in the stated order of sums, bit for bit: every level of
// processors, dtype, number of bits, group, number of rows and of threads.
#include "runtime/contract/Kernels.h"
#include "tests/runtime/KernelHarness.h"

#include <cmath>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

constexpr const char *kLevels[] = {"x86-64-v4+avx512bf16", "x86-64-v4+avx512vnni", "x86-64-v4", "x86-64-v3"};

/// Products of a level and of those below, while it lives.
class LevelUpTo {
public:
  explicit LevelUpTo(const char *name) { llvm::cantFail(contract::limitLevel(name)); }
  ~LevelUpTo() { llvm::cantFail(contract::limitLevel(kLevels[0])); }
};

/// x [rows, depth] by a weight of `columns` channels.
struct Layer {
  int64_t rows, columns, depth, bits, group;
  bool hasBias = true;
  DType dtype = DType::Float32;
  bool byInt8 = false;

  int64_t columnBytes() const { return bits == 4 ? (depth + 1) / 2 : depth; }
  int64_t groupSize() const { return group ? group : depth; }
  int64_t numGroups() const { return group ? (depth + group - 1) / group : 1; }
  OpDef op() const {
    return OpDef::get("weight_only_linear")
        .set("bits", bits)
        .set("group", group)
        .set("activations", std::string(byInt8 ? "int8" : "float"));
  }
};

template <typename T> HostTensor randomFloats(DType dtype, llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
  HostTensor out(dtype, shape);
  for (int64_t i = 0, n = out.meta.numElements(); i < n; ++i)
    out.as<T>()[i] = narrow<T>(std::uniform_real_distribution<float>(-1, 1)(random));
  return out;
}

template <typename T> std::vector<HostTensor> operandsOf(const Layer &layer) {
  std::mt19937 random(7);
  std::vector<HostTensor> list = {randomFloats<T>(layer.dtype, {layer.rows, layer.depth}, random),
                                  HostTensor(DType::Int8, {layer.columns, layer.columnBytes()})};
  for (int64_t i = 0, n = list[1].meta.numElements(); i < n; ++i)
    list[1].as<uint8_t>()[i] = uint8_t(random());
  Shape scales = {layer.columns};
  if (layer.group)
    scales.push_back(layer.numGroups());
  list.push_back(randomFloats<float>(DType::Float32, scales, random));
  if (layer.hasBias)
    list.push_back(randomFloats<T>(layer.dtype, {layer.columns}, random));
  return list;
}

float weightOf(const Layer &layer, HostTensor &weight, int64_t column, int64_t k) {
  if (layer.bits == 8)
    return weight.as<int8_t>()[column * layer.depth + k];
  const int number = weight.as<uint8_t>()[column * layer.columnBytes() + k / 2] >> 4 * (k % 2) & 15;
  return float(number < 8 ? number : number - 16);
}

/// A row as it is multiplied, and its scale.
template <typename T> std::pair<std::vector<float>, float> rowOf(const Layer &layer, HostTensor &x, int64_t row) {
  std::vector<float> numbers;
  float largest = 0, scale = 1;
  for (int64_t k = 0; k < layer.depth; ++k) {
    numbers.push_back(widen(x.as<T>()[row * layer.depth + k]));
    largest = std::max(largest, std::abs(numbers.back()));
  }
  if (!layer.byInt8)
    return {numbers, scale};
  if (largest / 127 >= std::numeric_limits<float>::min())
    scale = largest / 127;
  for (float &number : numbers)
    number = std::round(number / scale); // halves away from 0
  return {numbers, scale};
}

/// The sum of numbers [begin, end), of one chunk.
float chunkOf(const Layer &layer, std::vector<HostTensor> &list, llvm::ArrayRef<float> row, int64_t column,
              int64_t begin, int64_t end) {
  float total = 0;
  for (int64_t first = begin; first < end;) {
    const int64_t group = first / layer.groupSize(), last = std::min((group + 1) * layer.groupSize(), end);
    float sum = 0;
    for (int64_t k = first; k < last; ++k)
      sum = std::fma(row[size_t(k)], weightOf(layer, list[1], column, k), sum);
    total = std::fma(sum, list[2].as<float>()[column * layer.numGroups() + group], total);
    first = last;
  }
  return total;
}

template <typename T> HostTensor reference(const Layer &layer, std::vector<HostTensor> list) {
  const int64_t chunk = layer.bits == 8 ? 256 : 2048;
  HostTensor out(layer.dtype, {layer.rows, layer.columns});
  for (int64_t row = 0; row < layer.rows; ++row) {
    const auto [numbers, scale] = rowOf<T>(layer, list[0], row);
    for (int64_t column = 0; column < layer.columns; ++column) {
      float total = 0;
      for (int64_t begin = 0; begin < layer.depth; begin += chunk) {
        const float sum = chunkOf(layer, list, numbers, column, begin, std::min(begin + chunk, layer.depth));
        total = begin ? total + sum : sum;
      }
      total *= scale;
      if (layer.hasBias)
        total += widen(list[3].as<T>()[column]);
      out.as<T>()[row * layer.columns + column] = narrow<T>(total);
    }
  }
  return out;
}

template <typename T> void check(const Layer &layer) {
  const std::vector<HostTensor> operands = operandsOf<T>(layer);
  const HostTensor expected = reference<T>(layer, operands);
  for (unsigned threads : {1u, 2u, 3u}) {
    CallOptions options;
    options.threads = threads;
    options.segments = {1, 1, 1, unsigned(layer.hasBias)};
    CallResult result = callKernel(layer.op(), operands, options);
    CAPTURE(layer.rows, layer.columns, layer.depth, layer.bits, layer.group, layer.hasBias, layer.dtype, layer.byInt8,
            threads);
    REQUIRE(result.error == "");
    CHECK(sameBits<T>(result.outputs[0], expected));
  }
}

} // namespace

TEST_CASE("weight_only_linear: the bits of the stated sums, for all levels, dtypes, rows and threads") {
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2], kLevels[3]);
  const bool byInt8 = GENERATE(false, true);
  LevelUpTo limit(level);
  for (int64_t bits : {8, 4})
    for (int64_t group : {0, 8, 32, 256})
      for (int64_t rows = 1; rows <= 9; ++rows) {
        const int64_t columns = 16 * rows - 9, depth = 37 * rows + (rows == 9 ? 2000 : 0);
        check<float>({rows, columns, depth, bits, group, rows % 2 == 0, DType::Float32, byInt8});
        check<BF16>({rows, columns, depth, bits, group, rows % 2 == 1, DType::BFloat16, byInt8});
        check<F16>({rows, columns, depth, bits, group, rows % 2 == 0, DType::Float16, byInt8});
      }
}

TEST_CASE("weight_only_linear: many rows, blocks and chunks") {
  const bool byInt8 = GENERATE(false, true);
  check<float>({70, 300, 600, 8, 128, true, DType::Float32, byInt8});
  check<float>({33, 520, 2100, 4, 64, true, DType::Float32, byInt8});
  check<BF16>({40, 257, 300, 8, 0, true, DType::BFloat16, byInt8});
}

TEST_CASE("weight_only_linear: without numbers a result is the bias, or 0") {
  for (bool hasBias : {false, true})
    for (auto [rows, columns, depth] : {std::array<int64_t, 3>{3, 5, 0}, {0, 5, 7}, {3, 0, 7}, {0, 0, 0}})
      for (int64_t bits : {8, 4})
        check<F16>({rows, columns, depth, bits, 0, hasBias, DType::Float16, bits == 8});
}
