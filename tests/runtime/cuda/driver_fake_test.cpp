// Descriptions of GPUs, by a driver that has them where the machine has none.
#include "runtime/cuda/Driver.h"
#include "tests/runtime/Expect.h"

#include <cstdlib>

using namespace tess;
using namespace tess::test;
using namespace tess::runtime::cuda;
using Catch::Matchers::StartsWith;

TEST_CASE("a driver describes its GPUs, and says where there is none") {
  std::unique_ptr<Driver> driver = get(Driver::load({"tests/runtime/cuda/libcuda_fake.so"}));
  GpuSystem system = get(driver->describe());
  CHECK(system.toolkitVersion == CUDA_VERSION);
  CHECK(system.driverVersion == 12040);
  REQUIRE(system.gpus.size() == 2);
  CHECK(system.gpus[0].model == "Fake GPU 80");
  CHECK(system.gpus[0].memoryBytes == uint64_t(80) << 30);
  CHECK(system.gpus[0].architecture() == "sm_90");
  CHECK(system.gpus[1].model == "Fake GPU 24");
  CHECK(system.gpus[1].architecture() == "sm_86");
  CHECK_THAT(messageOf(driver->facts(2)), StartsWith("cuda: cuDeviceGet must succeed, got FAKE_ERROR (101: "));

  setenv("FAKE_GPUS", "0", 1);
  CHECK(messageOf(driver->describe()) == "cuda: the driver has no GPU (cuDeviceGetCount says 0)");
  CHECK(codeOf(driver->describe()) == ErrorCode::NotFound);
}
