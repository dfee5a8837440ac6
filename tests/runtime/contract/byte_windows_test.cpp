// Convolutions of bytes against plain loops: sums and quantized results, of all levels, layouts and numbers of threads.
#include "tests/runtime/contract/ByteCases.h"

using namespace tess;
using namespace tess::test;

namespace {

const std::vector<Sizes> kSizes = {
    {2, 1, 3, 4, axis(5, 3), axis(6, 3)},
    {1, 1, 16, 32, axis(1, 1), axis(1, 1)},
    {2, 1, 3, 5, axis(5, 3, 1, 1), axis(6, 2, 1, 1)},
    {1, 2, 2, 6, axis(7, 3, 2, 1), axis(7, 3)},
    {1, 1, 17, 19, axis(10, 3, 2, 1), axis(11, 3, 2, 1)},
    {1, 1, 3, 40, axis(40, 7, 2, 3), axis(46, 7, 2, 3)},
    {3, 1, 32, 8, axis(6, 1), axis(6, 1)},
    {4, 2, 16, 20, axis(6, 1, 2), axis(6, 1, 2)},
    {2, 3, 8, 4, axis(9, 3, 2, 2, 3), axis(9, 3, 1, 2, 2)},
    {1, 1, 40, 24, axis(31, 3, 1, 1), axis(30, 3, 1, 1)},
    {2, 1, 64, 70, axis(14, 3, 1, 1), axis(14, 3, 1, 1)},
    {5, 1, 36, 100, axis(3, 3, 1, 1), axis(3, 3, 1, 1)},
    {1, 1, 16, 5, axis(4, 3, 1, 8, 8), axis(4, 3, 1, 8, 8)}, // places beyond the edges
    {2, 1, 1200, 18, axis(5, 1), axis(7, 1)},                // more lines than a chunk of other products
    {2, 1, 20, 16, axis(60, 1), axis(61, 1)},
    {1, 1, 9, 12, axis(8, 1), axis(8, 1, 3)},
    {1, 1, 8, 16, axis(20, 5, 1, 0), axis(33, 4, 3, 0)},
    {2, 2, 8, 8, axis(5, 1, 3), axis(6, 2, 1, 1, 2), axis(4, 3, 2, 1)},
    {2, 1, 8, 18, axis(5, 2), axis(6, 2), axis(5, 2, 2, 0, 2)},
    {2, 1, 4, 18, axis(9, 1), axis(6, 1), axis(5, 2)},
    {2, 1, 5, 1, axis(7, 3, 1, 1), axis(6, 3, 1, 1)},
    {1, 1, 1, 3, axis(7, 3, 2, 1), axis(20, 3, 1, 1)},
};

} // namespace

TEST_CASE("quantized results of windows of bytes") {
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2]);
  LevelUpTo limit(level);
  unsigned seed = 0;
  for (const Sizes &sizes : kSizes)
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Case c(sizes, repeat % 2 ? DType::UInt8 : DType::Int8, ++seed);
      Quantized quantized(c, seed);
      const Numbers expected = quantized.expected();
      for (bool isChannelsLast : {false, true})
        for (unsigned threads : {1u, 3u}) {
          CAPTURE(level, seed, isChannelsLast, threads, sizes.in, sizes.out, sizes.rows.size);
          CHECK(quantized.computed<ByteWindows>(isChannelsLast, threads % 2, threads) == expected);
        }
    }
}

TEST_CASE("quantized results: halves, ends, and what is no number") {
  const char *level = GENERATE(kLevels[0], kLevels[2]);
  LevelUpTo limit(level);
  const float infinity = std::numeric_limits<float>::infinity();
  Numbers sums = {5, -5, 3, -3, 1, 0, 2000, -2000, 0, 1, -1, 1 << 30, -(1 << 30), 7, -7, 9};
  std::vector<float> scales(2 * kLanes, 0.5f);
  scales[8] = scales[9] = scales[10] = infinity; // 0 * inf is NaN
  Numbers offsets(2 * kLanes);
  std::vector<int8_t> out(kLanes);
  QuantizedResults results{};
  results.of = {offsets.data(), scales.data()};
  results.result = {DType::Int8, 1.0f, 1};
  results.lowest = -127;
  results.highest = 127;
  results.images = {kLanes, 1, true};
  results.out = out.data();
  results.write({sums.data(), kLanes, 0, 0, 1, 0, kLanes});
  CHECK(out == std::vector<int8_t>{4, -2, 3, -1, 2, 1, 127, -127, 0, 127, -127, 127, -127, 5, -3, 6});
}

TEST_CASE("sums of windows of bytes") {
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2]);
  const DType dtype = GENERATE(DType::Int8, DType::UInt8);
  LevelUpTo limit(level);
  for (const Sizes &sizes : kSizes) {
    const Case c(sizes, dtype, 7);
    const Numbers expected = c.sums();
    for (bool isChannelsLast : {false, true})
      for (unsigned threads : {1u, 2u, 3u}) {
        CAPTURE(level, dtype, isChannelsLast, threads, sizes.in, sizes.out, sizes.rows.size);
        REQUIRE(ByteWindows::fits(c.shape(isChannelsLast, false)));
        CHECK(computedSums<ByteWindows>(c, isChannelsLast, threads % 2, threads) == expected);
      }
  }
}
