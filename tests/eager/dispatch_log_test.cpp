// TESS_LOG=dispatch: this binary has the dbg build's Apply.cpp in it, whatever it is built for.
#include "eager/DispatchLog.h"
#include "tests/eager/Helpers.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

static_assert(kLogsDispatch);

/// What `f` writes to stderr.
template <typename F> static std::string stderrOf(F f) {
  char path[] = "/tmp/tess_log_XXXXXX";
  int file = ::mkstemp(path), old = ::dup(2);
  REQUIRE(file >= 0);
  ::dup2(file, 2);
  f();
  ::dup2(old, 2);
  ::close(old);
  ::close(file);
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ::unlink(path);
  return text;
}

TEST_CASE("each operator is logged with its layers by name") {
  ::setenv("TESS_LOG", "other,dispatch", 1);
  TensorRef x = make<float>({1, 2}), n = make<int32_t>({3, 4});
  CHECK(stderrOf([&] { run("add", {x, x}); }) == "dispatch: add(f32[2], f32[2]): Interpreter\n");
  CHECK(stderrOf([&] { run("neg", {x}); }) == "dispatch: neg(f32[2]): Interpreter\n");
  std::string scalar = stderrOf([&] { run("mul", {x, Operand(Number::floating(1.5))}); });
  CHECK(scalar.find("dispatch: mul(f32[2], 1.50): Scalar > Interpreter\n") == 0);
  CHECK(scalar.find("dispatch: CreateTensor(): Interpreter\n") != std::string::npos);
  std::string promoted = stderrOf([&] { run("add", {x, n}); });
  CHECK(promoted.find("dispatch: add(f32[2], i32[2]): DTypePromotion > Interpreter\n") == 0);
  CHECK(promoted.find("dispatch: cast(i32[2]): Interpreter\n") != std::string::npos);
}
