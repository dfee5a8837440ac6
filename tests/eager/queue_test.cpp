// Work beside the caller: order, errors that come later, poisoned tensors.
#include "eager/stack/Apply.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Queue.h"
#include "runtime/device/Allocator.h"
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Worker.h"
#include "tests/eager/Helpers.h"

#include <thread>

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

namespace {
/// The worker runs nothing until it opens.
class Gate {
public:
  Gate() {
    runtime::Worker::global().submit([this] {
      while (!isOpen)
        std::this_thread::yield();
    });
  }
  ~Gate() {
    open();
    check(eager::sync());
  }
  void open() { isOpen = true; }

private:
  std::atomic<bool> isOpen = false;
};
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

TEST_CASE("levels 0 and 1 raise at the call") {
  Level scope(GENERATE(0, 1));
  auto [code, message] = errorOf(outOfRange());
  CHECK(code == ErrorCode::OutOfRange);
  CHECK_THAT(message, Catch::Contains("x f32[3], indices i32[1]"));
  check(eager::sync());
}

TEST_CASE("at level 1 only calls that data can refuse wait for it") {
  std::vector<float> data(kLarge, 1);
  for (int level : {1, 2}) {
    Level scope(level);
    Gate gate;
    TensorRef x = make(data), index = make<int32_t>({3});
    TensorRef y = run("add", {x, x});
    CHECK(isPending(y->storage()));
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      gate.open();
    });
    Tensors picked = get(apply(OpDef::get("index_get").set("axes", IntList{0}), {Operand(y), Operand(index)}, {1, 1}));
    if (level == 1)
      CHECK_FALSE(isPending(picked[0]->storage()));
    opener.join();
    CHECK(values<float>(*picked[0]) == std::vector<float>{2});
  }
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

