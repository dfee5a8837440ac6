//===- Counters.cpp - what eager did, counted ----------------------------===//
#include "eager/tensor/Counters.h"

#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>
#include <mutex>
#include <vector>

namespace tess::eager {

namespace {

struct Registry {
  Registry() { runtime::holdAcrossFork(mutex); }

  std::mutex mutex;
  std::vector<const ThreadCounts *> threads;
  Counts ended{}; // counts of threads that have ended
};

Registry &registry() {
  static auto *instance = new Registry; // never destroyed: threads may outlive main
  return *instance;
}
const runtime::MadeAtLoad<registry> kMade;

} // namespace

constinit thread_local ThreadCounts *threadCounts = nullptr;

namespace {

/// Owns the counters of a thread. What destructors count after it goes to counters that stay.
struct ThreadEnd {
  std::unique_ptr<ThreadCounts> counts = std::make_unique<ThreadCounts>();
  ~ThreadEnd() {
    std::lock_guard<std::mutex> lock(registry().mutex);
    counts->addTo(registry().ended);
    llvm::erase(registry().threads, counts.get());
    threadCounts = nullptr;
    hasEnded = true;
  }
  static constinit thread_local bool hasEnded;
};
constinit thread_local bool ThreadEnd::hasEnded = false;

} // namespace

ThreadCounts &makeThreadCounts() {
  if (ThreadEnd::hasEnded) {
    threadCounts = new ThreadCounts;
  } else {
    static thread_local ThreadEnd owner;
    threadCounts = owner.counts.get();
  }
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().threads.push_back(threadCounts);
  return *threadCounts;
}

void ThreadCounts::addTo(Counts &sum) const {
  for (unsigned i = 0; i < kNumCounts; ++i)
    sum[i] += values[i].load(std::memory_order_relaxed);
}

Counts counts() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  Counts sum = registry().ended;
  for (const ThreadCounts *thread : registry().threads)
    thread->addTo(sum);
  return sum;
}

} // namespace tess::eager
