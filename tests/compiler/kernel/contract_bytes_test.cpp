// Products of 8-bit and 4-bit numbers as kernels: every tile and tail, on every level, with the sums that plain loops
// give.
#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace tess;
using namespace tess::test;

namespace {

constexpr const char *kTargets[] = {"x86-64-v3", "x86-64-v4", "host"}; // the last one has AVX512_VNNI, on most machines

/// Whether this machine runs code of the target.
bool isHere(llvm::StringRef target) { return target != "x86-64-v4" || __builtin_cpu_supports("avx512bw"); }

std::string headOf(unsigned reduced, unsigned rows, unsigned panels) {
  return "kernel parallel=2 reduced=" + std::to_string(reduced) +
         " lanes=parallel order=chunked tile=" + std::to_string(rows) + "x" + std::to_string(panels) + " attrs=0\n";
}

KernelSpec quads(const std::string &left, unsigned rows, unsigned panels) {
  return llvm::cantFail(KernelSpec::parse(headOf(1, rows, panels) + "o0 = input " + left +
                                          " broadcast varies\no1 = input i8 contiguous varies\n" +
                                          "o2 = output i32 contiguous\nn0 = load o0 : " + left +
                                          "\nn1 = load o1 : i8\nn2 = contract n0 n1 : i32\nstore n2 o2\n"));
}

/// Weights of 8 bits, or of 4 bits in words.
KernelSpec weights(bool isNibbles, unsigned rows, unsigned panels) {
  const std::string stored = isNibbles ? "u32" : "i8", convert = isNibbles ? "unpack" : "cast";
  return llvm::cantFail(KernelSpec::parse(
      headOf(2, rows, panels) + "o0 = input f32 broadcast varies\no1 = input " + stored +
      " contiguous varies\no2 = input f32 contiguous varies\no3 = output f32 contiguous\nn0 = load o0 : f32\n" +
      "n1 = load o1 : " + stored + "\nn2 = " + convert +
      " n1 : f32\nn3 = load o2 : f32\nn4 = contract n0 n2 n3 : f32\nstore n4 o3\n"));
}

/// One tile of bytes: four of each column in a line, and a line of offsets behind those of each panel.
template <typename T> struct Tile {
  static constexpr int64_t kPerLine = 64;

  Tile(Random &random, int64_t rows, int64_t columns, int64_t lines)
      : rows(rows), columns(columns), lines(lines), apart((lines + 1) * kPerLine), lhs(size_t(rows * lines * 4)),
        rhs(size_t((columns + 15) / 16 * apart)) {
    for (T &each : lhs)
      each = T(random.bits());
    for (int8_t &each : rhs)
      each = int8_t(random.bits());
    for (int64_t c = 0; c < (columns + 15) / 16 * 16; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < lines * 4; ++k)
        sum += rhs[at(k, c)];
      const int32_t offset = -128 * sum;
      std::memcpy(&rhs[size_t(c / 16 * apart + lines * kPerLine + c % 16 * 4)], &offset, sizeof offset);
    }
  }

  size_t at(int64_t k, int64_t c) const { return size_t(c / 16 * apart + k / 4 * kPerLine + c % 16 * 4 + k % 4); }

  std::vector<int32_t> expected(std::vector<int32_t> before, bool adds) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        int64_t total = adds ? before[size_t(r * columns + c)] : 0;
        for (int64_t k = 0; k < lines * 4; ++k)
          total += int64_t(lhs[size_t(r * lines * 4 + k)]) * rhs[at(k, c)];
        before[size_t(r * columns + c)] = int32_t(total);
      }
    return before;
  }

  /// Strides along lines are those of words.
  std::vector<int32_t> computed(const Kernel &kernel, std::vector<int32_t> before, int64_t chunk) {
    CallArguments call = callArguments(
        {rows, columns, lines},
        {{lhs.data(), {lines * 4, 0, 1}}, {rhs.data(), {0, apart, 16}}, {before.data(), {columns, 16, 0}}}, {});
    kernel.runChunk(call, chunk);
    return before;
  }

  int64_t rows, columns, lines, apart;
  std::vector<T> lhs;
  std::vector<int8_t> rhs;
};

