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
#include <random>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::contract;

namespace {

constexpr const char *kLevels[] = {"x86-64-v3", "x86-64-v4"};

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

template <typename T> class Case {
public:
  Case(TileLines numbers, int64_t rows, int64_t columns, int64_t depth, int64_t group, bool hasBias)
      : rows(rows), columns(columns), depth(depth), group(group ? group : depth), shape{numbers, depth, columns, group},
        lhs(size_t(rows * depth)), bias(size_t(hasBias ? columns : 0)), bytes(size_t(columnBytes() * columns)),
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

  std::vector<T> expected() const {
    const int64_t chunk = kContractLines * (isNibbles() ? 8 : 1);
    std::vector<T> out;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (int64_t first = 0; first < depth; first += chunk) {
          float sum = chunkOf(r, c, first, std::min(first + chunk, depth));
          total = first ? total + sum : sum;
        }
        out.push_back(narrow<T>(bias.empty() ? total : total + widen(bias[size_t(c)])));
      }
    return out;
  }

  /// `packs`: whether numbers, and scales, are packed before.
  std::vector<T> computed(unsigned threads, std::array<bool, 2> packs, const char *level = nullptr) const {
    const Kernels *kernels = level ? Kernels::of(DType::Float32, level, shape.numbers) : nullptr;
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

  float chunkOf(int64_t r, int64_t c, int64_t begin, int64_t end) const {
    float total = 0;
    for (int64_t first = begin; first < end;) {
      const int64_t last = std::min((first / group + 1) * group, end);
      float sum = 0;
      for (int64_t k = first; k < last; ++k)
        sum = std::fma(widen(lhs[size_t(r * depth + k)]), weight(k, c), sum);
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

template <typename T> void checkEverywhere(const Case<T> &product, TileLines numbers) {
  const std::vector<T> expected = product.expected();
  for (unsigned threads : {1u, 2u, 3u})
    for (std::array<bool, 2> packs : {std::array{true, true}, {true, false}, {false, true}, {false, false}})
      CHECK(sameBits(product.computed(threads, packs), expected));
  for (const char *level : kLevels)
    if (Kernels::of(DType::Float32, level, numbers)) {
      INFO(level);
      CHECK(sameBits(product.computed(2, {true, true}, level), expected));
    }
}

template <typename T> void checkShapes(TileLines numbers) {
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
        checkEverywhere(Case<T>(numbers, rows, columns, depth, group, hasBias), numbers);
      }
}

} // namespace

TEST_CASE("rows of float32 by weights of 8 bits") { checkShapes<float>(TileLines::Bytes); }
TEST_CASE("rows of float32 by weights of 4 bits") { checkShapes<float>(TileLines::Nibbles); }

TEST_CASE("rows and biases of bfloat16 and float16 are widened, and results rounded once") {
  for (TileLines numbers : {TileLines::Bytes, TileLines::Nibbles}) {
    checkEverywhere(Case<BF16>(numbers, 2, 150, 300, 32, false), numbers);
    checkEverywhere(Case<F16>(numbers, 5, 150, 300, 0, true), numbers);
  }
}

TEST_CASE("the smallest and the largest weights are themselves") {
  for (uint8_t byte : {0x80, 0x7f, 0x88, 0x77, 0x00})
    for (TileLines numbers : {TileLines::Bytes, TileLines::Nibbles}) {
      Case<float> product(numbers, 2, 33, 70, 32, false);
      product.fillWeights(byte);
      checkEverywhere(product, numbers);
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
