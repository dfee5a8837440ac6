//===- Worker.cpp - the executor's thread ---------------------------------===//
#include "runtime/Worker.h"
#include "ops/Error.h"
#include "runtime/Fork.h"

#include <immintrin.h>
#include <thread>

namespace tess::runtime {

static thread_local bool isWorkerThread = false;
static thread_local bool holdsForFork = false;

// A sleeping thread costs some microseconds to wake: both sides look a while first, about 10 us. No longer: on as many
// cores as there are threads in a region, who looks holds up who works (100 us of it cost 85 us a call on two cores).
static constexpr uint64_t kSpinCycles = 30000; // of the time-stamp counter: a pause takes 10 to 140

/// Looks until `done` or for kSpinCycles; the last answer.
template <typename F> static bool spinUntil(F done) {
  for (uint64_t start = __rdtsc(); __rdtsc() - start < kSpinCycles; _mm_pause())
    if (done())
      return true;
  return done();
}

Worker::Worker()
    : slots(new Slot[kCapacity]), wake(new std::condition_variable), progress(new std::condition_variable) {
  callAcrossFork(prepareFork, parentOfFork, childOfFork);
}

Worker &Worker::global() {
  static Worker *instance = new Worker; // never destroyed: its thread may outlive main
  return *instance;
}

bool Worker::onWorkerThread() { return isWorkerThread; }

void Worker::start() {
  started = true;
  std::thread([this] { loop(); }).detach();
}

Worker::Slot &Worker::acquire(std::unique_lock<std::mutex> &lock) {
  if (!started)
    start();
  while (submitted.load() - completed.load() >= kCapacity) {
    ++waiting;
    progress->wait(lock);
    --waiting;
  }
  return slots[submitted.load() % kCapacity];
}

uint64_t Worker::publish(std::unique_lock<std::mutex> &) {
  uint64_t number = submitted.fetch_add(1) + 1;
  if (sleeping.load())
    wake->notify_one();
  return number;
}

bool Worker::awaitCommand(uint64_t next) {
  if (spinUntil([&] { return submitted.load(std::memory_order_acquire) > next; }))
    return true;
  std::unique_lock<std::mutex> lock(mutex);
  sleeping = true;
  wake->wait(lock, [&] { return submitted.load() > next; });
  sleeping = false;
  return true;
}

void Worker::finish(llvm::Error error) {
  if (error) {
    auto [code, message] = takeError(std::move(error));
    std::lock_guard<std::mutex> lock(mutex);
    if (errorCode < 0) {
      errorCode = int(code);
      errorMessage = std::move(message);
    }
  }
  completed.fetch_add(1);
  if (waiting.load()) {
    std::lock_guard<std::mutex> lock(mutex);
    progress->notify_all();
  }
}

void Worker::loop() {
  isWorkerThread = true;
  for (uint64_t next = completed.load(); awaitCommand(next); ++next) {
    Slot &slot = slots[next % kCapacity];
    finish(slot.run(slot.storage));
  }
}

void Worker::wait(uint64_t number) {
  if (spinUntil([&] { return completed.load(std::memory_order_acquire) >= number; }))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  ++waiting;
  progress->wait(lock, [&] { return completed.load() >= number; });
  --waiting;
}

llvm::Error Worker::drain() {
  wait(submitted.load());
  std::lock_guard<std::mutex> lock(mutex);
  if (errorCode < 0)
    return llvm::Error::success();
  llvm::Error error = makeError(ErrorCode(errorCode), errorMessage);
  errorCode = -1;
  errorMessage.clear();
  return error;
}

// The child has no worker thread, so it must not inherit queued commands: they run before the fork. A command that
// forks keeps the queue as it is, and its child must not use it.
void Worker::prepareFork() {
  Worker &worker = global();
  if (isWorkerThread)
    return;
  worker.wait(worker.submitted.load());
  worker.mutex.lock();
  while (!worker.idle()) { // another thread was quicker
    worker.mutex.unlock();
    worker.wait(worker.submitted.load());
    worker.mutex.lock();
  }
  holdsForFork = true;
}

void Worker::parentOfFork() {
  if (!holdsForFork)
    return;
  holdsForFork = false;
  global().mutex.unlock();
}

void Worker::childOfFork() {
  if (!holdsForFork)
    return;
  holdsForFork = false;
  global().mutex.unlock();
  global().resetInChild();
}

void Worker::resetInChild() {
  started = false;
  sleeping = false;
  waiting = 0;
  // Threads of the parent may have waited on the old ones; destroying those could hang.
  (void)wake.release();
  (void)progress.release();
  wake.reset(new std::condition_variable);
  progress.reset(new std::condition_variable);
}

} // namespace tess::runtime