template <typename T> void checkTiles(const std::string &left) {
  Random random(3);
  for (const char *target : kTargets)
    for (auto [rows, panels] : {std::pair{1u, 1u}, {1u, 8u}, {3u, 1u}, {7u, 2u}, {10u, 2u}, {14u, 2u}}) {
      if (!isHere(target))
        continue;
      Kernel kernel(quads(left, rows, panels), target);
      for (int64_t columns : {16 * panels, 16 * panels - 15, 16 * panels - 1})
        for (int64_t lines : {1, 2, 37})
          for (int64_t chunk : {0, 1}) {
            Tile<T> tile(random, rows, columns, lines);
            std::vector<int32_t> before(size_t(rows * columns));
            for (int32_t &each : before)
              each = int32_t(random.bits() >> 40);
            INFO(target << " " << rows << "x" << panels << " columns " << columns << " lines " << lines);
            CHECK(tile.computed(kernel, before, chunk) == tile.expected(before, chunk));
          }
    }
}

/// One tile of weights: groups of lines of all panels side by side, each with a line of scales behind it.
struct WeightTile {
  WeightTile(Random &random, bool isNibbles, int64_t rows, int64_t columns, int64_t groups, int64_t lines)
      : isNibbles(isNibbles), rows(rows), columns(columns), groups(groups), lines(lines), panels((columns + 15) / 16),
        perLine(isNibbles ? 8 : 1), width(isNibbles ? 4 : 1), lineBytes(panels * 16 * width),
        groupBytes(lines * lineBytes + panels * 64) {
    for (int64_t i = 0; i < rows * depth(); ++i)
      lhs.push_back(float(random.uniform(-1, 1)));
    rhs.resize(size_t(groups * groupBytes));
    for (uint8_t &each : rhs)
      each = uint8_t(random.bits());
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t c = 0; c < panels * 16; ++c) {
        const float scale = float(random.uniform(0.1, 1));
        std::memcpy(&rhs[size_t(g * groupBytes + lines * lineBytes + c * 4)], &scale, sizeof scale);
      }
  }

  int64_t depth() const { return groups * lines * perLine; }

  float weight(int64_t g, int64_t k, int64_t c) const {
    const uint8_t *word = &rhs[size_t(g * groupBytes + k / perLine * lineBytes + c * width)];
    if (!isNibbles)
      return float(int8_t(*word));
    const int number = word[k % perLine / 2] >> 4 * (k % 2) & 15;
    return float(number < 8 ? number : number - 16);
  }

  std::vector<float> expected(std::vector<float> before, bool adds) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (int64_t g = 0; g < groups; ++g) {
          float sum = 0, scale = 0;
          for (int64_t k = 0; k < lines * perLine; ++k)
            sum = std::fma(lhs[size_t(r * depth() + g * lines * perLine + k)], weight(g, k, c), sum);
          std::memcpy(&scale, &rhs[size_t(g * groupBytes + lines * lineBytes + c * 4)], sizeof scale);
          total = std::fma(sum, scale, total);
        }
        float &out = before[size_t(r * columns + c)];
        out = adds ? out + total : total;
      }
    return before;
  }

  std::vector<float> computed(const Kernel &kernel, std::vector<float> before, int64_t chunk) {
    const int64_t words = groupBytes / width, perGroup = lines * perLine;
    CallArguments call = callArguments({rows, columns, groups, lines},
                                       {{lhs.data(), {depth(), 0, perGroup, perLine}},
                                        {rhs.data(), {0, 16, words, panels * 16}},
                                        {rhs.data() + lines * lineBytes, {0, 16, groupBytes / 4, 0}},
                                        {before.data(), {columns, 16, 0, 0}}},
                                       {});
    kernel.runChunk(call, chunk);
    return before;
  }

  bool isNibbles;
  int64_t rows, columns, groups, lines, panels, perLine, width, lineBytes, groupBytes;
  std::vector<float> lhs;
  std::vector<uint8_t> rhs;
};

