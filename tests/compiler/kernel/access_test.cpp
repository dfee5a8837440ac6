//===- kernel_access_test.cpp - kernels under a sanitizer ----------------===//
//
// The faults are test cases of their own, hidden, that another process runs.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "runtime/device/Device.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <thread>
#include <unistd.h>

namespace tess::test {

namespace {

constexpr int64_t kCount = 37; // two vectors and a masked tail

struct Free {
  void operator()(float *data) const { std::free(data); }
};
using Floats = std::unique_ptr<float, Free>;

/// Memory with nothing behind it.
Floats floats() {
  Floats data(static_cast<float *>(std::malloc(kCount * sizeof(float))));
  std::fill_n(data.get(), kCount, 1.5f);
  return data;
}

const Kernel &addKernel() {
  static const Kernel kernel = [] {
    SpecBuilder s;
    int a = s.input(DType::Float32), b = s.input(DType::Float32);
    s.output(s.apply(ScalarFn::Add, DType::Float32, {a, b}), DType::Float32);
    return Kernel(s.spec, runtime::hostDevice().target());
  }();
  return kernel;
}

void add(int64_t count, float *a, float *b, float *sum) { addKernel().run({count}, {{a, {1}}, {b, {1}}, {sum, {1}}}); }

/// Whether the hidden case `name` ends its process badly.
bool isSeen(const std::string &name) {
  char self[4096];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self));
  REQUIRE(length > 0);
  std::string command = "'" + std::string(self, size_t(length)) + "' '" + name + "' >/dev/null 2>&1";
  return std::system(command.c_str()) != 0;
}

} // namespace

TEST_CASE("accesses within their memory are no report") {
  Floats a = floats(), b = floats(), sum = floats();
  add(kCount, a.get(), b.get(), sum.get());
  CHECK(sum.get()[kCount - 1] == 3);
  CHECK_FALSE(isSeen("within its memory"));
}

TEST_CASE("within its memory", "[.]") {
  Floats a = floats(), b = floats(), sum = floats();
  add(kCount, a.get(), b.get(), sum.get());
}

#if TESS_SANITIZE_ADDRESS

TEST_CASE("reads beyond an operand", "[.]") {
  Floats a = floats(), b = floats();
  std::vector<float> sum(kCount + 1);
  add(kCount + 1, a.get(), b.get(), sum.data());
}

TEST_CASE("writes beyond a result", "[.]") {
  std::vector<float> a(kCount + 1), b(kCount + 1);
  Floats sum = floats();
  add(kCount + 1, a.data(), b.data(), sum.get());
}

TEST_CASE("reads what was freed", "[.]") {
  Floats a = floats(), b = floats(), sum = floats();
  float *gone = a.get();
  a.reset();
  add(16, gone, b.get(), sum.get());
}

TEST_CASE("AddressSanitizer sees what kernels do") {
  CHECK(isSeen("reads beyond an operand"));
  CHECK(isSeen("writes beyond a result"));
  CHECK(isSeen("reads what was freed"));
}

#elif TESS_SANITIZE_THREAD

TEST_CASE("two threads write one result", "[.]") {
  Floats a = floats(), b = floats(), sum = floats();
  addKernel();
  std::thread other([&] { add(kCount, a.get(), b.get(), sum.get()); });
  add(kCount, a.get(), b.get(), sum.get());
  other.join();
}

TEST_CASE("ThreadSanitizer sees what kernels do") { CHECK(isSeen("two threads write one result")); }

#else

TEST_CASE("a plain build adds nothing to its kernels") {
  CHECK(addKernel().image.bytes == Kernel(addKernel().spec, "host-checked").image.bytes);
}

#endif

} // namespace tess::test
