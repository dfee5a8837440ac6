// Products: the bits of chunks of multiply-adds in order, whatever threads, level, layout and batch.
#include "ops/vocabulary/Error.h"
#include "runtime/contract/Products.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/Worker.h"

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

constexpr const char *kLevels[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+avx512bf16"};

template <typename T> struct Sum {
  using type = float;
};
template <> struct Sum<double> {
  using type = double;
};
template <typename T> using SumOf = typename Sum<T>::type;

template <typename T> constexpr DType kDTypeOf = DType::Float32;
template <> constexpr DType kDTypeOf<double> = DType::Float64;
template <> constexpr DType kDTypeOf<F16> = DType::Float16;
template <> constexpr DType kDTypeOf<BF16> = DType::BFloat16;

/// Operands row-major, or as transposed matrices; L and R are of the left and the right one, T of results.
template <typename L, typename R = L, typename T = L> class Case {
public:
  Case(int64_t batch, int64_t m, int64_t n, int64_t k, bool transposesLhs, bool transposesRhs)
      : m(m), n(n), k(k), lhs(fill<L>(batch * m * k)), rhs(fill<R>(batch * k * n)) {
    shape = {kDTypeOf<L>, m, n, k, 1, 1, 1, 1, {}, {}};
    shape.rightDType = kDTypeOf<R>;
    shape.resultDType = kDTypeOf<T>;
    (transposesLhs ? shape.lhsColumn : shape.lhsRow) = transposesLhs ? m : k;
    (transposesRhs ? shape.rhsColumn : shape.rhsRow) = transposesRhs ? k : n;
    for (int64_t i = 0; i < batch; ++i) {
      shape.lhsAt.push_back(i * m * k);
      shape.rhsAt.push_back(i * k * n);
    }
  }

  static constexpr bool kHasPairs = std::is_same_v<L, BF16> && std::is_same_v<R, BF16>;

  /// Has chunks of so many lines added to ones.
  void addChunks(int64_t lines, bool lastFirst) {
    shape.chunkLines = lines;
    shape.lastFirst = lastFirst;
    shape.added = Added::EachChunk;
  }
  /// Has the sum of all chunks added to ones.
  void addSum() { shape.added = Added::TheSum; }

  std::vector<T> expected() const {
    const int64_t chunk = shape.chunkLines * (kHasPairs ? 2 : 1);
    const bool addsChunks = shape.added == Added::EachChunk;
    std::vector<T> out;
    for (int64_t i = 0; i < int64_t(shape.lhsAt.size()); ++i)
      for (int64_t r = 0; r < m; ++r)
        for (int64_t c = 0; c < n; ++c) {
          // Sums of more than 64 chunks are added in float64.
          const bool isDeep = k > 64 * chunk && !addsChunks;
          double wide = 0;
          SumOf<T> total = SumOf<T>(addsChunks);
          for (int64_t number = 0; number * chunk < k; ++number) {
            const int64_t first = (shape.lastFirst ? (k - 1) / chunk - number : number) * chunk;
            SumOf<T> sum = sumOf(i, r, c, first, std::min(first + chunk, k));
            total = number || addsChunks ? total + sum : sum;
            wide = number ? wide + double(sum) : double(sum);
          }
          if (isDeep)
            total = SumOf<T>(wide);
          if (shape.added == Added::TheSum)
            total = SumOf<T>(1) + total;
          out.push_back(narrow<T>(total));
        }
    return out;
  }

  std::vector<T> computed(unsigned threads, const Kernels *kernels = nullptr) const {
    Products products(shape, threads, kernels);
    std::vector<char> workspace(products.workspaceBytes() + 64);
    std::vector<T> out(size_t(int64_t(shape.lhsAt.size()) * m * n), narrow<T>(SumOf<T>(shape.added != Added::Nothing)));
    auto *memory = reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(workspace.data()), 64));
    auto run = [&] { products.run(lhs.data(), rhs.data(), out.data(), memory); };
    llvm::cantFail(Worker::global().call([&] { return run(), llvm::Error::success(); }));
    return out;
  }

  /// The results by a right operand that was packed before.
  std::vector<T> computedByPanels(unsigned threads) {
    Products plain(shape, threads);
    std::vector<char> memory(plain.bytesOfPanels() + 64), workspace;
    auto aligned = [](std::vector<char> &bytes) {
      return reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64));
    };
    plain.pack(rhs.data(), aligned(memory));
    shape.hasPanels = true;
    Products products(shape, threads);
    workspace.resize(products.workspaceBytes() + 64);
    std::vector<T> out(size_t(int64_t(shape.lhsAt.size()) * m * n));
    llvm::cantFail(Worker::global().call([&] {
      products.run(lhs.data(), aligned(memory), out.data(), aligned(workspace));
      return llvm::Error::success();
    }));
    shape.hasPanels = false;
    return out;
  }

  /// Sets an element of an operand, by its place in memory.
  void set(bool ofLhs, size_t place, L value) { (ofLhs ? lhs : rhs)[place] = value; }

  DType ofKernel() const { return shape.ofKernel(); }

