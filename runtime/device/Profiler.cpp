//===- Profiler.cpp - Chrome trace of steps -------------------------------===//
#include "runtime/device/Profiler.h"
#include "ops/vocabulary/Error.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tess::runtime::profiler {

std::atomic<bool> isOn{false};

namespace {
struct Event {
  std::string name, category, value, location;
  uint64_t begin, end; // equal for a point of the memory curve
  uint64_t bytes;
  long thread;
  int64_t step = -1;
  uint64_t shapes = 0;
};
struct Log {
  std::mutex mutex;
  std::vector<Event> events;
  size_t most = 0;
  uint64_t dropped = 0, origin = 0;
  Log() { holdAcrossFork(mutex); }
};
} // namespace

static Log &theLog() {
  static Log *log = new Log; // never destroyed: the worker may record until the end
  return *log;
}
static const MadeAtLoad<theLog> kMade;

uint64_t now() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

void start(size_t maxEvents) {
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  log.events.clear();
  log.most = maxEvents;
  log.dropped = 0;
  log.origin = now();
  isOn = true;
}

void stop() { isOn = false; }

static void add(Event event) {
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  if (log.events.size() < log.most)
    log.events.push_back(std::move(event));
  else
    ++log.dropped;
}

static thread_local std::string locationHere;

At::At(std::string location) : outer(std::exchange(locationHere, std::move(location))) {}
At::~At() { locationHere = std::move(outer); }

void record(llvm::StringRef name, llvm::StringRef category, uint64_t begin, uint64_t end, const Details &details) {
  std::string place = details.location.empty() ? locationHere : details.location.str();
  add({name.str(), category.str(), details.value.str(), std::move(place), begin, end, 0, ::syscall(SYS_gettid),
       details.step, details.shapes});
}

void recordMemory(llvm::StringRef what, uint64_t bytes) {
  uint64_t time = now();
  add({what.str(), "memory", "", "", time, time, bytes, ::syscall(SYS_gettid)});
}

static llvm::json::Object toJson(const Event &event, uint64_t origin) {
  double begin = double(event.begin - std::min(event.begin, origin)) / 1000; // microseconds
  llvm::json::Object object{{"name", llvm::json::fixUTF8(event.name)},
                            {"cat", event.category},
                            {"ts", begin},
                            {"pid", int64_t(::getpid())},
                            {"tid", int64_t(event.thread)}};
  if (event.category == "memory") {
    object["ph"] = "C";
    object["args"] = llvm::json::Object{{"bytes", int64_t(event.bytes)}};
    return object;
  }
  object["ph"] = "X";
  object["dur"] = double(event.end - event.begin) / 1000;
  llvm::json::Object args;
  if (!event.value.empty())
    args["value"] = llvm::json::fixUTF8(event.value);
  if (!event.location.empty())
    args["location"] = llvm::json::fixUTF8(event.location);
  if (event.step >= 0)
    args["step"] = event.step;
  if (event.shapes)
    args["shapes"] = llvm::utohexstr(event.shapes);
  object["args"] = std::move(args);
  return object;
}

std::string json() {
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  llvm::json::Array events;
  for (const Event &event : log.events)
    events.push_back(toJson(event, log.origin));
  llvm::json::Object root{{"traceEvents", std::move(events)},
                          {"displayTimeUnit", "ns"},
                          {"otherData", llvm::json::Object{{"droppedEvents", int64_t(log.dropped)}}}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(root));
  return text;
}

llvm::Error save(llvm::StringRef path) {
  std::error_code code;
  llvm::raw_fd_ostream out(path, code, llvm::sys::fs::OF_None);
  if (!code) {
    out << json() << '\n';
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    return makeError(ErrorCode::IoError, "profile: must be able to write " + path + ", got " + code.message());
  return llvm::Error::success();
}

} // namespace tess::runtime::profiler
