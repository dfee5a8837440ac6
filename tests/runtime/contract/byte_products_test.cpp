// Products of int8 and uint8 by int8: exact sums, whatever threads, level, layout and batch.
#include "runtime/contract/Products.h"
#include "runtime/threads/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::contract;

namespace {

constexpr const char *kLevels[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+avx512vnni"};

struct Sizes {
  int64_t batch, m, n, k;
};

/// Memory that is aligned to 64.
class Memory {
public:
  explicit Memory(size_t size) : bytes(size + 64) {}
  void *get() { return reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64)); }

private:
  std::vector<char> bytes;
};

/// Operands row-major, or as transposed matrices. T: of the left one.
template <typename T> class Case {
public:
  Case(Sizes s, bool transposesLhs, bool transposesRhs)
      : m(s.m), n(s.n), k(s.k), lhs(size_t(s.batch * m * k)), rhs(size_t(s.batch * k * n)) {
    const DType dtype = std::is_signed_v<T> ? DType::Int8 : DType::UInt8;
    shape = {dtype, m, n, k, 1, 1, 1, 1, {}, {}};
    (transposesLhs ? shape.lhsColumn : shape.lhsRow) = transposesLhs ? m : k;
    (transposesRhs ? shape.rhsColumn : shape.rhsRow) = transposesRhs ? k : n;
    for (int64_t i = 0; i < s.batch; ++i) {
      shape.lhsAt.push_back(i * m * k);
      shape.rhsAt.push_back(i * k * n);
    }
    for (T &each : lhs)
      each = T(engine());
    for (int8_t &each : rhs)
      each = int8_t(engine());
  }

  /// Every element of an operand is this.
  void fill(T ofLhs, int8_t ofRhs) {
    llvm::fill(lhs, ofLhs);
    llvm::fill(rhs, ofRhs);
  }

  std::vector<int32_t> expected() const {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < batch(); ++i)
      for (int64_t r = 0; r < m; ++r)
        for (int64_t c = 0; c < n; ++c) {
          int64_t total = 0;
          for (int64_t at = 0; at < k; ++at)
            total += int64_t(lhs[size_t(shape.lhsAt[i] + r * shape.lhsRow + at * shape.lhsColumn)]) *
                     rhs[size_t(shape.rhsAt[i] + at * shape.rhsRow + c * shape.rhsColumn)];
          out.push_back(int32_t(total));
        }
    return out;
  }

  std::vector<int32_t> computed(unsigned threads, const Kernels *kernels = nullptr) const {
    return run(Products(shape, threads, kernels), rhs.data());
  }

  /// The results by a right operand that was packed before.
  std::vector<int32_t> computedByPanels(unsigned threads, const Kernels *kernels = nullptr) const {
    Products plain(shape, threads, kernels);
    Memory panels(plain.bytesOfPanels());
    plain.pack(rhs.data(), panels.get());
    ProductShape packed = shape;
    packed.hasPanels = true;
    return run(Products(packed, threads, kernels), panels.get());
  }

  ProductShape shape;

private:
  int64_t batch() const { return int64_t(shape.lhsAt.size()); }

  std::vector<int32_t> run(const Products &products, const void *right) const {
    Memory workspace(products.workspaceBytes());
    std::vector<int32_t> out(size_t(batch() * m * n), -1);
    llvm::cantFail(Worker::global().call([&] {
      products.run(lhs.data(), right, out.data(), workspace.get());
      return llvm::Error::success();
    }));
    return out;
  }

  std::mt19937_64 engine{5};
  int64_t m, n, k;
  std::vector<T> lhs;
  std::vector<int8_t> rhs;
};

template <typename T> void checkEverywhere(const Case<T> &product) {
  const std::vector<int32_t> expected = product.expected();
  for (unsigned threads : {1u, 2u, 3u})
    CHECK(product.computed(threads) == expected);
  for (const char *level : kLevels)
    if (const Kernels *kernels = Kernels::of(product.shape.dtype, level)) {
      INFO(level);
      CHECK(product.computed(2, kernels) == expected);
      if (product.shape.rhsAt.size() == 1)
        CHECK(product.computedByPanels(2, kernels) == expected);
    }
}

template <typename T> void checkShapes() {
  const Sizes all[] = {{1, 1, 1, 1},       {1, 1, 130, 300},   {1, 3, 16, 7},     {1, 14, 32, 1024},  {1, 15, 33, 1025},
                       {1, 29, 47, 2051},  {1, 77, 100, 333},  {1, 64, 64, 64},   {1, 5, 200, 4099},  {3, 9, 17, 40},
                       {16, 20, 24, 18},   {1, 300, 64, 128},  {2, 100, 500, 70}, {1, 300, 48, 4096}, {1, 1, 1, 70000},
                       {1, 20, 18, 40002}, {1, 40, 600, 1022}, {1, 31, 1, 6}};
  for (Sizes s : all)
    for (bool lhs : {false, true})
      for (bool rhs : {false, true}) {
        INFO(s.batch << " of " << s.m << "x" << s.k << " by " << s.k << "x" << s.n << " " << lhs << rhs);
        checkEverywhere(Case<T>(s, lhs, rhs));
      }
}

} // namespace

TEST_CASE("products of int8 by int8") { checkShapes<int8_t>(); }
TEST_CASE("products of uint8 by int8") { checkShapes<uint8_t>(); }

TEST_CASE("no sum of extreme numbers saturates") {
  for (int8_t right : {int8_t(-128), int8_t(127)})
    for (int64_t k : {3, 4, 257, 3000}) {
      for (uint8_t left : {0, 128, 255}) {
        Case<uint8_t> product({1, 17, 37, k}, false, false);
        product.fill(left, right);
        checkEverywhere(product);
      }
      for (int8_t left : {int8_t(-128), int8_t(0), int8_t(127)}) {
        Case<int8_t> product({1, 17, 37, k}, false, false);
        product.fill(left, right);
        checkEverywhere(product);
      }
    }
}

TEST_CASE("sums are exact up to the stated depth, and wrap beyond") {
  for (int64_t k : {kExactByteDepth, kExactByteDepth + 1}) {
    Case<uint8_t> product({1, 2, 17, k}, false, false);
    product.fill(255, -128);
    checkEverywhere(product);
    const int64_t sum = k * 255 * -128;
    CHECK((int64_t(product.computed(1)[0]) == sum) == (k == kExactByteDepth));
  }
}
