//===- Openmp.cpp - OpenMP for oneDNN, by our team ------------------------===//
//
// The functions of libgomp that oneDNN calls. They stand before libgomp in the
// search order of its symbols, so its regions have our threads. A program that
// has regions of its own calls them too: what does not come from oneDNN goes on
// to libgomp. Where libgomp was loaded for all before us, oneDNN has that one.
//
//===----------------------------------------------------------------------===//
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Team.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

#define TESS_OPENMP extern "C" __attribute__((visibility("default")))

using namespace tess::runtime;

extern "C" void omp_set_num_threads(int count); // of libgomp, as no function here

namespace {

/// libgomp's own functions.
struct Gomp {
  void (*parallel)(void (*)(void *), void *, unsigned, unsigned) = nullptr;
  void (*barrier)() = nullptr;
  int (*maxThreads)() = nullptr, (*threadNum)() = nullptr, (*numThreads)() = nullptr, (*inParallel)() = nullptr;

  Gomp() {
    void *library = ::dlopen("libgomp.so.1", RTLD_LAZY); // which this program is linked with
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    };
    find(parallel, "GOMP_parallel");
    find(barrier, "GOMP_barrier");
    find(maxThreads, "omp_get_max_threads");
    find(threadNum, "omp_get_thread_num");
    find(numThreads, "omp_get_num_threads");
    find(inParallel, "omp_in_parallel");
  }
};
const Gomp &gomp() {
  static const Gomp functions;
  return functions;
}

/// The addresses of oneDNN's code.
struct Range {
  uintptr_t begin = UINTPTR_MAX, end = 0;

  Range() { ::dl_iterate_phdr(see, this); }
  static int see(dl_phdr_info *info, size_t, void *data) {
    if (!std::strstr(info->dlpi_name, "libdnnl"))
      return 0;
    auto &range = *static_cast<Range *>(data);
    for (const ElfW(Phdr) *each = info->dlpi_phdr; each != info->dlpi_phdr + info->dlpi_phnum; ++each)
      if (each->p_type == PT_LOAD) {
        range.begin = std::min<uintptr_t>(range.begin, info->dlpi_addr + each->p_vaddr);
        range.end = std::max<uintptr_t>(range.end, info->dlpi_addr + each->p_vaddr + each->p_memsz);
      }
    return 1;
  }
};
bool isOneDnn(void *caller) {
  static const Range range;
  auto address = reinterpret_cast<uintptr_t>(caller);
  return range.begin <= address && address < range.end;
}

thread_local unsigned libraryThreads = 0; // 0: no LibraryThreads is alive

} // namespace

LibraryThreads::LibraryThreads(unsigned count) : previous(libraryThreads), ofGomp(gomp().maxThreads()) {
  libraryThreads = count;
  if (int(count) != ofGomp)
    omp_set_num_threads(int(count));
}

LibraryThreads::~LibraryThreads() {
  libraryThreads = previous;
  if (gomp().maxThreads() != ofGomp)
    omp_set_num_threads(ofGomp);
}

TESS_OPENMP int omp_get_max_threads() {
  if (!isOneDnn(__builtin_return_address(0)))
    return gomp().maxThreads();
  return int(libraryThreads ? libraryThreads : numThreads());
}

TESS_OPENMP int omp_get_thread_num() {
  return isOneDnn(__builtin_return_address(0)) ? int(Team::place().part) : gomp().threadNum();
}

TESS_OPENMP int omp_get_num_threads() {
  return isOneDnn(__builtin_return_address(0)) ? int(Team::place().parts) : gomp().numThreads();
}

TESS_OPENMP int omp_in_parallel() {
  if (!isOneDnn(__builtin_return_address(0)))
    return gomp().inParallel();
  return Team::place().isInRegion && Team::place().parts > 1;
}

TESS_OPENMP void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  if (!isOneDnn(__builtin_return_address(0)))
    return gomp().parallel(body, data, threads, flags);
  openmpRegion(body, data, threads ? threads : libraryThreads ? libraryThreads : numThreads());
}

TESS_OPENMP void GOMP_barrier() {
  if (!isOneDnn(__builtin_return_address(0)))
    return gomp().barrier();
  Team::global().barrier();
}

void tess::runtime::openmpRegion(void (*body)(void *), void *data, unsigned threads) {
  struct Call {
    void (*body)(void *);
    void *data;
  } call{body, data};
  auto run = [](void *call, unsigned) { static_cast<Call *>(call)->body(static_cast<Call *>(call)->data); };
  Team::global().run(threads, Team::Parts::Together, run, &call);
}
