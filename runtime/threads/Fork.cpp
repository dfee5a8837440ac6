//===- Fork.cpp - one pthread_atfork for the whole runtime ----------------===//
#include "runtime/threads/Fork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <pthread.h>

namespace tess::runtime {

namespace {
struct Handler {
  void (*prepare)();
  void (*parent)();
  void (*child)();
};
struct Registry {
  std::mutex mutex;
  llvm::SmallVector<std::mutex *, 8> mutexes;
  llvm::SmallVector<Handler, 4> handlers;
};
} // namespace

static Registry &registry();

static void beforeFork() {
  for (const Handler &handler : registry().handlers)
    handler.prepare();
  registry().mutex.lock();
  for (std::mutex *mutex : registry().mutexes)
    mutex->lock();
}

static void releaseMutexes() {
  for (std::mutex *mutex : llvm::reverse(registry().mutexes))
    mutex->unlock();
  registry().mutex.unlock();
}

static void afterForkInParent() {
  releaseMutexes();
  for (const Handler &handler : registry().handlers)
    handler.parent();
}

static void afterForkInChild() {
  releaseMutexes();
  for (const Handler &handler : registry().handlers)
    handler.child();
}

static Registry &registry() {
  // Never destroyed: a fork may come late in the process.
  static Registry *instance = [] {
    ::pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return new Registry;
  }();
  return *instance;
}

void holdAcrossFork(std::mutex &mutex) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().mutexes.push_back(&mutex);
}

void callAcrossFork(void (*prepare)(), void (*parent)(), void (*child)()) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().handlers.push_back({prepare, parent, child});
}

} // namespace tess::runtime
