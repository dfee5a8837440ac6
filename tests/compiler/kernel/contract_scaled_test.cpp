// Products of int8 by scaled weights of 8 and 4 bits as kernels: every tile and tail, on every level, with the bits
// that plain loops of integers give.
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace tess;
using namespace tess::test;

namespace {

constexpr const char *kTargets[] = {"x86-64-v3", "x86-64-v4", "host"}; // the last one has AVX512_VNNI, on most machines

/// Whether this machine runs code of the target.
bool isHere(llvm::StringRef target) { return target != "x86-64-v4" || __builtin_cpu_supports("avx512bw"); }

std::string textOf(bool isNibbles, unsigned rows, unsigned panels) {
  const std::string head = "kernel parallel=2 reduced=2 lanes=parallel order=chunked tile=" + std::to_string(rows) +
                           "x" + std::to_string(panels) + " attrs=0\no0 = input i8 broadcast varies\n";
  const std::string rest = "o2 = input f32 contiguous varies\no3 = output f32 contiguous\nn0 = load o0 : i8\n";
  if (isNibbles)
    return head + "o1 = input u32 contiguous varies\n" + rest +
           "n1 = load o1 : u32\nn2 = unpack n1 : u8\nn3 = load o2 : f32\nn4 = contract n0 n2 n3 : f32\nstore n4 o3\n";
  return head + "o1 = input u8 contiguous varies\n" + rest +
         "n1 = load o1 : u8\nn2 = load o2 : f32\nn3 = contract n0 n1 n2 : f32\nstore n3 o3\n";
}

/// One tile: groups of lines of all panels side by side, with scales apart; a row has an int32 behind each group.
struct ScaledTile {
  ScaledTile(Random &random, bool isNibbles, int64_t rows, int64_t columns, int64_t groups, int64_t lines, bool isFull)
      : isNibbles(isNibbles), rows(rows), columns(columns), groups(groups), lines(lines), panels((columns + 15) / 16),
        perLine(isNibbles ? 8 : 4), groupBytes(lines * perLine + 4), lhs(size_t(rows * groups * groupBytes)),
        rhs(size_t(groups * lines * panels * 64)) {
    for (int8_t &each : lhs) // largest products of one sign where it is full
      each = int8_t(isFull ? 127 : int64_t(random.bits() % 255) - 127);
    for (uint8_t &each : rhs)
      each = uint8_t(isFull ? 255 : random.bits());
    for (int64_t i = 0; i < groups * panels * 16; ++i)
      scales.push_back(float(random.uniform(0.1, 1)));
    for (int64_t i = 0; i < rows * groups; ++i) {
      const auto first = int32_t(random.bits() % 2000) - 1000;
      std::memcpy(&lhs[size_t((i + 1) * groupBytes - 4)], &first, sizeof first);
    }
  }

  /// The integer of a row, and of a column, of a line: words of numbers of 4 bits have even ones in their first word.
  int64_t left(int64_t r, int64_t g, int64_t line, int64_t i) const {
    const int64_t at = isNibbles ? i % 2 * 4 + i / 2 : i;
    return lhs[size_t((r * groups + g) * groupBytes + line * perLine + at)];
  }
  int64_t right(int64_t g, int64_t line, int64_t c, int64_t i) const {
    const uint8_t *word = &rhs[size_t(((g * lines + line) * panels * 16 + c) * 4)];
    return isNibbles ? word[i / 2] >> 4 * (i % 2) & 15 : word[i];
  }

  float groupOf(int64_t r, int64_t c, int64_t g) const {
    int32_t first = 0;
    std::memcpy(&first, &lhs[size_t((r * groups + g + 1) * groupBytes - 4)], sizeof first);
    int64_t sum = first;
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t i = 0; i < perLine; ++i)
        sum += left(r, g, line, i) * right(g, line, c, i);
    return float(sum);
  }

  std::vector<float> expected(std::vector<float> before, bool adds) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (int64_t g = 0; g < groups; ++g)
          total = std::fma(groupOf(r, c, g), scales[size_t(g * panels * 16 + c)], total);
        float &out = before[size_t(r * columns + c)];
        out = adds ? out + total : total;
      }
    return before;
  }

  std::vector<float> computed(const Kernel &kernel, std::vector<float> before, int64_t chunk) {
    const int64_t panel = isNibbles ? 16 : 64; // elements: words, or bytes
    CallArguments call = callArguments({rows, columns, groups, lines},
                                       {{lhs.data(), {groups * groupBytes, 0, groupBytes, perLine}},
                                        {rhs.data(), {0, panel, lines * panels * panel, panels * panel}},
                                        {scales.data(), {0, 16, panels * 16, 0}},
                                        {before.data(), {columns, 16, 0, 0}}},
                                       {});
    kernel.runChunk(call, chunk);
    return before;
  }

  bool isNibbles;
  int64_t rows, columns, groups, lines, panels, perLine, groupBytes;
  std::vector<int8_t> lhs;
  std::vector<uint8_t> rhs;
  std::vector<float> scales;
};

void checkTiles(bool isNibbles, const char *target, unsigned rows, unsigned panels) {
  Random random(5);
  Kernel kernel(llvm::cantFail(KernelSpec::parse(textOf(isNibbles, rows, panels))), target);
  for (int64_t columns : {16 * panels, 16 * panels - 15, 16 * panels - 1})
    for (auto [groups, lines] : {std::pair{1, 1}, {1, 37}, {3, 4}, {5, 64}})
      for (int64_t chunk : {0, 1})
        for (bool isFull : {false, true}) {
          ScaledTile tile(random, isNibbles, rows, columns, groups, lines, isFull);
          std::vector<float> before(size_t(rows * columns), chunk ? 0.5f : NAN);
          INFO(target << " " << rows << "x" << panels << " columns " << columns << " " << groups << "x" << lines);
          CHECK(sameBits(tile.computed(kernel, before, chunk), tile.expected(before, chunk)));
        }
}

} // namespace

TEST_CASE("sums of int8 by unsigned weights are exact, scaled and added in order") {
  for (const char *target : kTargets)
    for (auto [rows, panels] : {std::pair{1u, 1u}, {1u, 4u}, {2u, 2u}, {4u, 1u}, {8u, 2u}})
      for (bool isNibbles : {false, true})
        if (isHere(target))
          checkTiles(isNibbles, target, rows, panels);
}

TEST_CASE("unsigned weights have rows of int8, groups and scales") {
  auto changed = [&](bool isNibbles, llvm::StringRef from, llvm::StringRef to) {
    const std::string text = textOf(isNibbles, 1, 4);
    auto [before, after] = llvm::StringRef(text).split(from);
    return refusalOf((before + to + after).str());
  };
  CHECK(refusalOf(textOf(false, 1, 4)) == "");
  CHECK(refusalOf(textOf(true, 1, 4)) == "");
  const std::string scaled =
      "kernel: lines that are converted or u8, and no others, must have groups and a load of f32 "
      "scales, got node ";
  CHECK(changed(false, "contract n0 n1 n2", "contract n0 n1") == scaled + "3 with 2 arguments and 2 reduced groups");
  CHECK(changed(true, "reduced=2", "reduced=1") == scaled + "4 with 3 arguments and 1 reduced groups");
  CHECK(changed(true, "n4 = contract n0 n2 n3 : f32", "n4 = contract n0 n2 n3 : i32") ==
        "kernel: a contraction must be of f32 or f64 in their type, of bf16 in f32, of i8 or u8 by i8 in i32, or of i8 "
        "by "
        "u8 in f32, got node 4 i8 u8 i32");
}