TEST_CASE("a result of several failures tells all of them") {
  Level scope(2);
  TensorRef first = get(outOfRange()), second = get(outOfRange()), third = get(outOfRange());
  float value;
  std::string one = takeError(readValue(*first, &value)).second;
  SECTION("once, in the order of the operands") {
    TensorRef both = run("add", {run("mul", {second, third}), second});
    CHECK(takeError(readValue(*both, &value)).second == one + "\nalso " + one);
    check(eager::sync());
  }
  SECTION("where nobody reads it sync does") {
    run("mul", {second, third});
    CHECK(takeError(eager::sync()).second == one + "\nalso " + one);
    check(eager::sync());
  }
  SECTION("but those that were told before, or beside one that was") {
    TensorRef both = run("mul", {first, second});
    CHECK(takeError(readValue(*both, &value)).second == one);
    CHECK(takeError(eager::sync()).second == one + "\nalso " + one);
  }
  SECTION("one failure on two ways is one") {
    TensorRef same = run("mul", {run("add", {second, second}), second});
    CHECK(takeError(readValue(*same, &value)).second == one);
    CHECK(takeError(eager::sync()).second == one); // the third
  }
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

TEST_CASE("sync tells all failures that nobody has seen") {
  Level scope(2);
  get(outOfRange());
  TensorRef seen = get(outOfRange());
  get(outOfRange());
  float value;
  std::string message = takeError(readValue(*seen, &value)).second;
  CHECK(takeError(eager::sync()).second == message + "\nalso " + message);
  check(eager::sync());
}

TEST_CASE("what queued operators refer to is counted once, and again when it has run") {
  Level scope(2);
  std::vector<float> data(kLarge, 1);
  TensorRef x = make(data);
  check(eager::sync());
  {
    Gate gate;
    TensorRef y = run("add", {x, x}), z = run("mul", {x, y});
    CHECK(queueStats().bytes == 3 * kLarge * sizeof(float));
    CHECK(queueStats().commands == 3);
  }
  CHECK(queueStats().bytes == 0);
  CHECK(queueStats().commands == 0);
}

TEST_CASE("a caller waits when queued operators refer to many bytes") {
  Level scope(2);
  auto bound = queueStats().mostBytes;
  std::vector<float> data(4 << 20, 1);
  TensorRef x = make(data), y;
  std::atomic<bool> isDone = false;
  auto gate = std::make_unique<Gate>();
  std::thread caller([&] {
    for (int i = 0; i < 20; ++i)
      y = run("add", {x, Operand(Number::floating(float(i)))});
    isDone = true;
  });
  uint64_t bytes = data.size() * sizeof(float);
  while (queueStats().bytes <= bound)
    std::this_thread::yield();
  CHECK_FALSE(isDone);
  CHECK(queueStats().bytes <= bound + bytes);
  gate->open();
  caller.join();
  CHECK(values<float>(*y)[5] == 20);
}

TEST_CASE("memory that queued operators hold is waited for") {
  Level scope(2);
  std::vector<float> data(kLarge, 1);
  TensorRef x = make(data);
  check(eager::sync());
  runtime::Allocator &allocator = runtime::hostDevice().allocator();
  allocator.setLimit(allocator.stats().inUse + 4 * kLarge * sizeof(float));
  for (int i = 0; i < 100; ++i)
    x = run("mul", {x, x});
  CHECK(values<float>(*x)[3] == 1);
  allocator.setLimit(UINT64_MAX);
}

TEST_CASE("a user who says stop ends a wait, and nothing else") {
  static bool saysStop = false;
  setBlockingHooks({[](bool) -> void * { return nullptr; }, [](void *, bool) {},
                    [](void *&) {
                      return saysStop ? invalidArgument("stop: user must go on, got a signal") : llvm::Error::success();
                    }});
  Level scope(2);
  TensorRef x = make(std::vector<float>(kLarge, 1));
  {
    Gate gate;
    TensorRef y = run("add", {x, x});
    saysStop = true;
    CHECK(takeError(awaitValue(y->storage())).second == "stop: user must go on, got a signal");
    CHECK(takeError(eager::sync()).second == "stop: user must go on, got a signal");
    CHECK(takeError(setAsyncLevel(1)).second == "stop: user must go on, got a signal");
    CHECK(asyncLevel() == 2);
    saysStop = false;
    gate.open();
    CHECK(values<float>(*y)[0] == 2);
  }
  setBlockingHooks({});
}

namespace {
std::atomic<int> describedOn = 0; // 1: the caller's thread, 2: the worker
} // namespace

TEST_CASE("the place of a failure is put into words by who tells it") {
  setLocationHooks({[](void *&code, int32_t &position) {
                      code = &describedOn;
                      position = 7;
                    },
                    [](void *, int32_t position) {
                      describedOn = runtime::Worker::onWorkerThread() ? 2 : 1;
                      return "user.py:" + std::to_string(position);
                    },
                    nullptr, [](void *) {}});
  Level scope(2);
  TensorRef bad, z = make(std::vector<float>(kLarge, 1));
  {
    Gate gate; // so that the failure comes on the worker
    TensorRef y = run("add", {z, z});
    bad = get(apply(OpDef::get("index_get").set("axes", IntList{0}),
                    {Operand(y), Operand(make<int32_t>({int32_t(kLarge)}))}, {1, 1}))[0];
    gate.open();
    runtime::Worker::global().wait(runtime::Worker::global().last());
    CHECK(bad->storage().failure());
    CHECK(describedOn == 0);
    float value;
    CHECK_THAT(takeError(readValue(*bad, &value)).second, Catch::EndsWith(", at user.py:7"));
    CHECK(describedOn == 1);
  }
  bad.reset();
  setLocationHooks({});
}

/// Leaks are looked for in a standstill: a process that ends while its threads run has none to offer.
static bool endsWhileThreadsRun = false;
extern "C" int __lsan_is_turned_off() { return endsWhileThreadsRun; }

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer
TEST_CASE("a program ends in the middle of queued work") {
  Level scope(2);
  int status = statusOfChild(120, [] {
    TensorRef x = make(std::vector<float>(1 << 20, 1));
    for (int i = 0; i < 50; ++i)
      x = run("exp", {run("mul", {x, Operand(Number::floating(0))})});
    endsWhileThreadsRun = true;
    std::exit(0);
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("levels are 0, 1, 2") {
  CHECK(takeError(setAsyncLevel(3)).second == "async_level: level must be 0, 1 or 2, got 3");
}
