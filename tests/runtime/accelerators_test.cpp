// GPUs among the devices of a process that registers them, with or without a driver.
#include "runtime/Accelerators.h"
#include "runtime/Devices.h"
#include "tests/runtime/Expect.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("the note on GPUs agrees with their number") {
  registerAccelerators();
  registerAccelerators(); // once more changes nothing
  unsigned count = deviceCount("gpu").value();
  REQUIRE(acceleratorNotes().size() == 1);
  auto [kind, note] = acceleratorNotes()[0];
  CHECK(kind == "gpu");
  CHECK_THAT(note, StartsWith(count ? std::to_string(count) + " (" : "none (") && EndsWith(")"));
  auto system = gpuSystem("f");
  if (system)
    CHECK(system->gpus.size() == count);
  else
    CHECK_THAT(messageOf(std::move(system)), StartsWith("f: there is no GPU (") && EndsWith(")"));
}
