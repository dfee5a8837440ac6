//===- Worker.h - the executor's thread -------------------------*- C++ -*-===//
//
// One thread with a bounded queue of commands, run in order. Commands live in
// the queue's slots: submitting allocates nothing. A caller that would wait for
// its own command runs it itself where none is queued. After a fork the child
// starts a thread of its own at the first command. At exit the thread stops
// between two commands, since libraries are destroyed while threads still run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

namespace tess::runtime {

/// The queue and its thread. Any thread may submit and wait.
class Worker {
public:
  static constexpr size_t kCommandBytes = 104;
  static constexpr uint64_t kCapacity = 1024;

  /// The worker of this process; the thread starts with the first command.
  static Worker &global();
  /// True on the worker's own thread, and on one that runs commands in its place.
  static bool onWorkerThread();

  /// Queues `command`, a callable that returns nothing or llvm::Error; waits while the queue is full. An error goes to
  /// the error slot, which keeps the first. Returns the command's number, for wait(). Not to be called by a command.
  template <typename F> uint64_t submit(F &&command) {
    using Callable = std::decay_t<F>;
    static_assert(sizeof(Callable) <= kCommandBytes && alignof(Callable) <= 16, "keep the captures of a command small");
    std::unique_lock<std::mutex> lock(mutex);
    Slot &slot = acquire(lock);
    new (slot.storage) Callable(std::forward<F>(command));
    slot.run = [](void *storage) -> llvm::Error {
      std::unique_ptr<Callable, void (*)(Callable *)> callable(static_cast<Callable *>(storage),
                                                               [](Callable *c) { c->~Callable(); });
      if constexpr (std::is_void_v<std::invoke_result_t<Callable &>>) {
        (*callable)();
        return llvm::Error::success();
      } else {
        return (*callable)();
      }
    };
    return publish(lock);
  }

  /// Waits until the command of this number has run.
  void wait(uint64_t number);
  /// As wait(), but for at most `limit`; true when the command has run.
  bool waitFor(uint64_t number, std::chrono::milliseconds limit);
  /// Number of the latest command.
  uint64_t last() const { return submitted.load(std::memory_order_acquire); }
  /// Waits until every command has run, and empties the error slot.
  llvm::Error drain();
  /// True when no command waits or runs.
  bool idle() const { return completed.load(std::memory_order_acquire) == submitted.load(std::memory_order_acquire); }
  /// Ends the thread between two commands. From then on a thread that waits for a command runs the queue up to it.
  void stop();
  /// Commands run so far; what they wrote may be read.
  uint64_t count() const { return completed.load(std::memory_order_acquire); }

  /// Runs `command`, which returns llvm::Error, behind all commands, waits, and returns its error: on this thread when
  /// called by a command or where no command waits or runs, else on the worker. (Three threads that spin for each other
  /// on two cores took 35 us.)
  template <typename F> llvm::Error call(F &&command) {
    if (onWorkerThread())
      return command();
    if (Turn turn(*this); turn.isTaken)
      return command();
    llvm::Error result = llvm::Error::success();
    llvm::cantFail(std::move(result)); // checked: the slot below is assigned on the other thread
    wait(submit([&] { result = command(); }));
    return result;
  }

private:
  struct alignas(128) Slot {
    alignas(16) std::byte storage[kCommandBytes];
    llvm::Error (*run)(void *storage) = nullptr;
  };

  /// While it lives, this thread runs commands in the worker's place, if it could take its turn: no command waits or
  /// runs.
  struct Turn {
    explicit Turn(Worker &worker);
    ~Turn();
    Turn(const Turn &) = delete;
    Worker &worker;
    const bool isTaken;
  };

  Worker();
  bool takeTurn();
  Slot &acquire(std::unique_lock<std::mutex> &lock);
  uint64_t publish(std::unique_lock<std::mutex> &lock);
  void start();
  void loop();
  bool awaitCommand(uint64_t next);
  void finish(llvm::Error error);
  void resetInChild();
  void runNext();
  void runUntil(uint64_t number);
  static void prepareFork();
  static void parentOfFork();
  static void childOfFork();

  std::unique_ptr<Slot[]> slots;
  std::atomic<uint64_t> submitted{0}, completed{0};
  std::mutex mutex;
  bool started = false;
  std::atomic<bool> sleeping{false}, stopping{false}, stopped{false};
  std::mutex runMutex; // of the thread that runs commands
  std::atomic<unsigned> waiting{0};
  std::unique_ptr<std::condition_variable> wake, progress;
  std::string errorMessage; // first failure since the last drain; the code beside it
  int errorCode = -1;
};

} // namespace tess::runtime
