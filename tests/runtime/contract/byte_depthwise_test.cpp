// Convolutions of few channels of bytes against plain loops: sums and quantized results, of all levels, layouts and
// numbers of threads.
#include "runtime/contract/ByteDepthwise.h"
#include "tests/runtime/contract/ByteCases.h"

using namespace tess;
using namespace tess::test;

namespace {

const std::vector<Sizes> kSizes = {
    {1, 16, 1, 1, axis(1, 1), axis(1, 1)},
    {2, 3, 1, 1, axis(5, 3, 1, 1), axis(6, 3, 1, 1)}, // fewer channels than lanes
    {1, 32, 1, 1, axis(9, 3, 1, 1), axis(17, 3, 1, 1)},
    {2, 40, 1, 1, axis(9, 3, 2, 1), axis(10, 3, 2, 1)}, // a last vector that overlaps
    {1, 96, 1, 1, axis(20, 3, 1, 1), axis(23, 3, 1, 1)},
    {3, 150, 1, 1, axis(2, 3, 1, 1), axis(2, 3, 1, 1)}, // tiles of several rows
    {1, 20, 1, 1, axis(12, 5, 1, 2), axis(13, 5, 2, 2)},
    {1, 17, 1, 1, axis(14, 7, 3, 3), axis(15, 7, 3, 3)},
    {1, 24, 1, 1, axis(9, 2, 2), axis(8, 4, 1, 1)},
    {1, 16, 1, 1, axis(7, 1, 2), axis(9, 1, 2)},
    {2, 33, 1, 1, axis(9, 3, 2, 2, 3), axis(9, 3, 1, 2, 2)},
    {1, 18, 1, 1, axis(11, 3, 1, 4, 4), axis(12, 3, 2, 2, 2)},
    {1, 16, 1, 1, axis(4, 3, 1, 8, 8), axis(4, 3, 1, 8, 8)}, // places beyond the edges
    {1, 16, 1, 1, axis(3, 3, 1, 5), axis(3, 3, 1, 5)},       // windows beyond the edges
    {1, 19, 1, 1, axis(1, 1), axis(40, 9, 1, 4)},
    {2, 12, 1, 2, axis(6, 3, 1, 1), axis(7, 3, 1, 1)},
    {1, 11, 1, 3, axis(6, 3, 2, 1), axis(7, 2, 2, 1)},
    {2, 9, 2, 2, axis(6, 3, 1, 1), axis(7, 3, 1, 1)},
    {1, 20, 3, 1, axis(6, 3, 1, 1), axis(7, 3, 2, 1)},
    {1, 8, 5, 3, axis(6, 3, 2, 2, 2), axis(9, 2, 3, 2, 2)},
    {2, 18, 1, 1, axis(5, 3, 1, 1), axis(6, 3, 1, 1), axis(4, 3, 1, 1)},
    {1, 5, 2, 3, axis(5, 2, 2, 0), axis(6, 2, 1, 1, 2), axis(5, 2, 2, 1)},
    {1, 80, 1, 1, axis(40, 3, 1, 1), axis(70, 3, 1, 1)}, // several blocks and parts
};

} // namespace

TEST_CASE("quantized results of windows of few channels of bytes") {
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
          CAPTURE(level, seed, isChannelsLast, threads, sizes.groups, sizes.in, sizes.out, sizes.rows.size);
          CHECK(quantized.computed<ByteDepthwise>(isChannelsLast, threads % 2, threads) == expected);
        }
    }
}

TEST_CASE("sums of windows of few channels of bytes") {
  const char *level = GENERATE(kLevels[0], kLevels[1], kLevels[2]);
  const DType dtype = GENERATE(DType::Int8, DType::UInt8);
  LevelUpTo limit(level);
  for (const Sizes &sizes : kSizes) {
    const Case c(sizes, dtype, 7);
    const Numbers expected = c.sums();
    for (bool isChannelsLast : {false, true})
      for (unsigned threads : {1u, 2u, 3u}) {
        CAPTURE(level, dtype, isChannelsLast, threads, sizes.groups, sizes.in, sizes.out, sizes.rows.size);
        REQUIRE(ByteDepthwise::fits(c.shape(isChannelsLast, false)));
        CHECK(computedSums<ByteDepthwise>(c, isChannelsLast, threads == 2, threads) == expected);
      }
  }
}

TEST_CASE("windows of few channels of bytes: rows that are too long for the caches do not fit") {
  const Sizes sizes = {1, 16, 1, 1, axis(4, 3), axis(1 << 15, 3)};
  CHECK_FALSE(ByteDepthwise::fits(Case(sizes, DType::Int8, 1).shape(true, false)));
}
