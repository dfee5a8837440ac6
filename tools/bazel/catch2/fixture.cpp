// Not a test: listener_test runs it and reads the XML.
#include "tools/bazel/catch2/Skip.h"

TEST_CASE("passes <&>") {
  SECTION("one") { CHECK(true); }
  SECTION("two") { CHECK(true); }
}

TEST_CASE("fails") { CHECK(1 + 1 == 3); }

TEST_CASE("throws") { throw std::runtime_error("boom"); }

TEST_CASE("is skipped") { TESS_SKIP("no device"); }
