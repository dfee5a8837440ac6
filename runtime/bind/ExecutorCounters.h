//===- ExecutorCounters.h - counters that bind and run share ----*- C++ -*-===//
//
// Every eager call raises one. Threads that raised one number together would take its
// cache line from each other at each call, so there are several sets, whose sum counts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tess::runtime {

/// One set of the counters behind executorStats(), which bind and the executor raise; a cache line of its own.
struct alignas(64) ExecutorCounters {
  std::atomic<uint64_t> binds{0}, runs{0}, launches{0}, libraryCalls{0}, copies{0}, workerRuns{0};
};
inline std::array<ExecutorCounters, 32> executorCounters;

/// The set of the calling thread, which threads beyond the number of sets share.
inline ExecutorCounters &ownCounters() {
  static std::atomic<unsigned> numThreads{0};
  static constinit thread_local ExecutorCounters *own = nullptr;
  if (!own)
    own = &executorCounters[numThreads++ % executorCounters.size()];
  return *own;
}

/// Raises a counter; any thread may.
inline void bump(std::atomic<uint64_t> ExecutorCounters::*counter, uint64_t by = 1) {
  (ownCounters().*counter).fetch_add(by, std::memory_order_relaxed);
}

} // namespace tess::runtime
