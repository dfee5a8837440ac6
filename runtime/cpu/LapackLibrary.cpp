//===- LapackLibrary.cpp - LAPACK, loaded at run time ---------------------===//
#include "runtime/cpu/LapackLibrary.h"

#include "runtime/device/SharedLibrary.h"
#include "runtime/threads/Fork.h"

#include <memory>
#include <mutex>
#include <string>

namespace tess::runtime::cpu {

/// Finds each routine of the table; `letter` is that of its type.
template <typename T>
static llvm::Error resolve(const SharedLibrary &library, const std::string &letter, LapackTable<T> &table) {
  auto find = [&](const char *name, auto &routine) { return library.resolve((letter + name + "_").c_str(), routine); };
#define TESS_LAPACK_RESOLVE(name)                                                                                      \
  if (llvm::Error error = find(#name, table.name))                                                                     \
    return error;
  TESS_LAPACK_RESOLVE(potrf)
  TESS_LAPACK_RESOLVE(getrf)
  TESS_LAPACK_RESOLVE(getrs)
  TESS_LAPACK_RESOLVE(getri)
  TESS_LAPACK_RESOLVE(trsm)
  TESS_LAPACK_RESOLVE(geqrf)
  TESS_LAPACK_RESOLVE(orgqr)
  TESS_LAPACK_RESOLVE(syevd)
  TESS_LAPACK_RESOLVE(gesdd)
#undef TESS_LAPACK_RESOLVE
  return llvm::Error::success();
}

llvm::Error LapackLibrary::load() {
  llvm::Expected<SharedLibrary> opened =
      SharedLibrary::open("lapack", {"libopenblas.so.0"}, {"libquadmath.so.0", "libgfortran.so.5"});
  if (!opened)
    return opened.takeError();
  if (llvm::Error error = resolve(*opened, "s", floats))
    return error;
  if (llvm::Error error = resolve(*opened, "d", doubles))
    return error;
  int (*parallel)() = nullptr;
  void (*setThreads)(int) = nullptr;
  if (llvm::Error error = opened->resolve("openblas_get_parallel", parallel))
    return error;
  if (llvm::Error error = opened->resolve("openblas_set_num_threads", setThreads))
    return error;
  constexpr int kSerial = 0, kOwnThreads = 1; // 2 is OpenMP
  if (parallel() == kOwnThreads)
    setThreads(1);
  mayOverlap = parallel() != kSerial;
  holdAcrossFork(mutex);
  return llvm::Error::success();
}

std::unique_lock<std::mutex> LapackLibrary::turn() const {
  return mayOverlap ? std::unique_lock<std::mutex>() : std::unique_lock(mutex);
}

llvm::Expected<const LapackLibrary *> LapackLibrary::get() {
  static std::mutex mutex;
  static LapackLibrary *library; // never destroyed: threads may be in a call when the process ends
  std::lock_guard<std::mutex> lock(mutex);
  if (!library) {
    auto loading = std::make_unique<LapackLibrary>();
    if (llvm::Error error = loading->load())
      return std::move(error);
    library = loading.release();
  }
  return library;
}

} // namespace tess::runtime::cpu
