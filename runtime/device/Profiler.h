//===- Profiler.h - Chrome trace of steps -----------------------*- C++ -*-===//
//
// Events with user names and locations, in the JSON that chrome://tracing and
// Perfetto read. Off costs one branch a step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace tess::runtime::profiler {

extern std::atomic<bool> isOn;

/// True between start and stop.
inline bool on() { return isOn.load(std::memory_order_relaxed); }
/// Forgets earlier events and begins to record. At most `maxEvents` are kept; later ones are only counted.
void start(size_t maxEvents = 1 << 20);
void stop();

/// Nanoseconds of a clock that only goes forward.
uint64_t now();
/// Facts of an event beside its name and its time.
struct Details {
  llvm::StringRef value = "", location = "";
  int64_t step = -1;   // of the program that runs; -1: none
  uint64_t shapes = 0; // Bound::shapesHash() of a whole run; 0: none
};
/// Records a finished piece of work on this thread. `category`: "kernel", "library", "copy", "program".
void record(llvm::StringRef name, llvm::StringRef category, uint64_t begin, uint64_t end, const Details &details);
/// While alive, events of this thread that come without a location have this one.
class At {
public:
  explicit At(std::string location);
  ~At();
  At(const At &) = delete;
  At &operator=(const At &) = delete;

private:
  std::string outer;
};
/// Records a point of the memory timeline: `bytes` are in use from now on.
void recordMemory(llvm::StringRef what, uint64_t bytes);

/// The events since the last start, as a Chrome trace.
std::string json();
/// Writes json(); IoError with the path.
llvm::Error save(llvm::StringRef path);

} // namespace tess::runtime::profiler
