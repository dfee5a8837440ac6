//===- Profiler.h - Chrome trace of steps -----------------------*- C++ -*-===//
//
// Events with user names and locations, in the JSON that chrome://tracing and
// Perfetto read. Off costs one branch a step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/HardwareCounters.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace tess::runtime::profiler {

/// Kinds of events that there are.
struct Options {
  size_t maxEvents = size_t(1) << 20; // later ones are only counted
  bool steps = true;                  // kernels, library calls and copies
  bool scopes = false;                // modules and scopes, from entry to exit
  bool calls = false;                 // the user's calls that lead to an operator
  unsigned memoryStride = 1;          // every n-th change of memory is a point of its curve
  std::vector<std::string> counters;  // that each step and scope comes with (HardwareCounters.h)
};

extern std::atomic<bool> isOn, hasScopes, hasCalls;

/// True between start and stop.
inline bool on() { return isOn.load(std::memory_order_relaxed); }
/// Forgets earlier events and begins to record. Counters that the kernel does not give are left out, and the profile
/// says why. InvalidArgument: a counter is unknown; nothing has changed then.
llvm::Error start(const Options &options = {});
void stop();

/// A time in nanoseconds, of a clock that only goes forward, and the counters then.
struct Moment {
  uint64_t time = 0;
  HardwareCounters::Counts counts = {};
};
Moment now();

/// Facts of an event beside its name and its time.
struct Details {
  llvm::StringRef value = "", location = "";
  int64_t step = -1;   // of the program that runs; -1: none
  uint64_t shapes = 0; // Bound::shapesHash() of a whole run; 0: none
};
/// Records a finished piece of work on this thread. `category` is a literal: "kernel", "library", "copy", "loop",
/// "program", "compile", "wait" (for others) or "scope".
void record(llvm::StringRef name, llvm::StringRef category, const Moment &begin, const Moment &end,
            const Details &details);
/// Records a piece of work that took `seconds` until now.
void recordFinished(llvm::StringRef name, llvm::StringRef category, double seconds);
/// Records a point in time, "step 3" of a training.
void recordMark(llvm::StringRef name);

/// Work of a thread: its events have these facts where they bring none of their own.
struct Context {
  std::string operation, location, calls;
};
/// That of this thread.
const Context &context();
/// While alive, the context of this thread.
class At {
public:
  explicit At(Context context);
  ~At();
  At(const At &) = delete;
  At &operator=(const At &) = delete;

private:
  Context outer;
};

/// Work that another thread will do: what its caller does, and since when it waits.
struct Waiting {
  Context context;
  uint64_t since = 0;
};
/// The Waiting of work that is queued now.
Waiting waitingFromHere();
/// Records that the work waits no more; `number` is that of the command.
void recordWaited(const Waiting &waiting, uint64_t number);

/// Records that the block at `data` was taken from `memory`, a device's, or goes back to it, and the bytes that are in
/// use from now on. To be called after it was taken, and before it goes back.
void recordBlock(llvm::StringRef memory, const void *data, size_t bytes, bool isTaken, uint64_t inUse);
/// Records the type of the value in a block, "f32[2, 3]".
void recordType(const void *data, llvm::StringRef type);

/// The events since the last start, as a Chrome trace.
std::string json();
/// Writes json(); IoError with the path.
llvm::Error save(llvm::StringRef path);

} // namespace tess::runtime::profiler
