//===- HazardPointer.cpp - what a thread reads is not freed --------------===//
#include "eager/HazardPointer.h"

#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <linux/membarrier.h>
#include <memory>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace tess::eager {

constinit thread_local HazardPointer::Record *HazardPointer::own = nullptr;
bool HazardPointer::readersFence = false;

static bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Never freed: there are as many records as were ever in use at once.
struct HazardPointer::Registry {
  Registry();
  Record *take(bool keep);
  void giveBack(Record *first);
  /// In a forked child, which has none of the other threads.
  void forgetOthers();

  std::mutex mutex;
  std::vector<std::unique_ptr<Record>> records;
};

HazardPointer::Registry &HazardPointer::registry() {
  static auto *instance = new Registry; // never destroyed: threads may outlive main
  return *instance;
}

HazardPointer::Registry::Registry() {
  readersFence = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  runtime::holdAcrossFork(mutex);
  auto nothing = [] {};
  runtime::callAcrossFork(nothing, nothing, [] { registry().forgetOthers(); });
}

HazardPointer::Record *HazardPointer::Registry::take(bool keep) {
  std::lock_guard<std::mutex> lock(mutex);
  auto isFree = [](const auto &record) {
    return !record->isOwned &&
           !record->object.load(std::memory_order_acquire); // one of an ended thread may yet protect
  };
  auto known = llvm::find_if(records, isFree);
  if (known == records.end()) {
    records.push_back(std::make_unique<Record>());
    known = std::prev(records.end());
  }
  Record *record = known->get();
  record->object.store(record, std::memory_order_release);
  record->owner = ::pthread_self();
  record->isOwned = keep;
  return record;
}

void HazardPointer::Registry::giveBack(Record *first) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Record *record = first; record; record = record->next)
    record->isOwned = false;
}

void HazardPointer::Registry::forgetOthers() {
  std::lock_guard<std::mutex> lock(mutex);
  readersFence = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  for (const auto &record : records) {
    if (record->owner == ::pthread_self())
      continue;
    record->object.store(nullptr, std::memory_order_relaxed);
    record->isOwned = false;
  }
}

HazardPointer::Record *HazardPointer::acquire() {
  for (Record *record = own; record; record = record->next)
    if (!record->object.load(std::memory_order_relaxed)) {
      record->object.store(record, std::memory_order_release);
      return record;
    }
  static constinit thread_local bool hasEnded = false;
  struct AtEnd {
    ~AtEnd() {
      registry().giveBack(std::exchange(own, nullptr));
      hasEnded = true;
    }
  };
  thread_local AtEnd atEnd;
  Record *record = registry().take(!hasEnded); // after the end nothing would give it back: it is free after this use
  if (!hasEnded)
    record->next = std::exchange(own, record);
  return record;
}

bool HazardPointer::findProtected(Objects &objects) {
  Registry &all = registry();
  if (readersFence)
    std::atomic_thread_fence(std::memory_order_seq_cst);
  else if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
    return false; // a sandbox, entered meanwhile
  std::lock_guard<std::mutex> lock(all.mutex);
  for (const auto &record : all.records)
    if (const void *object = record->object.load(std::memory_order_acquire))
      objects.push_back(object);
  return true;
}

} // namespace tess::eager
