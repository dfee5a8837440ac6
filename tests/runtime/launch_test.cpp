// Launches: parts and tiles of a domain.

#include "runtime/device/Device.h"
#include "tests/runtime/Expect.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// Counts its calls for each element; dims: the inner size.
void countElements(void *const *pointers, const int64_t *dims, void *, int64_t outerLo, int64_t outerHi,
                   int64_t innerLo, int64_t innerHi) {
  if (innerLo % kLanes)
    return; // no kernel may start there
  auto *counts = static_cast<uint8_t *>(pointers[0]);
  for (int64_t row = outerLo; row < outerHi; ++row)
    for (int64_t lane = innerLo; lane < innerHi; ++lane)
      ++counts[row * dims[0] + lane];
}

} // namespace

TEST_CASE("parts and tiles cover each element once") {
  for (bool tiled : {false, true})
    for (unsigned threads : {1, 2, 3})
      for (int64_t outer : {1, 2, 63, 64, 65, 200})
        for (int64_t inner : {1, 15, 16, 17, 100}) {
          std::vector<uint8_t> counts(outer * inner);
          void *pointers[] = {counts.data()};
          KernelLaunch launch{};
          launch.fn = countElements;
          launch.pointers = pointers;
          launch.dims = &inner;
          launch.outer = outer;
          launch.inner = inner;
          launch.tiled = tiled;
          launch.split(threads);
          ok(hostDevice().defaultStream().launch(launch));
          INFO(tiled << " " << threads << " " << outer << " x " << inner);
          CHECK(llvm::count(counts, 1) == int64_t(counts.size()));
        }
}

TEST_CASE("tiles are wanted where neighbours lie farther apart than rows") {
  auto wanted = [](std::vector<int64_t> sizes, std::vector<int64_t> strides) { // of one operand
    sizes.insert(sizes.end(), strides.begin(), strides.end());
    return wantsTiles(sizes.data(), unsigned(strides.size()), 1);
  };
  CHECK(wanted({8, 9}, {1, 8}));          // turned
  CHECK(wanted({8, 9}, {-1, -8}));        // from behind
  CHECK(wanted({2, 8, 9}, {1, 100, 10})); // along the first axis
  CHECK(!wanted({8, 9}, {9, 1}));         // row-major
  CHECK(!wanted({8, 9}, {36, 2}));        // every second
  CHECK(!wanted({8, 9}, {0, 5}));         // a repeated row
  CHECK(!wanted({1, 9}, {1, 5}));         // one row
  CHECK(!wanted({9}, {5}));
}
