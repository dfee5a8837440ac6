#include "runtime/device/Allocator.h"
#include "runtime/device/Profiler.h"
#include "tests/runtime/Expect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// Opens a file with the numbers 10, 20, 30 .. in place of a counter, so that each read gives the next one.
int openNumbers(perf_event_attr *, int) {
  char path[] = "/tmp/countersXXXXXX";
  int file = ::mkstemp(path);
  for (uint64_t number = 10; number <= 100; number += 10)
    (void)!::write(file, &number, sizeof(number));
  ::lseek(file, 0, SEEK_SET);
  ::unlink(path);
  return file;
}

int forbid(perf_event_attr *, int) {
  errno = EACCES;
  return -1;
}

int missProcessor(perf_event_attr *, int) {
  errno = ENOENT;
  return -1;
}

std::vector<llvm::json::Object> eventsOf(llvm::StringRef category) {
  llvm::json::Value trace = get(llvm::json::parse(profiler::json()));
  std::vector<llvm::json::Object> events;
  for (const llvm::json::Value &event : *trace.getAsObject()->getArray("traceEvents"))
    if (event.getAsObject()->getString("cat") == category)
      events.push_back(*event.getAsObject());
  return events;
}

/// The argument `name` of an event as a number; -1: it has none.
int64_t numberOf(const llvm::json::Object &event, llvm::StringRef name) {
  return event.getObject("args")->getInteger(name).value_or(-1);
}

} // namespace

TEST_CASE("counters are sums over the threads") {
  auto counters = get(HardwareCounters::open({"cycles", "page-faults"}, openNumbers));
  HardwareCounters::Counts first = counters->read(), second = counters->read();
  CHECK(first[0] >= 10); // this thread, and those that the test's harness may have
  CHECK(second[0] == 2 * first[0]);
  CHECK(second[1] == 2 * first[1]);
  CHECK(second[2] == 0);
}

TEST_CASE("counters that the kernel does not give are an error with its reason") {
  CHECK_THAT(messageOf(HardwareCounters::open({"cycles"}, forbid)),
             Catch::StartsWith("cycles: Permission denied (kernel.perf_event_paranoid is "));
  CHECK(messageOf(HardwareCounters::open({"cycles"}, missProcessor)) ==
        "cycles: No such file or directory (the processor, or the virtual machine, does not count them)");
  CHECK(codeOf(HardwareCounters::open({"cycles"}, forbid)) == ErrorCode::Unimplemented);
}

TEST_CASE("counters have names, of which four are the most") {
  CHECK_THAT(messageOf(HardwareCounters::open({"watts"}, openNumbers)),
             Catch::StartsWith("Profiler: counters must be of [cycles, instructions, ") &&
                 Catch::EndsWith(", got watts"));
  std::vector<std::string> five(5, "cycles");
  CHECK(messageOf(HardwareCounters::open(five, openNumbers)) == "Profiler: counters must be at most 4, got 5");
  CHECK_THAT(messageOf(profiler::start({.counters = {"watts"}})), Catch::EndsWith(", got watts"));
  CHECK(!profiler::on());
}

TEST_CASE("a profile has the counters of its steps, or says why it has none") {
  ok(profiler::start({.counters = {"task-clock"}}));
  profiler::Moment begin = profiler::now();
  for (volatile int i = 0; i < 1000000;)
    i = i + 1;
  profiler::record("work", "kernel", begin, profiler::now(), {});
  profiler::stop();
  llvm::json::Value trace = get(llvm::json::parse(profiler::json()));
  const llvm::json::Object &other = *trace.getAsObject()->getObject("otherData");
  auto work = eventsOf("kernel");
  REQUIRE(work.size() == 1);
  if (other.getString("counterNote")) {
    CHECK_THAT(other.getString("counterNote")->str(), Catch::StartsWith("task-clock: "));
    CHECK(numberOf(work[0], "task-clock") == -1);
  } else {
    CHECK(numberOf(work[0], "task-clock") > 0);
  }
}

TEST_CASE("kinds of events that are not wanted are left out") {
  static int block;
  auto recordAll = [] {
    profiler::record("exp", "kernel", profiler::now(), profiler::now(), {});
    profiler::record("step", "program", profiler::now(), profiler::now(), {});
    for (uint64_t bytes : {64, 128, 192, 256, 320})
      profiler::recordBlock("cpu0", &block, 64, true, bytes);
    profiler::stop();
  };
  ok(profiler::start({.steps = false, .memoryStride = 2, .counters = {}}));
  recordAll();
  CHECK(eventsOf("kernel").empty());
  CHECK(eventsOf("program").size() == 1);
  std::vector<int64_t> curve;
  for (const llvm::json::Object &event : eventsOf("memory"))
    if (event.getString("ph") == "C")
      curve.push_back(numberOf(event, "bytes"));
  CHECK(curve == std::vector<int64_t>{64, 192, 320});
  CHECK(eventsOf("memory").size() == 8);
  ok(profiler::start({.maxEvents = 3, .counters = {}}));
  recordAll();
  llvm::json::Value trace = get(llvm::json::parse(profiler::json()));
  CHECK(trace.getAsObject()->getObject("otherData")->getInteger("droppedEvents") == 4);
}

TEST_CASE("work that waits in a queue is a pair of rows, with what its caller did") {
  ok(profiler::start());
  profiler::Waiting waiting;
  {
    profiler::At here({"matmul", "train.py:12", "train.py:12 in step"});
    waiting = profiler::waitingFromHere();
  }
  CHECK(profiler::context().operation.empty());
  profiler::recordWaited(waiting, 7);
  profiler::recordMark("step 1");
  profiler::stop();
  auto rows = eventsOf("queue");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].getString("ph") == "b");
  CHECK(rows[1].getString("ph") == "e");
  for (const llvm::json::Object &row : rows) {
    CHECK(row.getString("name") == "matmul");
    CHECK(row.getInteger("id") == 7);
  }
  CHECK(rows[0].getObject("args")->getString("location") == "train.py:12");
  CHECK(rows[0].getObject("args")->getString("calls") == "train.py:12 in step");
  CHECK(rows[0].getObject("args")->getNumber("waited") >= 0.0);
  CHECK(eventsOf("step").at(0).getString("ph") == "i");
}
