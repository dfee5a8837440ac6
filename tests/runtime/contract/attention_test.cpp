// Attention: the bits of blocks of keys, whatever threads, level and batch; values beside sums in float64.
#include "runtime/contract/Attention.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/Worker.h"

#include "llvm/Support/MathExtras.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::contract;

namespace {

enum class MaskKind { None, Bool, Added, Keys };

template <typename T> class Case {
public:
  using Sum = Accumulator<T>;

  Case(DType dtype, int64_t batch, int64_t queries, int64_t keys, int64_t depth, int64_t width, bool isCausal = false,
       MaskKind kind = MaskKind::None)
      : shape{dtype, queries, keys, depth, width, 0.25, isCausal, {}, {}, {}}, query(fill<T>(batch * queries * depth)),
        key(fill<T>(batch * keys * depth)), value(fill<T>(batch * keys * width)) {
    for (int64_t i = 0; i < batch; ++i) {
      shape.queryAt.push_back(i * queries * depth);
      shape.keyAt.push_back(i * keys * depth);
      shape.valueAt.push_back(i * keys * width);
    }
    if (kind != MaskKind::None)
      makeMask(kind, batch);
  }

  struct Results {
    std::vector<T> out;
    std::vector<Sum> sums;
    bool operator==(const Results &other) const {
      return !std::memcmp(out.data(), other.out.data(), out.size() * sizeof(T)) &&
             !std::memcmp(sums.data(), other.sums.data(), sums.size() * sizeof(Sum));
    }
  };

  Results computed(unsigned threads, const Kernels *kernels = nullptr) const {
    Attention attention(shape, threads, kernels);
    std::vector<char> workspace(attention.workspaceBytes() + 64, char(0x7f));
    Results results{std::vector<T>(size_t(shape.numMatrices() * shape.queries * shape.width)),
                    std::vector<Sum>(size_t(shape.numMatrices() * shape.queries))};
    auto *memory = reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(workspace.data()), 64));
    llvm::cantFail(Worker::global().call([&] {
      attention.run(
          {query.data(), key.data(), value.data(), mask.data(), results.out.data(), results.sums.data(), memory});
      return llvm::Error::success();
    }));
    return results;
  }

  /// The largest distance of results from those in float64.
  double error() const {
    const Results results = computed(2);
    double worst = 0;
    for (int64_t matrix = 0; matrix < shape.numMatrices(); ++matrix)
      for (int64_t row = 0; row < shape.queries; ++row) {
        std::vector<double> weights = scores(matrix, row);
        double top = -INFINITY, total = 0;
        for (double score : weights)
          top = std::max(top, score);
        for (double &score : weights)
          total += score = top == -INFINITY ? 0 : std::exp(score - top);
        const int64_t at = matrix * shape.queries + row;
        const double sum = double(results.sums[size_t(at)]);
        worst = std::max(worst, total == 0 ? double(sum != -INFINITY) : std::fabs(top + std::log(total) - sum));
        for (int64_t column = 0; column < shape.width; ++column) {
          double out = 0;
          for (int64_t k = 0; k < shape.keys; ++k)
            out += weights[size_t(k)] * double(widen(value[size_t((matrix * shape.keys + k) * shape.width + column)]));
          out = total == 0 ? 0 : out / total;
          worst = std::max(worst, std::fabs(out - double(widen(results.out[size_t(at * shape.width + column)]))));
        }
      }
    return worst;
  }

  /// Leaves the first matrix only.
  Case first() const {
    Case one = *this;
    for (auto *at : {&one.shape.queryAt, &one.shape.keyAt, &one.shape.valueAt})
      at->resize(1);
    if (one.shape.mask)
      one.shape.mask->at.resize(1);
    return one;
  }

