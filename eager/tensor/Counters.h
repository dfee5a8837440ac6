//===- Counters.h - what eager did, counted --------------------*- C++ -*-===//
//
// Each thread counts for itself, so that the hot path writes no shared line;
// whoever asks adds them up.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Compiler.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace tess::eager {

/// What is counted.
enum class Count : uint8_t {
  CacheHits,    // look-ups in the operator cache that took no lock
  Results,      // results of operators
  FromKernels,  // of them: programs of generated kernels only
  FromLibrary,  // of them: programs that call a library, and perhaps loops of our own
  FromLoops,    // of them: programs that call loops of our own, as small products and the allow-list do
  FromViews,    // of them: new looks at a storage
  FromHost,     // tensors made of values on the host
  InPlace,      // of them: in the memory of an operand
  Copies,       // of elements, for a layout that an operator or a reader wants
  Compilations, // mini-graphs compiled
};
constexpr unsigned kNumCounts = unsigned(Count::Compilations) + 1;
/// A number for each Count.
using Counts = std::array<uint64_t, kNumCounts>;

/// The counters of one thread.
class ThreadCounts {
public:
  /// For the thread itself only.
  void add(Count what, uint64_t by) {
    std::atomic<uint64_t> &value = values[unsigned(what)];
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed); // nobody else writes
  }
  /// Adds these counters to `sum`; any thread may ask.
  void addTo(Counts &sum) const;

private:
  std::array<std::atomic<uint64_t>, kNumCounts> values{};
};

/// Those of this thread; null before it counts. A pointer, because a look at an object would ask whether it is made.
extern constinit thread_local ThreadCounts *threadCounts;
/// Makes the counters of this thread, which are kept in the sums when it ends.
ThreadCounts &makeThreadCounts();

/// Counts for this thread, without a lock.
inline void count(Count what, uint64_t by = 1) {
  ThreadCounts *counts = threadCounts;
  (LLVM_LIKELY(counts) ? *counts : makeThreadCounts()).add(what, by);
}
/// The sums over all threads, since the process began.
Counts counts();

} // namespace tess::eager
