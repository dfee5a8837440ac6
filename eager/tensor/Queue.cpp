//===- Queue.cpp - work that runs beside the caller ----------------------===//
#include "eager/tensor/Queue.h"

#include "eager/tensor/MemoryHooks.h"
#include "ops/vocabulary/Error.h"
#include "runtime/Devices.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/Worker.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tess::eager {

using runtime::Worker;

namespace {

/// Commands that may be queued before a caller has to wait.
constexpr uint64_t kMostWaiting = Worker::kCapacity - 128;
/// Bytes of the storages that queued commands may hold. A program faster than its kernels must not take all memory, and
/// memory that a kernel has just left should serve the next one, while a cache still has it: with 512 MiB a step of a
/// Transformer encoder took 6 % longer, and one that is recorded 10 %.
constexpr uint64_t kMostBytes = 64 << 20;
/// Failures kept for sync(); later ones are only kept by their values.
constexpr size_t kMostUnseen = 64;
/// Failures that one result tells of; sync() tells of more.
constexpr size_t kMostCauses = 8;

std::atomic<int> level{2};
std::atomic<uint64_t> queuedBytes{0};

/// Failures that nobody has seen yet, the oldest first.
struct Unseen {
  Unseen();
  std::mutex mutex;
  std::vector<FailureRef> failures;
  std::map<runtime::Device *, std::string> ofDevices; // what was told of each that does not do its work
};

Unseen &unseen() {
  static Unseen *instance = new Unseen;
  return *instance;
}

/// A forked child begins without failures, because the parent reports them.
Unseen::Unseen() {
  runtime::holdAcrossFork(mutex);
  runtime::callAcrossFork([] {}, [] {}, [] { unseen().failures.clear(); });
}
const runtime::MadeAtLoad<unseen> kMade;

/// Holds the storages of a job, and counts the bytes of those that no other queued job holds.
void hold(const Job &job) {
  for (const StorageRef &storage : llvm::concat<const StorageRef>(job.inputs, job.outputs))
    if (storage->hold())
      queuedBytes += storage->bytes();
}

void drop(const Job &job) {
  for (const StorageRef &storage : llvm::concat<const StorageRef>(job.inputs, job.outputs))
    if (storage->drop())
      queuedBytes -= storage->bytes();
}

/// The Waiting of a job that is queued now.
std::unique_ptr<runtime::profiler::Waiting> waitingOf(const Job &job) {
  auto waiting = std::make_unique<runtime::profiler::Waiting>(runtime::profiler::waitingFromHere());
  if (waiting->context.location.empty())
    waiting->context.location = job.location.describe();
  return waiting;
}

void runJob(std::unique_ptr<Job> job) {
  std::optional<runtime::profiler::At> place;
  if (LLVM_UNLIKELY(job->waiting != nullptr)) {
    if (runtime::profiler::on())
      runtime::profiler::recordWaited(*job->waiting, Worker::global().count() + 1);
    place.emplace(std::move(job->waiting->context));
  }
  if (FailureRef inherited = inheritedFailure(job->inputs))
    poisonAll(job->outputs, inherited);
  else if (llvm::Error error = job->body())
    poisonAll(job->outputs, makeFailure(std::move(error), job->describe(), std::move(job->location)));
  drop(*job);
}

/// Waits until commands and bytes are within their limits, and then until there is room for several more.
llvm::Error awaitRoom() {
  constexpr llvm::StringLiteral kRoom = "room in the queue";
  Worker &worker = Worker::global();
  if (uint64_t last = worker.last(); last > worker.count() + kMostWaiting)
    if (llvm::Error e = awaitCommand(last - kMostWaiting / 2, kRoom))
      return e;
  if (queuedBytes <= kMostBytes)
    return llvm::Error::success();
  while (queuedBytes > kMostBytes / 2) {
    uint64_t run = worker.count();
    if (llvm::Error e = awaitCommand(run + (worker.last() - run + 1) / 2, kRoom))
      return e;
  }
  return llvm::Error::success();
}

} // namespace

void poisonAll(llvm::ArrayRef<StorageRef> outputs, const FailureRef &why) {
  for (const StorageRef &output : outputs)
    output->poison(why);
}

/// Adds the failures that `failure` stands for, those that nobody has heard of yet.
static void addCauses(const FailureRef &failure, llvm::SmallVectorImpl<FailureRef> &causes) {
  llvm::ArrayRef<FailureRef> added = failure->causes;
  for (const FailureRef &cause : added.empty() ? llvm::ArrayRef(failure) : added)
    if (!cause->reported && causes.size() < kMostCauses && !llvm::is_contained(causes, cause))
      causes.push_back(cause);
}

