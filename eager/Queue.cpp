//===- Queue.cpp - work that runs beside the caller ----------------------===//
#include "eager/Queue.h"

#include "eager/Location.h"
#include "runtime/Worker.h"

namespace tess::eager {

static std::atomic<int> level{0};

static llvm::Error errorOf(Failure &failure) {
  failure.reported = true;
  return makeError(failure.code, failure.message);
}

llvm::Error awaitValue(Storage &storage) {
  if (uint64_t ticket = storage.writer()) {
    BlockingRegion region;
    runtime::Worker::global().wait(ticket);
  }
  Failure *failure = storage.failure();
  return failure ? errorOf(*failure) : llvm::Error::success();
}

llvm::Error sync() {
  BlockingRegion region;
  return runtime::Worker::global().drain();
}

llvm::Error setAsyncLevel(int wanted) {
  if (wanted < 0 || wanted > 2)
    return invalidArgument("async_level: level must be 0, 1 or 2, got " + llvm::Twine(wanted));
  level = wanted;
  return llvm::Error::success();
}

int asyncLevel() { return level.load(std::memory_order_relaxed); }

} // namespace tess::eager
