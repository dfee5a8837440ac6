//===- device_test.cpp - training on another device -----------------------===//
#include "tests/frontends/cc/DeviceTraining.h"

#include "runtime/sim/SimDevice.h"

#include <catch2/catch.hpp>

using namespace tess;

TEST_CASE("training on sim0 has the bits of the host, eager and traced") {
  auto want = test::trainOn(runtime::hostDevice(), false);
  for (bool traced : {false, true})
    CHECK(test::trainOn(runtime::simDevice(), traced) == want);
}