FailureRef inheritedFailure(llvm::ArrayRef<StorageRef> inputs) {
  FailureRef first;
  llvm::SmallVector<FailureRef, 0> causes;
  for (const StorageRef &input : inputs) {
    FailureRef failure(input->failure());
    if (!failure)
      continue;
    if (!first)
      first = failure;
    addCauses(failure, causes);
  }
  size_t numKnown = first ? std::max<size_t>(first->causes.size(), 1) : 0;
  if (!first || first->reported || causes.size() <= numKnown)
    return first;
  FailureRef several(new Failure);
  several->code = causes.front()->code;
  several->causes = std::move(causes);
  return several;
}

FailureRef makeFailure(llvm::Error error, llvm::StringRef what, Location location) {
  auto [code, message] = takeError(std::move(error));
  FailureRef failure(new Failure);
  failure->code = code;
  failure->message = what.empty() ? message : message + " (" + what.str() + ")";
  failure->place = std::move(location);
  std::lock_guard<std::mutex> lock(unseen().mutex);
  std::erase_if(unseen().failures, [](const FailureRef &old) { return old->reported.load(); });
  if (unseen().failures.size() < kMostUnseen)
    unseen().failures.push_back(failure);
  return failure;
}

llvm::Error errorOf(Failure &failure) {
  failure.noteReported();
  return makeError(failure.code, failure.text());
}

bool isPending(const Storage &storage) {
  uint64_t ticket = storage.writer();
  return ticket && ticket > Worker::global().count();
}

llvm::Error awaitWritten(Storage &storage) {
  if (LLVM_UNLIKELY(eviction::isActive() && storage.isEvicted()))
    return memoryHooks.restore(storage);
  return isPending(storage) ? awaitCommand(storage.writer()) : llvm::Error::success();
}

llvm::Error awaitAll() { return awaitCommand(Worker::global().last(), "all queued work"); }

llvm::Error awaitValue(Storage &storage) {
  if (llvm::Error e = awaitWritten(storage))
    return e;
  Failure *failure = storage.failure();
  return failure ? errorOf(*failure) : llvm::Error::success();
}

llvm::Error enqueue(std::unique_ptr<Job> job) {
  if (llvm::Error e = awaitRoom())
    return e;
  llvm::SmallVector<StorageRef, 2> outputs = job->outputs;
  hold(*job);
  if (LLVM_UNLIKELY(runtime::profiler::on()))
    job->waiting = waitingOf(*job);
  uint64_t ticket = Worker::global().submit([raw = job.release()] { runJob(std::unique_ptr<Job>(raw)); });
  for (const StorageRef &output : outputs)
    output->setWriter(ticket);
  return llvm::Error::success();
}

/// Waits for the device's work. What keeps it from doing any is a failure when it is told for the first time.
static void syncDevice(runtime::Device &device) {
  llvm::Error error = device.defaultStream().synchronize();
  auto [code, message] = error ? takeError(std::move(error)) : std::pair(ErrorCode::Internal, std::string());
  {
    std::lock_guard<std::mutex> lock(unseen().mutex);
    std::string &told = unseen().ofDevices[&device];
    if (told == message)
      return;
    told = message;
  }
  if (!message.empty())
    makeFailure(makeError(code, message), "", Location());
}

llvm::Error sync() {
  if (llvm::Error e = awaitAll())
    return e;
  if (llvm::Error e = Worker::global().drain())
    return e;
  for (runtime::Device *device : runtime::devicesInUse())
    if (!device->hostAccessible())
      syncDevice(*device);
  std::vector<FailureRef> failures;
  {
    std::lock_guard<std::mutex> lock(unseen().mutex);
    failures.swap(unseen().failures);
  }
  std::erase_if(failures, [](const FailureRef &failure) { return failure->reported.exchange(true); });
  std::string text;
  for (const FailureRef &failure : failures)
    text += (text.empty() ? "" : "\nalso ") + failure->text();
  return failures.empty() ? llvm::Error::success() : makeError(failures.front()->code, text);
}

llvm::Error setAsyncLevel(int wanted) {
  if (wanted < 0 || wanted > 2)
    return invalidArgument("async_level: level must be 0, 1 or 2, got " + llvm::Twine(wanted));
  if (llvm::Error e = awaitAll())
    return e;
  level = wanted;
  return llvm::Error::success();
}

QueueStats queueStats() {
  Worker &worker = Worker::global();
  uint64_t run = worker.count();
  return {worker.last() - run, queuedBytes, kMostWaiting, kMostBytes};
}

int asyncLevel() { return level.load(std::memory_order_relaxed); }

} // namespace tess::eager
