// Work beside the caller: order, errors that come later, poisoned tensors.
#include "eager/Location.h"
#include "eager/Queue.h"
#include "runtime/ParallelFor.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

namespace {
struct Level {
  explicit Level(int level) : old(asyncLevel()) { check(setAsyncLevel(level)); }
  ~Level() { check(setAsyncLevel(old)); }
  int old;
};

/// x[7] of three elements: found by the kernel.
llvm::Expected<TensorRef> outOfRange() {
  TensorRef x = make<float>({1, 2, 3}), index = make<int32_t>({7});
  llvm::Expected<Tensors> results =
      apply(OpDef::get("index_get").set("axes", IntList{0}), {Operand(x), Operand(index)}, {1, 1});
  if (!results)
    return results.takeError();
  return results->front();
}
} // namespace

/// Elements whose addition goes to the worker: it is taken to cost over 100 ps each.
static constexpr size_t kLarge = runtime::kWorkerPicoseconds / 100;

TEST_CASE("a chain of large and small operators has its value at every level") {
  for (int level : {0, 1, 2}) {
    Level scope(level);
    std::vector<float> data(kLarge, 1);
    TensorRef x = make(data);
    for (int i = 0; i < 50; ++i)
      x = run("add", {x, Operand(Number::floating(1))});
    TensorRef first = run(OpDef::get("slice").set("starts", IntList{0}).set("stops", IntList{3}), {x});
    CHECK(values<float>(*run("mul", {first, first})) == std::vector<float>(3, 51 * 51));
  }
}

TEST_CASE("more operators than the queue holds") {
  Level scope(2);
  TensorRef x = make(std::vector<float>(kLarge, 0));
  for (int i = 0; i < 1500; ++i)
    x = run("add", {x, Operand(Number::floating(1))});
  CHECK(values<float>(*x)[kLarge - 1] == 1500);
}

TEST_CASE("level 0 raises at the call") {
  Level scope(0);
  auto [code, message] = errorOf(outOfRange());
  CHECK(code == ErrorCode::OutOfRange);
  CHECK_THAT(message, Catch::Contains("x f32[3], indices i32[1]"));
}

TEST_CASE("a failure poisons what is computed from it, and is reported where it is read") {
  Level scope(2);
  TensorRef bad = get(outOfRange());
  TensorRef later = run("mul", {run("add", {bad, Operand(Number::integer(1))}), bad});
  TensorRef reduced = run("sum", {later});
  std::vector<float> value(1);
  auto [code, message] = takeError(readValue(*reduced, value.data()));
  CHECK(code == ErrorCode::OutOfRange);
  CHECK_THAT(message, Catch::StartsWith("index_get: "));
  SECTION("sync does not report it again") { check(eager::sync()); }
  SECTION("reading it again does") { CHECK(takeError(readValue(*bad, value.data())).second == message); }
}

TEST_CASE("sync reports what nobody read, once") {
  Level scope(2);
  get(outOfRange());
  CHECK(takeError(eager::sync()).first == ErrorCode::OutOfRange);
  check(eager::sync());
}

TEST_CASE("a failure names the scope of its call") {
  Level scope(2);
  pushScope("net");
  pushScope("embedding");
  TensorRef bad = get(outOfRange());
  popScope();
  popScope();
  float value;
  CHECK_THAT(takeError(readValue(*bad, &value)).second, Catch::EndsWith(", at net.embedding"));
  check(eager::sync());
}

TEST_CASE("levels are 0, 1, 2") {
  CHECK(takeError(setAsyncLevel(3)).second == "async_level: level must be 0, 1 or 2, got 3");
}
