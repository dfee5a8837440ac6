//===- Queue.cpp - work that runs beside the caller ----------------------===//
#include "eager/Queue.h"

#include "runtime/Worker.h"

#include <mutex>
#include <vector>

namespace tess::eager {

namespace {

/// Commands that may wait before a caller does.
constexpr uint64_t kMostWaiting = runtime::Worker::kCapacity - 128;

std::atomic<int> level{2};
std::atomic<uint64_t> lastTicket{0};

/// Failures that nobody has seen, oldest first.
struct Unseen {
  std::mutex mutex;
  std::vector<FailureRef> failures;
};
Unseen &unseen() {
  static Unseen *instance = new Unseen;
  return *instance;
}

/// Jobs that ran: what is left of them (a place in the user's code) is dropped by the threads that enqueue, because the
/// worker must not wait for the lock of a frontend.
struct Finished {
  std::mutex mutex;
  std::vector<std::unique_ptr<Job>> jobs;
};
Finished &finished() {
  static Finished *instance = new Finished;
  return *instance;
}

void dropFinished() {
  std::vector<std::unique_ptr<Job>> jobs;
  {
    std::lock_guard<std::mutex> lock(finished().mutex);
    jobs.swap(finished().jobs);
  }
}

llvm::Error errorOf(Failure &failure) {
  failure.reported = true;
  return makeError(failure.code, failure.message);
}

void runJob(std::unique_ptr<Job> job) {
  Failure *inherited = nullptr;
  for (const StorageRef &input : job->inputs)
    if (Failure *failure = input->failure(); failure && !inherited)
      inherited = failure;
  if (inherited)
    poisonAll(job->outputs, FailureRef(inherited));
  else if (llvm::Error error = job->body())
    poisonAll(job->outputs, makeFailure(std::move(error), job->describe(), job->location));
  job->body = nullptr;
  job->describe = nullptr;
  job->inputs.clear();
  job->outputs.clear();
  std::lock_guard<std::mutex> lock(finished().mutex);
  finished().jobs.push_back(std::move(job));
}

} // namespace

void poisonAll(llvm::ArrayRef<StorageRef> outputs, const FailureRef &why) {
  for (const StorageRef &output : outputs)
    output->poison(why);
}

FailureRef makeFailure(llvm::Error error, llvm::StringRef what, const Location &location) {
  auto [code, message] = takeError(std::move(error));
  FailureRef failure(new Failure);
  failure->code = code;
  failure->message = message;
  if (!what.empty())
    failure->message += " (" + what.str() + ")";
  std::string place = location.describe();
  if (!place.empty())
    failure->message += ", at " + place;
  std::lock_guard<std::mutex> lock(unseen().mutex);
  std::erase_if(unseen().failures, [](const FailureRef &old) { return old->reported.load(); });
  unseen().failures.push_back(failure);
  return failure;
}

bool isPending(const Storage &storage) {
  uint64_t ticket = storage.writer();
  return ticket && ticket > runtime::Worker::global().count();
}

void awaitWritten(Storage &storage) {
  if (!isPending(storage))
    return;
  BlockingRegion region;
  runtime::Worker::global().wait(storage.writer());
}

void awaitAll() {
  uint64_t last = lastTicket.load();
  if (last <= runtime::Worker::global().count())
    return;
  BlockingRegion region;
  runtime::Worker::global().wait(last);
}

llvm::Error awaitValue(Storage &storage) {
  awaitWritten(storage);
  Failure *failure = storage.failure();
  return failure ? errorOf(*failure) : llvm::Error::success();
}

void enqueue(std::unique_ptr<Job> job) {
  runtime::Worker &worker = runtime::Worker::global();
  uint64_t last = lastTicket.load(std::memory_order_relaxed);
  if (last > worker.count() + kMostWaiting) {
    BlockingRegion region;
    worker.wait(last - kMostWaiting / 2);
  }
  llvm::SmallVector<StorageRef, 2> outputs = job->outputs;
  uint64_t ticket = worker.submit([raw = job.release()] { runJob(std::unique_ptr<Job>(raw)); });
  for (const StorageRef &output : outputs)
    output->setWriter(ticket);
  lastTicket.store(ticket, std::memory_order_relaxed);
  dropFinished();
}

llvm::Error sync() {
  {
    BlockingRegion region;
    if (llvm::Error error = runtime::Worker::global().drain())
      return error;
  }
  dropFinished();
  std::vector<FailureRef> failures;
  {
    std::lock_guard<std::mutex> lock(unseen().mutex);
    failures.swap(unseen().failures);
  }
  for (const FailureRef &failure : failures)
    if (!failure->reported.exchange(true))
      return makeError(failure->code, failure->message);
  return llvm::Error::success();
}

llvm::Error setAsyncLevel(int wanted) {
  if (wanted < 0 || wanted > 2)
    return invalidArgument("async_level: level must be 0, 1 or 2, got " + llvm::Twine(wanted));
  level = wanted;
  BlockingRegion region;
  return runtime::Worker::global().drain();
}

int asyncLevel() { return level.load(std::memory_order_relaxed); }

} // namespace tess::eager
