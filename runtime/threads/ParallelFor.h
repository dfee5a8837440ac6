//===- ParallelFor.h - threads of one parallel region -----------*- C++ -*-===//
//
// Fork and join over the team (Team.h), which oneDNN shares (Openmp.cpp).
// Regions are opened by the worker thread, or by one that runs a command in its
// place (Worker.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <utility>

namespace tess::runtime {

/// Highest number of threads that setNumThreads takes.
constexpr unsigned kMaxThreads = 1024;

/// Threads of a parallel region: setNumThreads, else TESS_NUM_THREADS, else OMP_NUM_THREADS, else what affinity and the
/// cgroup quota leave.
unsigned numThreads();
/// Sets the number of threads for programs that are bound from now on. InvalidArgument unless 1 <= count <=
/// kMaxThreads.
llvm::Error setNumThreads(unsigned count);
/// What affinity and the cgroup quota leave, at least 1.
unsigned availableThreads();

/// Serial time of a kernel, in ps, below which a parallel region costs more than it brings: 0.3 us where its threads
/// are awake or have no core. `tools/dev bench thresholds` sweeps it: 2 to 4 us.
constexpr int64_t kSplitPicoseconds = 4'000'000;
/// Serial time, in ps, of the parts of a run that could be split; below it the way to the worker and back costs more
/// than it brings: two threads of two cores gained nothing on an add of 131 072 floats (27 us alone). `tools/dev bench
/// thresholds` sweeps it.
constexpr int64_t kWorkerPicoseconds = 25'000'000;
/// Threads of a library kernel that takes `picoseconds` alone: `threads`, or 1 where the worker would not pay.
constexpr unsigned threadsFor(int64_t picoseconds, unsigned threads) {
  return picoseconds < kWorkerPicoseconds ? 1 : threads;
}

/// Calls body(0) .. body(parts - 1): in parallel where Worker::onWorkerThread(), one after the other on other threads.
void parallelRun(unsigned parts, llvm::function_ref<void(unsigned part)> body);

/// Range number `part` of [0, count) when that is split into at most `parts` ranges that start at multiples of `grain`;
/// empty beyond the last.
std::pair<int64_t, int64_t> partOf(unsigned part, unsigned parts, int64_t count, int64_t grain);

/// Splits [0, count) into at most `parts` ranges that start at multiples of `grain` and calls body(begin, end, part)
/// for each that is not empty.
void parallelFor(unsigned parts, int64_t count, int64_t grain,
                 llvm::function_ref<void(int64_t begin, int64_t end, unsigned part)> body);

/// While alive, OpenMP regions that oneDNN and OpenBLAS open on this thread have `count` threads.
class LibraryThreads {
public:
  explicit LibraryThreads(unsigned count);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads &) = delete;
  LibraryThreads &operator=(const LibraryThreads &) = delete;

private:
  unsigned previous;
  int ofGomp;
};

} // namespace tess::runtime
