//===- Counters.cpp - what eager did, counted ----------------------------===//
#include "eager/Counters.h"

#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"

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

} // namespace

thread_local ThreadCounts threadCounts;

ThreadCounts::ThreadCounts() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().threads.push_back(this);
}

ThreadCounts::~ThreadCounts() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  addTo(registry().ended);
  llvm::erase(registry().threads, this);
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
