//===- kernel_perf_map_test.cpp - kernels by name for perf ----------------===//
//
// A process of its own: it asks the environment once.
//
//===----------------------------------------------------------------------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace tess::test {

TEST_CASE("a perf map names the kernels") {
  setenv("TESS_PERF_MAP", "1", 1);
  SpecBuilder s;
  int a = s.input(DType::Float32);
  s.output(s.apply(ScalarFn::Add, DType::Float32, {a, a}), DType::Float32);
  Kernel kernel(s.spec);
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::ifstream map(path);
  std::string address, size, name;
  REQUIRE(bool(map >> address >> size >> name));
  CHECK(name == "kernel");
  CHECK(std::stoull(size, nullptr, 16) == kernel.image.bytes.size() - kernel.image.entries[0].offset);
  std::remove(path.c_str());
}

} // namespace tess::test
