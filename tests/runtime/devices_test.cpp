// Devices by name, and kinds that a library adds.

#include "runtime/Devices.h"
#include "runtime/sim/SimDevice.h"
#include "tests/runtime/Expect.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

unsigned numBoards = 0;

llvm::Expected<Device *> board(unsigned number) {
  static SimDevice *boards[] = {new SimDevice("board0"), new SimDevice("board1")};
  return boards[number];
}

} // namespace

TEST_CASE("devices of a kind that a library adds") {
  CHECK(deviceCount("board") == std::nullopt);
  registerDevices({"board", [] { return numBoards; }, board, /*isAnyNumber=*/false, /*isAccelerator=*/true});
  std::string none = "tensor: device must be one of cpu0, sim0, null0, got 'board0'";
  CHECK(messageOf(findDevice("board0", "tensor")) == none); // there is none on this machine
  CHECK(deviceCount("board") == 0);
  CHECK(get(findDevice("xpu0"))->name() == "cpu0");

  numBoards = 2;
  CHECK(deviceNames() == std::vector<std::string>{"cpu0", "sim0", "null0", "board0", "board1"});
  CHECK(deviceCount("board") == 2);
  CHECK(deviceCount("xpu") == 2);
  CHECK(get(findDevice("board1:3"))->name() == "board1");
  CHECK(get(findDevice("boardx"))->name() == "board0");
  CHECK(get(findDevice("xpux"))->name() == "board0");
  CHECK(messageOf(findDevice("board2")) ==
        "device: device must be one of cpu0, sim0, null0, board0, board1, got 'board2'");
  CHECK(llvm::is_contained(devicesInUse(), get(findDevice("board1"))));

  registerDevices({"board", [] { return 0u; }, board}); // one that is known stays
  CHECK(deviceCount("board") == 2);
  numBoards = 0;
}

TEST_CASE("a GPU is a kind that a build may lack") {
  CHECK(deviceCount("gpu") == 0);
  CHECK(messageOf(findDevice("gpu0", "tensor")) == "tensor: device must be one of cpu0, sim0, null0, got 'gpu0'");
  CHECK(deviceCount("tpu") == std::nullopt);
}
