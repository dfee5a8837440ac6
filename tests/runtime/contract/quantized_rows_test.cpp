// Rows by quantized weights: the bits of the stated order of sums, whatever threads, level and packing.
#include "ops/vocabulary/Error.h"
#include "runtime/contract/QuantizedRows.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::contract;

namespace {

constexpr const char *kLevels[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+avx512vnni"};

template <typename T> constexpr DType kDType = DType::Float32;
template <> constexpr DType kDType<BF16> = DType::BFloat16;
template <> constexpr DType kDType<F16> = DType::Float16;

/// Memory that is aligned to 64, and full of what is no number.
class Memory {
public:
  explicit Memory(size_t size) : bytes(size + 64, char(0xff)) {}
  char *get() { return reinterpret_cast<char *>(llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64)); }

private:
  std::vector<char> bytes;
};

/// Weights, and what rows become.
struct Form {
  TileLines numbers;
  DType rows = DType::Float32;
};

constexpr Form kForms[] = {
    {TileLines::Bytes}, {TileLines::Nibbles}, {TileLines::Bytes, DType::Int8}, {TileLines::Nibbles, DType::Int8}};

template <typename T> class Case {
public:
  Case(Form form, int64_t rows, int64_t columns, int64_t depth, int64_t group, bool hasBias)
      : rows(rows), columns(columns), depth(depth), group(group ? group : depth),
        shape{form.numbers, depth, columns, group, form.rows}, lhs(size_t(rows * depth)),
        bias(size_t(hasBias ? columns : 0)), bytes(size_t(columnBytes() * columns)),
        scales(size_t(numGroups() * columns)) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::vector<T> *list : {&lhs, &bias})
      for (T &each : *list)
        each = narrow<T>(uniform(engine));
    for (uint8_t &each : bytes)
      each = uint8_t(engine());
    for (float &each : scales)
      each = std::abs(uniform(engine)) + 0.01f;
  }

  void fillWeights(uint8_t byte) { llvm::fill(bytes, byte); }
  void setRow(int64_t row, const std::vector<float> &numbers) {
    for (int64_t k = 0; k < depth; ++k)
      lhs[size_t(row * depth + k)] = narrow<T>(numbers[size_t(k) % numbers.size()]);
  }

  std::vector<T> expected() const {
    const int64_t chunk = kContractLines * (isNibbles() ? 8 : 1);
    std::vector<T> out;
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<float> row;
      std::transform(lhs.begin() + r * depth, lhs.begin() + (r + 1) * depth, std::back_inserter(row),
                     [](T x) { return widen(x); });
      const float scale = shape.rows == DType::Int8 ? quantize(row) : 1;
      for (int64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (int64_t first = 0; first < depth; first += chunk) {
          float sum = chunkOf(row, c, first, std::min(first + chunk, depth));
          total = first ? total + sum : sum;
        }
        total *= scale;
        out.push_back(narrow<T>(bias.empty() ? total : total + widen(bias[size_t(c)])));
      }
    }
    return out;
  }

  /// `packs`: whether numbers, and scales, are packed before.
  std::vector<T> computed(unsigned threads, std::array<bool, 2> packs, const char *level = nullptr) const {
    const Kernels *kernels = level ? Kernels::of(shape.rows, level, shape.numbers) : nullptr;
    llvm::cantFail(shape.check());
    const QuantizedForm form(shape);
    Memory panels(form.bytes()), scalePanels(form.numScales() * sizeof(float));
    packNumbers(shape, bytes.data(), panels.get());
    packScales(shape, scales.data(), reinterpret_cast<float *>(scalePanels.get()));
    const QuantizedRows products({kDType<T>, rows, shape, packs[0], packs[1]}, threads, kernels);
    Memory workspace(products.workspaceBytes());
    std::vector<T> out(size_t(rows * columns));
    const QuantizedOperands operands{lhs.data(), packs[0] ? panels.get() : static_cast<const void *>(bytes.data()),
                                     packs[1] ? scalePanels.get() : static_cast<const void *>(scales.data()),
                                     bias.empty() ? nullptr : bias.data()};
    llvm::cantFail(Worker::global().call([&] {
      products.run(operands, out.data(), workspace.get());
      return llvm::Error::success();
    }));
    return out;
  }

private:
  bool isNibbles() const { return shape.numbers == TileLines::Nibbles; }
  int64_t columnBytes() const { return isNibbles() ? (depth + 1) / 2 : depth; }
  int64_t numGroups() const { return llvm::divideCeil(depth, group); }

  float weight(int64_t k, int64_t c) const {
    const uint8_t byte = bytes[size_t(c * columnBytes() + (isNibbles() ? k / 2 : k))];
    if (!isNibbles())
      return float(int8_t(byte));
    const int number = byte >> 4 * (k % 2) & 15;
    return float(number < 8 ? number : number - 16);
  }

  /// Makes numbers integers, and returns their scale.
  static float quantize(std::vector<float> &row) {
    float largest = 0;
    for (float x : row)
      largest = std::fmax(largest, std::fabs(x));
    float scale = largest / 127;
    if (scale < std::numeric_limits<float>::min())
      scale = 1;
    for (float &x : row)
      x = std::isnan(x / scale) ? 0 : std::round(x / scale);
    return scale;
  }

  float chunkOf(const std::vector<float> &row, int64_t c, int64_t begin, int64_t end) const {
    float total = 0;
    for (int64_t first = begin; first < end;) {
      const int64_t last = std::min((first / group + 1) * group, end);
      float sum = 0;
      for (int64_t k = first; k < last; ++k)
        sum = std::fma(row[size_t(k)], weight(k, c), sum);
      total = std::fma(sum, scales[size_t(c * numGroups() + first / group)], total);
      first = last;
    }
    return total;
  }

  std::mt19937_64 engine{11};
  int64_t rows, columns, depth, group;
  QuantizedShape shape;
  std::vector<T> lhs, bias;
  std::vector<uint8_t> bytes;
  std::vector<float> scales;
};

