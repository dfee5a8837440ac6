// Training on a GPU, eager and traced, has the bits of the CPU.
#include "tests/frontends/cc/DeviceTraining.h"
#include "tests/runtime/cuda/Gpu.h"

using namespace tess;
using namespace tess::test;

TEST_CASE("training has the CPU's bits, eager and traced") {
  TESS_GPU(gpu);
  auto want = trainOn(runtime::hostDevice(), false);
  for (bool traced : {false, true})
    CHECK(trainOn(gpu, traced) == want);
}
