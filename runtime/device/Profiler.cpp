//===- Profiler.cpp - Chrome trace of steps -------------------------------===//
#include "runtime/device/Profiler.h"
#include "ops/vocabulary/Error.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tess::runtime::profiler {

std::atomic<bool> isOn{false}, hasScopes{false}, hasCalls{false};
static std::atomic<bool> hasCounters{false};

template <typename Clock> static int64_t nanosecondsOf() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

static uint64_t timeNow() { return uint64_t(nanosecondsOf<std::chrono::steady_clock>()); }

namespace {

/// Forms of events in the trace.
enum class Form : uint8_t { Span, Mark, Queued, Taken, GivenBack, Typed };

struct Event {
  Event(Form form, llvm::StringRef category, llvm::StringRef name)
      : form(form), category(category), name(name), begin(timeNow()), end(begin) {}

  Form form;
  bool isPoint = false; // of the curve of memory
  llvm::StringRef category;
  std::string name, value;
  Context context;
  uint64_t begin, end;
  uint64_t number = 0; // of a command; the address of a block
  uint64_t bytes = 0, inUse = 0;
  long thread = 0;
  int64_t step = -1, counts = -1; // index into Log::counts
  uint64_t shapes = 0;
};

struct Log {
  std::mutex mutex;
  Options options;
  std::vector<Event> events;
  std::vector<HardwareCounters::Counts> counts;
  std::string counterNote; // why there are none
  uint64_t dropped = 0, origin = 0, changes = 0;
  int64_t wallOrigin = 0;
  Log();
};
} // namespace

static Log &theLog() {
  static Log *log = new Log; // never destroyed: the worker may record until the end
  return *log;
}

/// A forked child records nothing: its parent's profile is the parent's.
Log::Log() {
  holdAcrossFork(mutex);
  callAcrossFork([] {}, [] {}, [] { isOn = hasScopes = hasCalls = hasCounters = false; });
}
static const MadeAtLoad<theLog> kMade;

/// Counters that are open; changed under the mutex of the log.
static std::atomic<std::shared_ptr<const HardwareCounters>> counters;

Moment now() {
  Moment moment;
  if (LLVM_UNLIKELY(hasCounters.load(std::memory_order_relaxed)))
    if (std::shared_ptr<const HardwareCounters> opened = counters.load())
      moment.counts = opened->read();
  moment.time = timeNow();
  return moment;
}

llvm::Error start(const Options &options) {
  std::shared_ptr<const HardwareCounters> opened;
  std::string note;
  if (!options.counters.empty())
    if (llvm::Error error = HardwareCounters::open(options.counters).moveInto(opened)) {
      auto [code, message] = takeError(std::move(error));
      if (code == ErrorCode::InvalidArgument)
        return makeError(code, message);
      note = message;
    }
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  log.events.clear();
  log.counts.clear();
  log.options = options;
  log.counterNote = note;
  log.dropped = log.changes = 0;
  hasCounters = opened != nullptr;
  counters = std::move(opened);
  log.wallOrigin = nanosecondsOf<std::chrono::system_clock>();
  log.origin = timeNow();
  hasScopes = options.scopes;
  hasCalls = options.calls;
  isOn = true;
  return llvm::Error::success();
}

void stop() {
  isOn = hasScopes = hasCalls = hasCounters = false;
  counters = std::shared_ptr<const HardwareCounters>();
}

static void add(Event event, const HardwareCounters::Counts *counts = nullptr) {
  event.thread = ::syscall(SYS_gettid);
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  if (!log.options.steps && llvm::is_contained({"kernel", "library", "copy", "loop"}, event.category))
    return;
  if (log.events.size() >= log.options.maxEvents) {
    ++log.dropped;
    return;
  }
  if (event.form == Form::Taken || event.form == Form::GivenBack)
    event.isPoint = log.changes++ % log.options.memoryStride == 0;
  if (counts) {
    event.counts = int64_t(log.counts.size());
    log.counts.push_back(*counts);
  }
  log.events.push_back(std::move(event));
}

static thread_local Context contextHere;

const Context &context() { return contextHere; }

At::At(Context context) : outer(std::exchange(contextHere, std::move(context))) {}
At::~At() { contextHere = std::move(outer); }

void record(llvm::StringRef name, llvm::StringRef category, const Moment &begin, const Moment &end,
            const Details &details) {
  Event event(Form::Span, category, name);
  event.value = details.value.str();
  event.context = contextHere;
  if (!details.location.empty())
    event.context.location = details.location.str();
  event.begin = begin.time;
  event.end = end.time;
  event.step = details.step;
  event.shapes = details.shapes;
  HardwareCounters::Counts counts;
  for (auto [count, first, last] : llvm::zip_equal(counts, begin.counts, end.counts))
    count = last - std::min(first, last);
  add(std::move(event), hasCounters.load(std::memory_order_relaxed) ? &counts : nullptr);
}

void recordFinished(llvm::StringRef name, llvm::StringRef category, double seconds) {
  Event event(Form::Span, category, name);
  event.context = contextHere;
  event.begin = event.end - std::min(uint64_t(seconds * 1e9), event.end);
  add(std::move(event));
}

void recordMark(llvm::StringRef name) { add(Event(Form::Mark, "step", name)); }

Waiting waitingFromHere() { return {contextHere, timeNow()}; }

void recordWaited(const Waiting &waiting, uint64_t number) {
  Event event(Form::Queued, "queue", waiting.context.operation);
  event.context = waiting.context;
  event.begin = waiting.since;
  event.number = number;
  add(std::move(event));
}