private:
  template <typename E> std::vector<E> fill(int64_t count) {
    std::vector<E> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(narrow<E>(Sum(std::uniform_real_distribution<double>(-2, 2)(engine))));
    return list;
  }

  void makeMask(MaskKind kind, int64_t batch) {
    const bool isOfKeys = kind == MaskKind::Keys;
    const int64_t rows = isOfKeys ? 1 : shape.queries, count = batch * rows * shape.keys;
    shape.mask = MaskForm{kind == MaskKind::Added ? DType::Float32 : DType::Bool, isOfKeys ? 0 : shape.keys, 1, {}};
    for (int64_t i = 0; i < batch; ++i)
      shape.mask->at.push_back(i * rows * shape.keys);
    if (kind == MaskKind::Added) {
      mask.resize(size_t(count) * sizeof(float));
      for (int64_t i = 0; i < count; ++i) {
        const float added = i % 5 == 0 ? -INFINITY : float(i % 7) * 0.25f;
        std::memcpy(mask.data() + i * int64_t(sizeof(float)), &added, sizeof added);
      }
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      mask.push_back(char(engine() % 3 != 0 && i / shape.keys % 5 != 1));
  }

  std::vector<double> scores(int64_t matrix, int64_t row) const {
    std::vector<double> list;
    for (int64_t k = 0; k < shape.keys; ++k) {
      double score = 0;
      for (int64_t i = 0; i < shape.depth; ++i)
        score += double(widen(query[size_t((matrix * shape.queries + row) * shape.depth + i)])) *
                 double(widen(key[size_t((matrix * shape.keys + k) * shape.depth + i)]));
      list.push_back(masked(matrix, row, k, score * shape.scale));
    }
    return list;
  }

  double masked(int64_t matrix, int64_t row, int64_t k, double score) const {
    if (shape.isCausal && k > row)
      return -INFINITY;
    if (!shape.mask)
      return score;
    const int64_t at = shape.mask->at[size_t(matrix)] + row * shape.mask->rowStride + k * shape.mask->columnStride;
    if (shape.mask->dtype == DType::Bool)
      return mask[size_t(at)] ? score : -INFINITY;
    float added;
    std::memcpy(&added, mask.data() + at * int64_t(sizeof(float)), sizeof added);
    return score + double(added);
  }

  std::mt19937 engine{7};
  AttentionShape shape;
  std::vector<T> query, key, value;
  std::vector<char> mask;
};

template <typename T> void checkCase(const Case<T> &of, DType sums, double limit) {
  CHECK(of.error() < limit);
  const auto want = of.computed(1);
  for (unsigned threads : {2u, 3u})
    CHECK(of.computed(threads) == want);
  for (const char *level : {"x86-64-v3", "x86-64-v4"})
    if (const Kernels *kernels = Kernels::of(sums, level))
      CHECK(of.computed(2, kernels) == want);
  const auto first = of.first().computed(2);
  CHECK(!std::memcmp(first.out.data(), want.out.data(), first.out.size() * sizeof(T)));
}

} // namespace

TEST_CASE("attention has the bits of its blocks") {
  for (MaskKind mask : {MaskKind::None, MaskKind::Bool, MaskKind::Added, MaskKind::Keys})
    for (bool isCausal : {false, true}) {
      checkCase(Case<float>(DType::Float32, 3, 70, 300, 20, 33, isCausal, mask), DType::Float32, 5e-6);
      checkCase(Case<double>(DType::Float64, 2, 30, 270, 8, 16, isCausal, mask), DType::Float64, 1e-13);
      checkCase(Case<BF16>(DType::BFloat16, 2, 17, 40, 70, 32, isCausal, mask), DType::Float32, 0.01);
      checkCase(Case<F16>(DType::Float16, 2, 33, 5, 7, 3, isCausal, mask), DType::Float32, 2e-3);
    }
}

TEST_CASE("attention takes long depths, single queries and single keys") {
  checkCase(Case<float>(DType::Float32, 1, 300, 260, 300, 160), DType::Float32, 5e-5);
  checkCase(Case<float>(DType::Float32, 12, 1, 1000, 64, 64), DType::Float32, 5e-6);
  checkCase(Case<float>(DType::Float32, 2, 40, 1, 1, 1), DType::Float32, 5e-6);
}

TEST_CASE("memory of attention does not grow with queries times keys") {
  auto bytes = [](int64_t length) {
    AttentionShape shape{DType::Float32, length, length, 64, 64, 1, false, {0}, {0}, {0}};
    return Attention(shape, 2).workspaceBytes();
  };
  CHECK(bytes(8192) < 8192 * 64 * 4 + (size_t(1) << 20));
}