template <typename T> bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

template <typename T> void checkEverywhere(const Case<T> &product, Form form) {
  const std::vector<T> expected = product.expected();
  for (unsigned threads : {1u, 2u, 3u})
    for (std::array<bool, 2> packs : {std::array{true, true}, {true, false}, {false, true}, {false, false}})
      CHECK(sameBits(product.computed(threads, packs), expected));
  for (const char *level : kLevels)
    if (Kernels::of(form.rows, level, form.numbers)) {
      INFO(level);
      CHECK(sameBits(product.computed(2, {true, true}, level), expected));
    }
}

template <typename T> void checkShapes(Form form) {
  for (auto [rows, columns, depth] : {std::array<int64_t, 3>{1, 1, 1},
                                      {1, 128, 256},
                                      {1, 129, 257},
                                      {2, 15, 33},
                                      {3, 300, 100},
                                      {4, 17, 2049},
                                      {1, 16, 7},
                                      {5, 50, 31},
                                      {9, 40, 64},
                                      {53, 40, 64},
                                      {1, 1000, 4100},
                                      {4, 272, 513}})
    for (int64_t group : {0, 8, 32, 128, 256})
      for (bool hasBias : {false, true}) {
        INFO(rows << "x" << depth << " by " << columns << " columns, groups of " << group << " " << hasBias);
        checkEverywhere(Case<T>(form, rows, columns, depth, group, hasBias), form);
      }
}

} // namespace

TEST_CASE("rows of float32 by weights of 8 bits") { checkShapes<float>({TileLines::Bytes}); }
TEST_CASE("rows of float32 by weights of 4 bits") { checkShapes<float>({TileLines::Nibbles}); }
TEST_CASE("rows as int8 by weights of 8 bits") { checkShapes<float>({TileLines::Bytes, DType::Int8}); }
TEST_CASE("rows as int8 by weights of 4 bits") { checkShapes<float>({TileLines::Nibbles, DType::Int8}); }

TEST_CASE("rows and biases of bfloat16 and float16 are widened, and results rounded once") {
  for (Form form : kForms) {
    checkEverywhere(Case<BF16>(form, 2, 150, 300, 32, false), form);
    checkEverywhere(Case<F16>(form, 5, 150, 300, 0, true), form);
  }
}

TEST_CASE("the smallest and the largest weights are themselves") {
  for (uint8_t byte : {0x80, 0x7f, 0x88, 0x77, 0x00})
    for (Form form : kForms) {
      Case<float> product(form, 2, 33, 70, 32, false);
      product.fillWeights(byte);
      checkEverywhere(product, form);
    }
}

TEST_CASE("rows of the largest integers have exact sums of whole chunks") {
  for (Form form : kForms)
    for (uint8_t byte : {0x80, 0x88, 0x7f, 0x77})
      for (int64_t group : {0, 256}) {
        Case<float> product(form, 1, 20, 4100, group, false);
        product.fillWeights(byte);
        product.setRow(0, {127});
        checkEverywhere(product, form);
      }
}

TEST_CASE("rows as int8 round halves away from 0, and have a scale of their own") {
  const float kNan = std::numeric_limits<float>::quiet_NaN(), kLeast = std::numeric_limits<float>::min();
  for (TileLines numbers : {TileLines::Bytes, TileLines::Nibbles}) {
    const Form form{numbers, DType::Int8};
    Case<float> product(form, 8, 35, 75, 16, true);
    product.setRow(0, {0});
    product.setRow(1, {0.5f, -0.5f, 1.5f, -2.5f, 127, 0.49999997f, -126.5f});
    product.setRow(2, {kLeast / 2, -kLeast, kLeast * 126});
    product.setRow(3, {kLeast * 127, -kLeast, kLeast / 2});
    product.setRow(4, {kNan, 3, -kNan, 1});
    product.setRow(5, {kNan});
    product.setRow(6, {std::numeric_limits<float>::max(), -1e38f});
    product.setRow(7, {-0.0f, 1e-30f, -3e-30f});
    checkEverywhere(product, form);
  }
}

TEST_CASE("a row as int8 with an infinity gives NaN, and no other does") {
  for (TileLines numbers : {TileLines::Bytes, TileLines::Nibbles}) {
    Case<float> product({numbers, DType::Int8}, 3, 35, 75, 0, true);
    product.setRow(1, {1, -std::numeric_limits<float>::infinity(), 2});
    const std::vector<float> expected = product.expected(), got = product.computed(2, {true, true});
    for (size_t i = 0; i < got.size(); ++i)
      CHECK((i / 35 == 1 ? std::isnan(got[i]) && std::isnan(expected[i]) : got[i] == expected[i]));
  }
}

TEST_CASE("shapes of quantized weights that mean nothing are refused") {
  auto refusal = [](QuantizedShape shape) {
    llvm::Error error = shape.check();
    return error ? takeError(std::move(error)).second : "";
  };
  CHECK(refusal({TileLines::Bytes, 5, 7, 0}) == "");
  CHECK(refusal({TileLines::Nibbles, 5, 7, 128}) == "");
  for (int64_t group : {-32, 4, 48, 512})
    CHECK(refusal({TileLines::Nibbles, 5, 7, group}) ==
          "quantized weights: group must be 0 or a power of 2 from 8 to 256, got " + std::to_string(group));
  CHECK(refusal({TileLines::Bytes, 0, 7, 0}) == "quantized weights: there must be depth and columns, got 0 and 7");
}
