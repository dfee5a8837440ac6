#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Worker.h"
#include "tests/runtime/Expect.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// Sum of 0..999 by 4 parts on the worker: a parallel region.
int64_t regionSum() {
  std::atomic<int64_t> sum{0};
  ok(Worker::global().call([&]() -> llvm::Error {
    parallelFor(4, 1000, 16, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t i = begin; i < end; ++i)
        sum += i;
    });
    return llvm::Error::success();
  }));
  return sum;
}

} // namespace

TEST_CASE("parallelFor covers the range once, at multiples of the grain") {
  for (int64_t count : {0, 1, 15, 16, 17, 100, 1000})
    for (unsigned parts : {1u, 2u, 3u, 7u}) {
      std::vector<int> seen(size_t(count), 0);
      parallelFor(parts, count, 16, [&](int64_t begin, int64_t end, unsigned part) {
        CHECK(begin % 16 == 0);
        CHECK((end % 16 == 0 || end == count));
        CHECK(part < parts);
        for (int64_t i = begin; i < end; ++i)
          ++seen[size_t(i)];
      });
      CHECK(std::accumulate(seen.begin(), seen.end(), 0) == count);
      for (int n : seen)
        CHECK(n == 1);
    }
}

TEST_CASE("regions run on the worker and not elsewhere") {
  CHECK_FALSE(Worker::onWorkerThread());
  std::thread::id self = std::this_thread::get_id();
  parallelRun(3, [&](unsigned) { CHECK(std::this_thread::get_id() == self); });
  CHECK(regionSum() == 499500);
}

static std::thread::id threadOfCall() {
  std::thread::id thread;
  ok(Worker::global().call([&]() -> llvm::Error {
    CHECK(Worker::onWorkerThread());
    thread = std::this_thread::get_id();
    return llvm::Error::success();
  }));
  CHECK_FALSE(Worker::onWorkerThread());
  return thread;
}

/// Waits until no command runs and the worker has noticed.
static bool isCallerServed() {
  for (int i = 0; i < 1000; ++i)
    if (threadOfCall() == std::this_thread::get_id())
      return true;
  return false;
}

TEST_CASE("a call runs on its caller, and behind queued commands on the worker") {
  CHECK(isCallerServed());
  std::atomic<bool> ends{false};
  int before = 0;
  Worker::global().submit([&] {
    while (!ends)
      std::this_thread::yield();
    before = 1;
  });
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ends = true;
  });
  CHECK(threadOfCall() != std::this_thread::get_id());
  CHECK(before == 1);
  release.join();
}

TEST_CASE("commands that come while a caller runs wait for it") {
  CHECK(isCallerServed());
  std::atomic<int> order{0};
  int ofCall = 0, ofCommand = 0;
  ok(Worker::global().call([&]() -> llvm::Error {
    std::thread([&] { Worker::global().submit([&] { ofCommand = ++order; }); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ofCall = ++order;
    return llvm::Error::success();
  }));
  ok(Worker::global().drain());
  CHECK((ofCall == 1 && ofCommand == 2));
}

TEST_CASE("callers take turns, one at a time") {
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        ok(Worker::global().call([&]() -> llvm::Error {
          most = std::max(most.load(), ++inside);
          --inside;
          return llvm::Error::success();
        }));
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(most == 1);
}

TEST_CASE("the number of threads can be set within bounds") {
  unsigned before = numThreads();
  ok(setNumThreads(3));
  CHECK(numThreads() == 3);
  CHECK(messageOf(setNumThreads(0)) == "set_num_threads: count must be in 1..1024, got 0");
  CHECK(messageOf(setNumThreads(5000)) == "set_num_threads: count must be in 1..1024, got 5000");
  ok(setNumThreads(before));
  CHECK(availableThreads() >= 1);
}

TEST_CASE("commands run in order, many more than the queue holds") {
  std::vector<int> order;
  for (int i = 0; i < 5000; ++i)
    Worker::global().submit([&order, i] { order.push_back(i); });
  ok(Worker::global().drain());
  REQUIRE(order.size() == 5000);
  for (int i = 0; i < 5000; ++i)
    CHECK(order[size_t(i)] == i);
  CHECK(Worker::global().idle());
}

TEST_CASE("the error slot keeps the first error until drained") {
  Worker &worker = Worker::global();
  worker.submit([]() -> llvm::Error { return invalidArgument("first"); });
  worker.submit([]() -> llvm::Error { return invalidArgument("second"); });
  bool ran = false;
  worker.submit([&] { ran = true; });
  CHECK(messageOf(worker.drain()) == "first");
  CHECK(ran);
  ok(worker.drain());
}

TEST_CASE("call brings its own error back and leaves the slot alone") {
  CHECK(messageOf(Worker::global().call([]() -> llvm::Error { return invalidArgument("mine"); })) == "mine");
  ok(Worker::global().drain());
}

TEST_CASE("many threads may submit") {
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        Worker::global().submit([&] { ++count; });
    });
  for (std::thread &thread : threads)
    thread.join();
  ok(Worker::global().drain());
  CHECK(count == 4000);
}

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer
TEST_CASE("a child forked after a parallel region opens its own") {
  CHECK(regionSum() == 499500);
  for (int round = 0; round < 3; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20); // a hang is a failure, not a time-out of the whole test
      ::_exit(regionSum() == 499500 && regionSum() == 499500 ? 42 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 42);
    CHECK(regionSum() == 499500); // and the parent goes on
  }
}

TEST_CASE("a fork waits for queued commands") {
  std::atomic<int> count{0};
  for (int i = 0; i < 200; ++i)
    Worker::global().submit([&] { ++count; });
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(count == 200 && Worker::global().idle() ? 42 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 42);
  ok(Worker::global().drain());
}

/// In a process of its own: there is no way back from stop().
static bool runsWhatIsLeft() {
  Worker &worker = Worker::global();
  std::atomic<bool> isOpen{false};
  int count = 0;
  worker.submit([&] {
    while (!isOpen)
      std::this_thread::yield();
  });
  for (int i = 0; i < 10; ++i)
    worker.submit([&] { ++count; });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    isOpen = true;
  });
  worker.stop();
  opener.join();
  worker.wait(worker.last());
  bool isDone = count == 10;
  for (uint64_t i = 0; i < 2 * Worker::kCapacity; ++i)
    worker.submit([&] { ++count; });
  ok(worker.drain());
  worker.stop(); // again: nothing
  return isDone && count == 10 + 2 * int(Worker::kCapacity) && regionSum() == 499500 && !Worker::onWorkerThread();
}

TEST_CASE("who waits runs what a stopped worker leaves") {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);
    ::_exit(runsWhatIsLeft() ? 42 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}
#endif
