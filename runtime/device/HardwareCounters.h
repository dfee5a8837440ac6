//===- HardwareCounters.h - counters of the processor -----------*- C++ -*-===//
//
// Linux counts cycles, instructions and the like for each thread
// (perf_event_open(2)). The kernel's header has all that three generic events
// need; libpfm4 and PAPI know the events of each processor.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct perf_event_attr;

namespace tess::runtime {

/// Names of the counters that there are: "cycles", "instructions", "cache-misses", "branch-misses", and three that
/// the kernel counts without the processor, "page-faults", "context-switches" and "task-clock" (nanoseconds).
std::vector<std::string> hardwareCounterNames();

/// Counters of all threads that the process has when they are opened, and of those that these threads start.
class HardwareCounters {
public:
  static constexpr size_t kMost = 4;
  /// A value for each counter, in the order of the names.
  using Counts = std::array<uint64_t, kMost>;
  /// perf_event_open(2), or what a test gives in its place.
  using Opener = int (*)(perf_event_attr *event, int thread);

  /// Opens at most kMost counters. InvalidArgument: a name is unknown, or there are too many. Unimplemented: the
  /// kernel does not give them, with its reason.
  static llvm::Expected<std::shared_ptr<const HardwareCounters>> open(llvm::ArrayRef<std::string> names);
  /// Opens them by another function than the kernel's.
  static llvm::Expected<std::shared_ptr<const HardwareCounters>> open(llvm::ArrayRef<std::string> names, Opener opener);
  ~HardwareCounters();
  HardwareCounters(const HardwareCounters &) = delete;

  /// The sums over all threads since they were opened.
  Counts read() const;

private:
  HardwareCounters() = default;

  std::array<std::vector<int>, kMost> files; // by counter, a descriptor for each thread
};

} // namespace tess::runtime
