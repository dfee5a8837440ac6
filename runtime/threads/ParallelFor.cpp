//===- ParallelFor.cpp - threads of one parallel region -------------------===//
#include "runtime/threads/ParallelFor.h"
#include "ops/vocabulary/Error.h"
#include "runtime/threads/Worker.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

// The function that GCC calls for `#pragma omp parallel`: clang's -fopenmp would add a second OpenMP library to
// oneDNN's.
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

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

namespace {
struct Region {
  unsigned parts;
  llvm::function_ref<void(unsigned)> body;
};
} // namespace

#if TESS_SANITIZE_THREAD
// ThreadSanitizer does not see libgomp's barriers, so threads that it does see are started for each region.
static void runRegion(Region &region) {
  std::vector<std::thread> team;
  for (unsigned part = 1; part < region.parts; ++part)
    team.emplace_back([&region, part] { region.body(part); });
  region.body(0);
  for (std::thread &thread : team)
    thread.join();
}
#else
static void runRegion(Region &region) {
  auto body = [](void *data) {
    auto &region = *static_cast<Region *>(data);
    // The team may be smaller than asked for (OMP_THREAD_LIMIT); the parts stay the same.
    for (unsigned part = omp_get_thread_num(), team = omp_get_num_threads(); part < region.parts; part += team)
      region.body(part);
  };
  GOMP_parallel(body, &region, region.parts, 0);
}
#endif

void parallelRun(unsigned parts, llvm::function_ref<void(unsigned)> body) {
  if (parts > 1 && Worker::onWorkerThread()) {
    Region region{parts, body};
    return runRegion(region);
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

LibraryThreads::LibraryThreads(unsigned count) : previous(omp_get_max_threads()) {
#if TESS_SANITIZE_THREAD
  count = 1;
#endif
  if (int(count) != previous)
    omp_set_num_threads(int(count));
}

LibraryThreads::~LibraryThreads() {
  if (omp_get_max_threads() != previous)
    omp_set_num_threads(previous);
}

} // namespace tess::runtime
