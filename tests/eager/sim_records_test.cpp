// Every operator on the emulated accelerator; a GPU runs them by the same functions.
#include "runtime/sim/SimDevice.h"
#include "tests/eager/DeviceRecords.h"

using namespace tess;
using namespace tess::test;

TEST_CASE("every operator has the CPU's bits on sim0") {
  CHECK(checkRecords(runtime::simDevice(), DType::Float32) > 1000);
}
