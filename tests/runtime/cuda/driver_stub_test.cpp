// A process of its own: the stand-in has the driver's SONAME, so the driver cannot be opened after it.
#include "runtime/cuda/Driver.h"
#include "tests/runtime/Expect.h"
#include "tools/bazel/catch2/Skip.h"

using namespace tess;
using namespace tess::test;
using namespace tess::runtime::cuda;
using Catch::Matchers::StartsWith;

TEST_CASE("the toolkit's stand-in for the driver has every function, and starts none") {
  auto stub = Driver::load(toolkitNames("stubs/libcuda.so"));
  if (!stub)
    TESS_SKIP(takeError(stub.takeError()).second);
  CHECK_THAT(messageOf((*stub)->check((*stub)->cuInit(0), "cuInit")), StartsWith("cuda: cuInit must succeed, got "));
  CHECK_THAT(messageOf((*stub)->deviceCount()), StartsWith("cuda: cuDeviceGetCount must succeed, got "));
  CHECK_THAT(messageOf((*stub)->describe()), StartsWith("cuda: cuDriverGetVersion must succeed, got "));
  CHECK_THAT(messageOf((*stub)->facts(0)), StartsWith("cuda: cuDeviceGet must succeed, got "));
}
