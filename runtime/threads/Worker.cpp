//===- Worker.cpp - the executor's thread ---------------------------------===//
#include "runtime/threads/Worker.h"
#include "ops/vocabulary/Error.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/Spin.h"

#include <cstdlib>
#include <thread>

namespace tess::runtime {

static thread_local bool isWorkerThread = false;
static thread_local bool holdsForFork = false;

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
  // The handler runs before the destructors of everything that libraries constructed until now. For later objects, a
  // frontend that knows when its program ends stops the worker itself.
  static const int registered = std::atexit([] { global().stop(); });
  (void)registered;
  std::thread([this] { loop(); }).detach();
}

bool Worker::takeTurn() {
  if (!runMutex.try_lock())
    return false;
  if (idle())
    return true;
  runMutex.unlock();
  return false;
}

Worker::Turn::Turn(Worker &worker) : worker(worker), isTaken(worker.takeTurn()) { isWorkerThread = isTaken; }

Worker::Turn::~Turn() {
  if (!isTaken)
    return;
  isWorkerThread = false;
  worker.runMutex.unlock();
}

Worker::Slot &Worker::acquire(std::unique_lock<std::mutex> &lock) {
  if (!started && !stopped)
    start();
  while (submitted.load() - completed.load() >= kCapacity) {
    if (stopped) {
      lock.unlock();
      runUntil(completed.load() + 1);
      lock.lock();
      continue;
    }
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
  auto hasWork = [&] { return submitted.load(std::memory_order_acquire) > next || stopping.load(); };
  if (!spinUntil(kSpinCycles, hasWork)) {
    std::unique_lock<std::mutex> lock(mutex);
    sleeping = true;
    wake->wait(lock, hasWork);
    sleeping = false;
  }
  return !stopping.load();
}

void Worker::stop() {
  std::unique_lock<std::mutex> lock(mutex);
  if (isWorkerThread || stopped) // a command that exits the process is the last one
    return;
  stopping = true;
  wake->notify_one();
  ++waiting;
  progress->wait(lock, [&] { return !started || stopped; });
  --waiting;
  stopped = true;
}

void Worker::runNext() {
  Slot &slot = slots[completed.load() % kCapacity];
  finish(slot.run(slot.storage));
}

void Worker::runUntil(uint64_t number) {
  std::lock_guard<std::mutex> lock(runMutex);
  isWorkerThread = true;
  while (completed.load() < number)
    runNext();
  isWorkerThread = false;
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
  while (awaitCommand(completed.load())) {
    std::lock_guard<std::mutex> turn(runMutex);
    runNext();
  }
  std::lock_guard<std::mutex> lock(mutex);
  stopped = true;
  progress->notify_all();
}

void Worker::wait(uint64_t number) {
  while (!waitFor(number, std::chrono::hours(1)))
    ;
}

bool Worker::waitFor(uint64_t number, std::chrono::milliseconds limit) {
  auto hasRun = [&] { return completed.load() >= number; };
  if (spinUntil(kSpinCycles, hasRun))
    return true;
  if (stopped) {
    runUntil(number);
    return true;
  }
  std::unique_lock<std::mutex> lock(mutex);
  ++waiting;
  bool done = progress->wait_for(lock, limit, [&] { return hasRun() || stopped; }) && hasRun();
  --waiting;
  return done;
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

// The child has no worker thread and must not inherit queued commands, so they run before the fork. When a command
// itself forks, the queue stays as it is and the child must not use it.
void Worker::prepareFork() {
  Worker &worker = global();
  if (isWorkerThread)
    return;
  auto lock = [&] {
    worker.wait(worker.submitted.load());
    worker.runMutex.lock();
    worker.mutex.lock();
  };
  for (lock(); !worker.idle(); lock()) { // another thread has enqueued commands meanwhile
    worker.mutex.unlock();
    worker.runMutex.unlock();
  }
  holdsForFork = true;
}

void Worker::parentOfFork() {
  if (!holdsForFork)
    return;
  holdsForFork = false;
  global().mutex.unlock();
  global().runMutex.unlock();
}

void Worker::childOfFork() {
  if (!holdsForFork)
    return;
  parentOfFork();
  global().resetInChild();
}

void Worker::resetInChild() {
  started = false;
  sleeping = false;
  waiting = 0;
  // Threads of the parent may have waited on the old ones, so destroying these could hang.
  (void)wake.release();
  (void)progress.release();
  wake.reset(new std::condition_variable);
  progress.reset(new std::condition_variable);
}

} // namespace tess::runtime
