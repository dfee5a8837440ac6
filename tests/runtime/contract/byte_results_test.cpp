// Sums as bytes beside the steps of the specification with a division: near halves, at the ends of scales.
#include "runtime/contract/ByteResults.h"
#include "tests/runtime/contract/ByteCases.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace tess;
using namespace tess::runtime::contract;

namespace {

constexpr int64_t kWindows = 14, kChannels = 16;

/// The integer of a number, 0 for NaN.
int expected(float y, float scale, int zero) {
  const float quotient = y / scale;
  const float number = std::trunc(quotient + std::copysign(0x1.fffffep-2f, quotient)) + float(zero);
  return std::isnan(number) ? 0 : int(std::clamp(number, -128.0f, 127.0f));
}

/// Checks the results of sums by scales of their channels.
void check(const std::vector<int32_t> &sums, std::vector<float> scales, float scale, int zero) {
  std::vector<int32_t> offsets(2 * kChannels);
  scales.resize(2 * kChannels);
  std::vector<int8_t> out(kWindows * kChannels);
  QuantizedResults results{};
  results.of = {offsets.data(), scales.data()};
  results.activation = ByteActivation::Identity;
  results.result = {DType::Int8, scale, zero};
  results.lowest = -128;
  results.highest = 127;
  results.images = {kChannels, kWindows, true};
  results.out = out.data();
  results.write({sums.data(), kChannels, 0, 0, kWindows, 0, kChannels});
  for (int64_t i = 0; i < kWindows * kChannels; ++i) {
    CAPTURE(scale, zero, sums[i], scales[i % kChannels]);
    REQUIRE(int(out[i]) == expected(float(sums[i]) * scales[i % kChannels], scale, zero));
  }
}

} // namespace

TEST_CASE("QuantizedResults: numbers beside halves of a scale") {
  std::mt19937 random(1);
  std::vector<int32_t> sums(kWindows * kChannels);
  std::vector<float> scales(kChannels);
  for (int trial = 0; trial < 2000; ++trial) {
    const int exponent = int(random() % 200) - 100; // products by less than 2^-80 or more than 2^80 are divided
    const float scale = std::ldexp(1.0f + float(random() & 0x7fffff) * 0x1p-23f, exponent);
    for (float &each : scales)
      each = std::nextafter(scale / 2, random() % 3 ? scale : 0.0f);
    for (int32_t &each : sums)
      each = int32_t(random() % 513) - 256;
    check(sums, scales, scale, int(random() % 21) - 10);
  }
}

TEST_CASE("QuantizedResults: numbers far from their scale, and none") {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<int32_t> sums(kWindows * kChannels);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = int32_t(i) * 1'000'000 - 100'000'000;
  std::vector<float> scales(kChannels, 1.0f);
  const std::vector<float> some = {inf, -inf, NAN, 3e38f, 1e-45f, 1e-38f, 0.0f, -0.0f, 1e30f, 1e-30f};
  llvm::copy(some, scales.begin());
  for (float scale : {0x1p-126f, 0x1p-81f, 0x1p-80f, 0x1.fffffep0f, 1.0f, 0x1p80f, 0x1p81f, 0x1p127f})
    for (int zero : {-128, 0, 5})
      check(sums, scales, scale, zero);
}
