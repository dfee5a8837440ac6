//===- ExecutorCounters.h - counters that bind and run share ----*- C++ -*-===//
#pragma once

#include <atomic>
#include <cstdint>

namespace tess::runtime {

/// The counters behind executorStats(), which bind and the executor raise.
struct ExecutorCounters {
  std::atomic<uint64_t> binds{0}, runs{0}, launches{0}, libraryCalls{0}, copies{0}, workerRuns{0};
};
inline ExecutorCounters executorCounters;

/// Raises a counter; any thread may.
inline void bump(std::atomic<uint64_t> &counter, uint64_t by = 1) { counter.fetch_add(by, std::memory_order_relaxed); }

} // namespace tess::runtime
