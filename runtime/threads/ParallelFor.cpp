//===- ParallelFor.cpp - threads of one parallel region -------------------===//
#include "runtime/threads/ParallelFor.h"
#include "ops/vocabulary/Error.h"
#include "runtime/threads/Team.h"
#include "runtime/threads/Worker.h"

#include <algorithm>
#include <atomic>

namespace tess::runtime {

static std::atomic<unsigned> threadCount{0};

static unsigned fromEnvironment(const char *name) {
  const char *text = std::getenv(name);
  unsigned count = 0;
  // OMP_NUM_THREADS may be a list with one number per level of nesting; the first one counts.
  if (!text || llvm::StringRef(text).split(',').first.trim().getAsInteger(10, count))
    return 0;
  return std::min(count, kMaxThreads);
}

unsigned numThreads() {
  unsigned count = threadCount.load(std::memory_order_relaxed);
  if (count)
    return count;
  count = fromEnvironment("TESS_NUM_THREADS");
  if (!count)
    count = fromEnvironment("OMP_NUM_THREADS");
  if (!count)
    count = availableThreads();
  unsigned unset = 0;
  return threadCount.compare_exchange_strong(unset, count) ? count : unset;
}

llvm::Error setNumThreads(unsigned count) {
  if (count < 1 || count > kMaxThreads)
    return invalidArgument("set_num_threads: count must be in 1.." + llvm::Twine(kMaxThreads) + ", got " +
                           llvm::Twine(count));
  threadCount.store(count, std::memory_order_relaxed);
  return llvm::Error::success();
}

void parallelRun(unsigned parts, llvm::function_ref<void(unsigned)> body) {
  if (parts > 1 && Worker::onWorkerThread()) {
    auto call = [](void *body, unsigned part) { (*static_cast<llvm::function_ref<void(unsigned)> *>(body))(part); };
    return Team::global().run(parts, Team::Parts::Independent, call, &body);
  }
  for (unsigned part = 0; part < parts; ++part)
    body(part);
}

/// The number of parts that get a range.
static unsigned usedParts(unsigned parts, int64_t blocks) {
  return unsigned(std::min<int64_t>(std::max(parts, 1u), blocks));
}

std::pair<int64_t, int64_t> partOf(unsigned part, unsigned parts, int64_t count, int64_t grain) {
  int64_t blocks = (count + grain - 1) / grain;
  unsigned used = usedParts(parts, blocks);
  if (part >= used)
    return {count, count};
  return {blocks * part / used * grain, std::min(count, blocks * (part + 1) / used * grain)};
}

void parallelFor(unsigned parts, int64_t count, int64_t grain,
                 llvm::function_ref<void(int64_t, int64_t, unsigned)> body) {
  parallelRun(usedParts(parts, (count + grain - 1) / grain), [&](unsigned part) {
    auto [begin, end] = partOf(part, parts, count, grain);
    if (begin < end)
      body(begin, end, part);
  });
}

} // namespace tess::runtime
