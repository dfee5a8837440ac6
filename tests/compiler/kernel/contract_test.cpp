// Products as kernels: every tile and tail, on every level, with the bits of a chain of multiply-adds in order.
#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/kernel/KernelSupport.h"
#include "llvm/ADT/Sequence.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace tess;
using namespace tess::test;

namespace {

KernelSpec contraction(DType dtype, unsigned rows, unsigned panels) {
  std::string sum = dtype == DType::Float64 ? "f64" : "f32", of = std::string(shortName(dtype));
  std::string text = "kernel parallel=2 reduced=1 lanes=parallel order=chunked tile=" + std::to_string(rows) + "x" +
                     std::to_string(panels) + " attrs=0\no0 = input " + of + " broadcast varies\no1 = input " + of +
                     " contiguous varies\no2 = output " + sum + " contiguous\nn0 = load o0 : " + of +
                     "\nn1 = load o1 : " + of + "\nn2 = contract n0 n1 : " + sum + "\nstore n2 o2\n";
  return llvm::cantFail(KernelSpec::parse(text));
}

template <typename T> std::vector<T> numbers(Random &random, int64_t count) {
  std::vector<T> list(static_cast<size_t>(count));
  for (T &each : list)
    each = T(random.uniform(-1, 1));
  return list;
}

/// One tile: lines of each panel lie behind each other, as do the columns of a row.
template <typename T> struct Tile {
  int64_t rows, columns, lines, panels;
  std::vector<T> lhs, rhs;

  Tile(Random &random, int64_t rows, int64_t columns, int64_t lines)
      : rows(rows), columns(columns), lines(lines), panels((columns + 15) / 16), lhs(numbers<T>(random, rows * lines)),
        rhs(numbers<T>(random, panels * lines * 16)) {}

  std::vector<T> expected(std::vector<T> before, bool adds) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        T total = 0;
        for (int64_t k = 0; k < lines; ++k)
          total = std::fma(lhs[r * lines + k], rhs[(c / 16 * lines + k) * 16 + c % 16], total);
        T &out = before[r * (columns + 1) + c];
        out = adds ? out + total : total;
      }
    return before;
  }

  /// `before` has a column more, which must stay.
  std::vector<T> computed(const Kernel &kernel, std::vector<T> before, int64_t chunk) {
    CallArguments call = callArguments(
        {rows, columns, lines},
        {{lhs.data(), {lines, 0, 1}}, {rhs.data(), {0, lines * 16, 16}}, {before.data(), {columns + 1, 16, 0}}}, {});
    kernel.runChunk(call, chunk);
    return before;
  }
};

template <typename T> void checkTiles(DType dtype, llvm::ArrayRef<std::pair<unsigned, unsigned>> tiles) {
  Random random(7);
  for (const std::string &target : {std::string("x86-64-v3"), std::string("host")})
    for (auto [rows, panels] : tiles) {
      Kernel kernel(contraction(dtype, rows, panels), target);
      for (int64_t columns : {16 * panels, 16 * panels - 15, 16 * panels - 1})
        for (int64_t lines : {1, 2, 37})
          for (int64_t chunk : {0, 1}) {
            Tile<T> tile(random, rows, columns, lines);
            std::vector<T> before = numbers<T>(random, rows * (columns + 1));
            if (!chunk)
              std::fill(before.begin(), before.end(), T(NAN)); // nothing is read before the first chunk
            for (int64_t r = 0; r < rows; ++r)
              before[r * (columns + 1) + columns] = T(r);
            INFO(target << " " << rows << "x" << panels << " columns " << columns << " lines " << lines);
            CHECK(sameBits(tile.computed(kernel, before, chunk), tile.expected(before, chunk)));
          }
    }
}

} // namespace

TEST_CASE("every tile of float32 has the bits of a chain of multiply-adds") {
  std::vector<std::pair<unsigned, unsigned>> tiles = {{1, 8}, {6, 1}};
  for (unsigned rows : llvm::seq(1u, 15u))
    tiles.push_back({rows, 1 + rows % 2});
  checkTiles<float>(DType::Float32, tiles);
}

TEST_CASE("so has float64") { checkTiles<double>(DType::Float64, {{1, 1}, {3, 1}, {7, 2}, {1, 4}}); }

TEST_CASE("a kernel that contracts has one tile of one product") {
  std::string text = contraction(DType::Float32, 14, 2).toText();
  CHECK(refusalOf(text) == "");
  auto changed = [&](llvm::StringRef from, llvm::StringRef to) {
    auto [before, after] = llvm::StringRef(text).split(from);
    return refusalOf((before + to + after).str());
  };
  CHECK(changed("tile=14x2", "tile=17x2") == "kernel: a tile must have 1 to 16 rows and 1 to 8 panels, got 17x2");
  CHECK(changed("tile=14x2", "tile=0x2") == "kernel: a tile must have 1 to 16 rows and 1 to 8 panels, got 0x2");
  auto parsed = KernelSpec::parse("kernel parallel=2 reduced=1 lanes=parallel order=chunked attrs=0");
  CHECK(takeError(parsed.takeError()).second == "kernel: line 1 must have tile=<rows>x<panels>, got attrs=0");
  CHECK(changed("order=chunked tile=14x2", "order=sequential") ==
        "kernel: a contraction must be of a chunked kernel, got node 2");
  CHECK(changed("f32 broadcast", "f32 strided") ==
        "kernel: a contraction must multiply a load of rows by a load of lines, broadcast and contiguous, got node 2");
  CHECK(
      changed("parallel=2", "parallel=1") ==
      "kernel: a chunked kernel must have groups of rows, columns and lines, no bound and no attribute, got 1 parallel "
      "and 1 reduced groups");
  CHECK(changed("n2 = contract n0 n1 : f32", "n2 = contract n0 n1 : f64") ==
        "kernel: a contraction must be of f32 or f64 in their type, of bf16 in f32, of i8 or u8 by i8 in i32, or of i8 "
        "by u8 in f32, got node 2 f32 f32 f64");
  CHECK(changed("store n2", "n3 = exp n2 : f32\nstore n3") ==
        "kernel: a chunked kernel must store its one contraction as it is, got another");
}

TEST_CASE("a grid has no kernel that contracts") {
  auto image = generatorFor("sim").compile({{"kernel", contraction(DType::Float32, 2, 1)}});
  CHECK(takeError(image.takeError()).second == "codegen: a kernel that contracts must be for a processor, got sim:sim");
}