void recordBlock(llvm::StringRef memory, const void *data, size_t bytes, bool isTaken, uint64_t inUse) {
  Event event(isTaken ? Form::Taken : Form::GivenBack, "memory", memory);
  if (isTaken)
    event.context = contextHere;
  event.number = uint64_t(reinterpret_cast<uintptr_t>(data));
  event.bytes = bytes;
  event.inUse = inUse;
  add(std::move(event));
}

void recordType(const void *data, llvm::StringRef type) {
  Event event(Form::Typed, "memory", "");
  event.value = type.str();
  event.number = uint64_t(reinterpret_cast<uintptr_t>(data));
  add(std::move(event));
}

//===----------------------------------------------------------------------===//
// The trace. Its format: "Trace Event Format", Google, 2016.
//===----------------------------------------------------------------------===//

namespace {

using llvm::json::Array;
using llvm::json::Object;

/// Writes the events of a log, which stays as it is meanwhile, one by one: a million of objects take a gigabyte.
class Trace {
public:
  Trace(const Log &log, llvm::raw_ostream &os) : log(log), os(os) {}
  void write();

private:
  void put(Object row);
  Object row(const Event &event, llvm::StringRef phase, llvm::StringRef name, uint64_t time) const;
  Object arguments(const Event &event) const;
  void addSpan(const Event &event);
  void addQueued(const Event &event);
  void addBlock(const Event &event);
  void add(const Event &event);

  const Log &log;
  llvm::raw_ostream &os;
  bool isFirst = true;
};

} // namespace

static double microseconds(uint64_t nanoseconds) { return double(nanoseconds) / 1000; }

static void addText(Object &object, llvm::StringRef key, llvm::StringRef text) {
  if (!text.empty())
    object[key] = llvm::json::fixUTF8(text);
}

Object Trace::row(const Event &event, llvm::StringRef phase, llvm::StringRef name, uint64_t time) const {
  return Object{{"name", llvm::json::fixUTF8(name)},
                {"cat", event.category},
                {"ph", phase},
                {"ts", microseconds(time - std::min(time, log.origin))},
                {"pid", int64_t(::getpid())},
                {"tid", int64_t(event.thread)}};
}

Object Trace::arguments(const Event &event) const {
  Object args;
  addText(args, "value", event.value);
  addText(args, "location", event.context.location);
  addText(args, "calls", event.context.calls);
  if (event.step >= 0)
    args["step"] = event.step;
  if (event.shapes)
    args["shapes"] = llvm::utohexstr(event.shapes);
  if (event.counts >= 0)
    for (auto [name, count] : llvm::zip(log.options.counters, log.counts[size_t(event.counts)]))
      args[name] = int64_t(count);
  return args;
}

void Trace::addSpan(const Event &event) {
  Object span = row(event, "X", event.name, event.begin);
  span["dur"] = microseconds(event.end - event.begin);
  span["args"] = arguments(event);
  put(std::move(span));
}

/// Waits of several commands overlap, so each is a pair of rows that belong together by their number.
void Trace::addQueued(const Event &event) {
  Object begin = row(event, "b", event.name, event.begin), end = row(event, "e", event.name, event.end);
  Object args = arguments(event);
  args["waited"] = microseconds(event.end - event.begin);
  begin["args"] = std::move(args);
  for (Object *each : {&begin, &end}) {
    (*each)["id"] = int64_t(event.number);
    put(std::move(*each));
  }
}

void Trace::addBlock(const Event &event) {
  if (event.isPoint) {
    Object point = row(event, "C", "memory of " + event.name, event.begin);
    point["args"] = Object{{"bytes", int64_t(event.inUse)}};
    put(std::move(point));
  }
  const bool isTaken = event.form == Form::Taken;
  Object block = row(event, isTaken ? "N" : "D", "block", event.begin);
  block["id"] = "0x" + llvm::utohexstr(event.number, /*LowerCase=*/true);
  Object args{{"memory", event.name}, {"bytes", int64_t(event.bytes)}};
  addText(args, "location", event.context.location);
  addText(args, "operator", event.context.operation);
  block["args"] = std::move(args);
  put(std::move(block));
}

void Trace::add(const Event &event) {
  switch (event.form) {
  case Form::Span:
    return addSpan(event);
  case Form::Queued:
    return addQueued(event);
  case Form::Taken:
  case Form::GivenBack:
    return addBlock(event);
  case Form::Mark: {
    Object mark = row(event, "i", event.name, event.begin);
    mark["s"] = "p"; // a line through all threads of the process
    mark["args"] = Object{};
    return put(std::move(mark));
  }
  case Form::Typed: {
    Object snapshot = row(event, "O", "block", event.begin);
    snapshot["id"] = "0x" + llvm::utohexstr(event.number, /*LowerCase=*/true);
    snapshot["args"] = Object{{"snapshot", Object{{"type", event.value}}}};
    return put(std::move(snapshot));
  }
  }
  llvm_unreachable("every event has a form");
}

void Trace::put(Object row) {
  os << (isFirst ? "" : ",") << llvm::json::Value(std::move(row));
  isFirst = false;
}

void Trace::write() {
  Object other{{"droppedEvents", int64_t(log.dropped)}, {"originMicroseconds", log.wallOrigin / 1000}};
  if (!log.options.counters.empty())
    other["counters"] = Array(log.options.counters);
  addText(other, "counterNote", log.counterNote);
  os << R"({"displayTimeUnit":"ns","otherData":)" << llvm::json::Value(std::move(other)) << R"(,"traceEvents":[)";
  for (const Event &event : log.events)
    add(event);
  os << "]}";
}

std::string json() {
  Log &log = theLog();
  std::lock_guard<std::mutex> lock(log.mutex);
  std::string text;
  llvm::raw_string_ostream os(text);
  Trace(log, os).write();
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