private:
  template <typename E> std::vector<E> fill(int64_t count) {
    std::vector<E> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(narrow<E>(SumOf<E>(std::uniform_real_distribution<double>(-1, 1)(engine))));
    return list;
  }

  SumOf<T> step(int64_t i, int64_t r, int64_t c, int64_t at, SumOf<T> total) const {
    return std::fma(SumOf<T>(widen(lhs[size_t(shape.lhsAt[i] + r * shape.lhsRow + at * shape.lhsColumn)])),
                    SumOf<T>(widen(rhs[size_t(shape.rhsAt[i] + at * shape.rhsRow + c * shape.rhsColumn)])), total);
  }

  /// Adds the later one of two bfloat16 numbers in a line first.
  SumOf<T> sumOf(int64_t i, int64_t r, int64_t c, int64_t begin, int64_t end) const {
    SumOf<T> total = 0;
    if constexpr (kHasPairs)
      for (int64_t at = begin; at < end; at += 2)
        total = step(i, r, c, at, at + 1 < end ? step(i, r, c, at + 1, total) : total);
    else
      for (int64_t at = begin; at < end; ++at)
        total = step(i, r, c, at, total);
    return total;
  }

  std::mt19937_64 engine{5};
  int64_t m, n, k;
  std::vector<L> lhs;
  std::vector<R> rhs;
  ProductShape shape;
};

template <typename T> bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

template <typename... Ts> void checkEverywhere(const Case<Ts...> &product) {
  const auto expected = product.expected();
  for (unsigned threads : {1u, 2u, 3u, 8u})
    CHECK(sameBits(product.computed(threads), expected));
  for (const char *level : kLevels)
    if (const Kernels *kernels = Kernels::of(product.ofKernel(), level)) {
      INFO(level);
      CHECK(sameBits(product.computed(2, kernels), expected));
    }
}

template <typename... Ts> void checkShapes() {
  struct Sizes {
    int64_t batch, m, n, k;
  };
  const Sizes all[] = {{1, 1, 1, 1},      {1, 1, 130, 300},   {1, 3, 16, 7},     {1, 14, 32, 256},
                       {1, 15, 33, 257},  {1, 29, 47, 513},   {1, 77, 100, 333}, {1, 64, 64, 64},
                       {1, 5, 200, 1025}, {3, 9, 17, 40},     {16, 20, 24, 18},  {1, 300, 64, 128},
                       {2, 200, 500, 70}, {1, 300, 48, 1024}, {1, 1, 1, 70000},  {1, 20, 18, 40000}};
  for (Sizes s : all)
    for (bool lhs : {false, true})
      for (bool rhs : {false, true}) {
        INFO(s.batch << " of " << s.m << "x" << s.k << " by " << s.k << "x" << s.n << " " << lhs << rhs);
        checkEverywhere(Case<Ts...>(s.batch, s.m, s.n, s.k, lhs, rhs));
      }
}

} // namespace

