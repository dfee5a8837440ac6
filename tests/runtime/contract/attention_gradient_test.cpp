// Gradients of attention: the bits of blocks, whatever threads, level and batch; values beside sums in float64.
#include "runtime/contract/AttentionGradient.h"
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

template <typename T> class Case {
public:
  Case(DType dtype, int64_t batch, int64_t queries, int64_t keys, int64_t depth, int64_t width, bool isCausal,
       bool isMasked)
      : shape{dtype, queries, keys, depth, width, 0.25, isCausal, {}, {}, {}}, query(fill(batch * queries * depth)),
        key(fill(batch * keys * depth)), value(fill(batch * keys * width)), sums(fill(batch * queries)),
        deltas(fill(batch * queries)), dout(fill(batch * queries * width)) {
    for (int64_t i = 0; i < batch; ++i) {
      shape.queryAt.push_back(i * queries * depth);
      shape.keyAt.push_back(i * keys * depth);
      shape.valueAt.push_back(i * keys * width);
      places.logsumexpAt.push_back(i * queries);
      places.deltaAt.push_back(i * queries);
      places.doutAt.push_back(i * queries * width);
    }
    for (T &sum : sums) // that of no score is far below the largest one
      sum = narrow<T>(Sum(widen(sum)) + 3);
    if (!isMasked)
      return;
    shape.mask = MaskForm{DType::Bool, keys, 1, {}};
    for (int64_t i = 0; i < batch; ++i)
      shape.mask->at.push_back(i * queries * keys);
    for (int64_t i = 0; i < batch * queries * keys; ++i)
      mask.push_back(char(engine() % 3 != 0));
  }

  using Results = std::vector<std::vector<T>>;

  Results computed(unsigned threads, const Kernels *kernels = nullptr) const {
    AttentionGradient gradient(shape, places, threads, kernels);
    std::vector<char> workspace(gradient.workspaceBytes() + 64, char(0x7f));
    Results results{std::vector<T>(query.size()), std::vector<T>(key.size()), std::vector<T>(value.size())};
    auto *memory = reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(workspace.data()), 64));
    llvm::cantFail(Worker::global().call([&] {
      gradient.run({query.data(), key.data(), value.data(), sums.data(), deltas.data(), dout.data(), mask.data(),
                    results[0].data(), results[1].data(), results[2].data(), memory});
      return llvm::Error::success();
    }));
    return results;
  }

  /// The largest distance of results from those in float64.
  double error() const {
    const Results results = computed(2);
    std::vector<double> wanted[] = {std::vector<double>(query.size()), std::vector<double>(key.size()),
                                    std::vector<double>(value.size())};
    for (int64_t matrix = 0; matrix < shape.numMatrices(); ++matrix)
      for (int64_t row = 0; row < shape.queries; ++row)
        for (int64_t k = 0; k < shape.keys; ++k)
          addPair(matrix * shape.queries + row, matrix * shape.keys + k, isSeen(matrix, row, k), wanted);
    double worst = 0;
    for (unsigned i = 0; i < 3; ++i)
      for (size_t at = 0; at < wanted[i].size(); ++at) {
        const double want = wanted[i][at];
        worst = std::max(worst, std::fabs(want - double(widen(results[i][at]))) / std::max(1.0, std::fabs(want)));
      }
    return worst;
  }

private:
  using Sum = Accumulator<T>;

  std::vector<T> fill(int64_t count) {
    std::vector<T> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(narrow<T>(Sum(std::uniform_real_distribution<double>(-1, 1)(engine))));
    return list;
  }

  bool isSeen(int64_t matrix, int64_t row, int64_t k) const {
    return (!shape.isCausal || k <= row) &&
           (!shape.mask || mask[size_t((matrix * shape.queries + row) * shape.keys + k)]);
  }

  static double at(const std::vector<T> &list, int64_t row, int64_t columns, int64_t column) {
    return double(widen(list[size_t(row * columns + column)]));
  }

  void addPair(int64_t q, int64_t k, bool isSeen, std::vector<double> (&to)[3]) const {
    double score = 0, slope = 0;
    for (int64_t i = 0; i < shape.depth; ++i)
      score += shape.scale * at(query, q, shape.depth, i) * at(key, k, shape.depth, i);
    for (int64_t i = 0; i < shape.width; ++i)
      slope += at(dout, q, shape.width, i) * at(value, k, shape.width, i);
    const double weight = isSeen ? std::exp(score - at(sums, q, 1, 0)) : 0;
    slope = weight * (slope - at(deltas, q, 1, 0)) * shape.scale;
    for (int64_t i = 0; i < shape.depth; ++i) {
      to[0][size_t(q * shape.depth + i)] += slope * at(key, k, shape.depth, i);
      to[1][size_t(k * shape.depth + i)] += slope * at(query, q, shape.depth, i);
    }
    for (int64_t i = 0; i < shape.width; ++i)
      to[2][size_t(k * shape.width + i)] += weight * at(dout, q, shape.width, i);
  }

  std::mt19937 engine{7};
  AttentionShape shape;
  GradientPlaces places;
  std::vector<T> query, key, value, sums, deltas, dout;
  std::vector<char> mask;
};

template <typename T> void checkCase(const Case<T> &of, DType sums, double limit) {
  CHECK(of.error() < limit);
  const auto want = of.computed(1);
  auto isSame = [&](const auto &got) {
    for (unsigned i = 0; i < 3; ++i)
      if (std::memcmp(got[i].data(), want[i].data(), want[i].size() * sizeof(T)) != 0)
        return false;
    return true;
  };
  for (unsigned threads : {2u, 3u})
    CHECK(isSame(of.computed(threads)));
  for (const char *level : {"x86-64-v3", "x86-64-v4"})
    if (const Kernels *kernels = Kernels::of(sums, level))
      CHECK(isSame(of.computed(2, kernels)));
}

} // namespace

TEST_CASE("gradients of attention have the bits of their blocks") {
  for (bool isMasked : {false, true})
    for (bool isCausal : {false, true}) {
      checkCase(Case<float>(DType::Float32, 1, 150, 270, 20, 33, isCausal, isMasked), DType::Float32, 2e-5);
      checkCase(Case<float>(DType::Float32, 7, 129, 65, 16, 32, isCausal, isMasked), DType::Float32, 2e-5);
      checkCase(Case<double>(DType::Float64, 2, 130, 140, 8, 16, isCausal, isMasked), DType::Float64, 1e-13);
      checkCase(Case<BF16>(DType::BFloat16, 2, 17, 40, 16, 32, isCausal, isMasked), DType::Float32, 0.01);
      checkCase(Case<F16>(DType::Float16, 2, 33, 5, 7, 3, isCausal, isMasked), DType::Float32, 2e-3);
    }
}

TEST_CASE("memory of gradients of attention does not grow with queries times keys") {
  auto bytes = [](int64_t length) {
    AttentionShape shape{DType::Float32, length, length, 64, 64, 1, false, {0}, {0}, {0}};
    return AttentionGradient(shape, {{0}, {0}, {0}}, 2).workspaceBytes();
  };
  CHECK(bytes(8192) < 8192 * 64 * 4 * 6 + (size_t(2) << 20));
}
