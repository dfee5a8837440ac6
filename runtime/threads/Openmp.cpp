//===- Openmp.cpp - OpenMP for oneDNN, by our team ------------------------===//
//
// The functions of libgomp that oneDNN calls. They stand before libgomp in the
// search order of its symbols, so a process has one team of threads.
//
//===----------------------------------------------------------------------===//
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Team.h"

#define TESS_OPENMP extern "C" __attribute__((visibility("default")))

using namespace tess::runtime;

static thread_local unsigned libraryThreads = 0; // 0: no LibraryThreads is alive

LibraryThreads::LibraryThreads(unsigned count) : previous(libraryThreads) { libraryThreads = count; }

LibraryThreads::~LibraryThreads() { libraryThreads = previous; }

TESS_OPENMP int omp_get_max_threads() { return int(libraryThreads ? libraryThreads : numThreads()); }

TESS_OPENMP int omp_get_thread_num() { return int(Team::place().part); }

TESS_OPENMP int omp_get_num_threads() { return int(Team::place().parts); }

TESS_OPENMP int omp_in_parallel() { return Team::place().isInRegion && Team::place().parts > 1; }

TESS_OPENMP void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned) {
  struct Call {
    void (*body)(void *);
    void *data;
  } call{body, data};
  auto run = [](void *call, unsigned) { static_cast<Call *>(call)->body(static_cast<Call *>(call)->data); };
  Team::global().run(threads ? threads : unsigned(omp_get_max_threads()), Team::Parts::Together, run, &call);
}

TESS_OPENMP void GOMP_barrier() { Team::global().barrier(); }