TEST_CASE("products of float32") { checkShapes<float>(); }
TEST_CASE("products of float64") { checkShapes<double>(); }
TEST_CASE("products of float16") { checkShapes<F16>(); }
TEST_CASE("products of bfloat16") { checkShapes<BF16>(); }
TEST_CASE("products of narrow floats in float32") {
  checkShapes<F16, F16, float>();
  checkShapes<BF16, BF16, float>();
}
TEST_CASE("products of two dtypes") {
  checkShapes<float, BF16, float>();
  checkShapes<BF16, float, float>();
  checkShapes<F16, BF16, float>();
}

template <typename... Ts> void checkPanels() {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 32, 300}, {40, 45, 513}, {300, 96, 70}})
    for (bool isTransposed : {false, true})
      for (unsigned threads : {1u, 2u}) {
        Case<Ts...> product(1, m, n, k, false, isTransposed);
        CHECK(sameBits(product.computedByPanels(threads), product.computed(1)));
      }
}

TEST_CASE("chunks of fewer lines are added to what is there, from the first or the last") {
  for (bool lastFirst : {false, true})
    for (int64_t lines : {1, 3, 16, 256})
      for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {40, 45, 5}, {300, 130, 70}}) {
        Case<float> product(1, m, n, lines * k, true, false);
        product.addChunks(lines, lastFirst);
        checkEverywhere(product);
      }
}

template <typename T> void checkAddedSums() {
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {40, 45, 256}, {40, 45, 257}, {300, 130, 700}, {3, 20, 17000}}) {
    Case<T> product(1, m, n, k, true, false);
    product.addSum();
    checkEverywhere(product);
  }
}

TEST_CASE("the sum of all chunks is added to what is there") {
  checkAddedSums<float>();
  checkAddedSums<double>();
}

TEST_CASE("a right operand that was packed before gives the same bits") {
  checkPanels<float>();
  checkPanels<double>();
  checkPanels<F16>();
  checkPanels<BF16>();
  checkPanels<BF16, BF16, float>();
  checkPanels<float, F16, float>();
  checkPanels<float, BF16, float>();
}

TEST_CASE("numbers of bfloat16 below the normal ones are zeros on every level") {
  Case<BF16> product(1, 20, 40, 64, false, false);
  for (size_t i = 0; i < 64; ++i) {
    product.set(true, i * 20, BF16{uint16_t(0x40 + i)});
    product.set(false, i * 39, BF16{uint16_t(0x0100 + i)});
  }
  std::vector<BF16> first;
  for (const char *level : kLevels)
    if (const Kernels *kernels = Kernels::of(DType::BFloat16, level)) {
      std::vector<BF16> now = product.computed(2, kernels);
      CHECK((first.empty() || sameBits(now, first)));
      first = now;
    }
}

TEST_CASE("what is no number stays in its rows and columns") {
  Case<float> product(1, 20, 45, 300, false, false);
  product.set(true, 7 * 300 + 5, NAN);
  product.set(false, 3 * 45 + 44, NAN); // in the last, partial panel
  std::vector<float> out = product.computed(2);
  for (int64_t r = 0; r < 20; ++r)
    for (int64_t c = 0; c < 45; ++c)
      CHECK(std::isnan(out[size_t(r * 45 + c)]) == (r == 7 || c == 44));
}

TEST_CASE("products use the levels that are allowed") {
  const std::string before = highestLevel().str();
  CHECK(takeError(limitLevel("x86-64-v9")).second ==
        "limitLevel: level must be one of those with kernels, got x86-64-v9");
  llvm::cantFail(limitLevel("x86-64-v3"));
  CHECK(&Kernels::of(DType::Float32) == Kernels::of(DType::Float32, "x86-64-v3"));
  llvm::cantFail(limitLevel(before));
}