void checkWeights(bool isNibbles) {
  Random random(9);
  for (const char *target : kTargets)
    for (auto [rows, panels] : {std::pair{1u, 1u}, {1u, 8u}, {2u, 2u}, {2u, 8u}, {3u, 4u}, {4u, 4u}}) {
      if (!isHere(target))
        continue;
      Kernel kernel(weights(isNibbles, rows, panels), target);
      for (int64_t columns : {16 * panels, 16 * panels - 15, 16 * panels - 1})
        for (auto [groups, lines] : {std::pair{1, 1}, {1, 37}, {3, 4}, {8, 32}})
          for (int64_t chunk : {0, 1}) {
            WeightTile tile(random, isNibbles, rows, columns, groups, lines);
            std::vector<float> before(size_t(rows * columns), chunk ? 0.5f : NAN);
            INFO(target << " " << rows << "x" << panels << " columns " << columns << " " << groups << "x" << lines);
            CHECK(sameBits(tile.computed(kernel, before, chunk), tile.expected(before, chunk)));
          }
    }
}

} // namespace

TEST_CASE("tiles of int8 by int8 are exact") { checkTiles<int8_t>("i8"); }
TEST_CASE("so are those of uint8 by int8") { checkTiles<uint8_t>("u8"); }
TEST_CASE("groups of weights of 8 bits are chains, scaled and added in order") { checkWeights(false); }
TEST_CASE("so are those of 4 bits") { checkWeights(true); }

TEST_CASE("a kernel with converted lines has groups and scales") {
  std::string text = weights(true, 1, 8).toText();
  CHECK(refusalOf(text) == "");
  CHECK(refusalOf(weights(false, 1, 8).toText()) == "");
  CHECK(refusalOf(quads("u8", 14, 2).toText()) == "");
  auto changed = [&](std::initializer_list<std::pair<llvm::StringRef, llvm::StringRef>> edits) {
    std::string now = text;
    for (auto [from, to] : edits) {
      auto [before, after] = llvm::StringRef(now).split(from);
      now = (before + to + after).str();
    }
    return refusalOf(now);
  };
  CHECK(changed({{"u32", "i32"}, {"n1 = load o1 : u32", "n1 = load o1 : i32"}}) ==
        "kernel: what is unpacked must be a load of lines of u32 in a chunked kernel, as f32 or u8, got node 2 f32");
  CHECK(changed({{"order=chunked tile=1x8 ", ""}}) ==
        "kernel: what is unpacked must be a load of lines of u32 in a chunked kernel, as f32 or u8, got node 2 f32");
  CHECK(changed({{"contract n0 n2 n3", "contract n0 n2"}}) ==
        "kernel: lines that are converted or u8, and no others, must have groups and a load of f32 scales, got node 4 "
        "with 2 arguments and 2 reduced groups");
  CHECK(changed({{"reduced=2", "reduced=1"}}) ==
        "kernel: lines that are converted or u8, and no others, must have groups and a load of f32 scales, got node 4 "
        "with 3 arguments and 1 reduced groups");
  CHECK(changed({{"input u32", "input i16"}, {"load o1 : u32", "load o1 : i16"}, {"unpack", "cast"}}) ==
        "kernel: lines that are converted must be of i8, and f32 then, got node 4 i16 f32");
}

TEST_CASE("bytes are contracted by signed bytes to int32 alone") {
  auto changed = [&](llvm::StringRef from, llvm::StringRef to) {
    std::string text = quads("u8", 3, 1).toText();
    auto [before, after] = llvm::StringRef(text).split(from);
    return refusalOf((before + to + after).str());
  };
  const std::string must = "kernel: a contraction must be of f32 or f64 in their type, of bf16 in f32, of i8 or u8 by "
                           "i8 in i32, or of i8 by "
                           "u8 in f32, got ";
  CHECK(changed("contract n0 n1 : i32", "contract n0 n1 : i64") == must + "node 2 u8 i8 i64");
  std::string text = quads("i16", 3, 1).toText();
  CHECK(refusalOf(text) == must + "node 2 i16 i8 i32");
}
