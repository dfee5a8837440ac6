// TESS_LOG=dispatch: this binary has the dbg build's Apply.cpp in it, whatever it is built for.
#include "eager/stack/DispatchLog.h"
#include "tests/eager/Helpers.h"
#include "tests/runtime/Stderr.h"

#include <cstdlib>

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;
using tess::test::stderrOf;

static_assert(kLogsDispatch);

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
