//===- LapackLibrary.h - LAPACK, loaded at run time -------------*- C++ -*-===//
//
// OpenBLAS, which brings LAPACK, as a table of the routines that we call. It is
// opened when the first kernel is prepared that needs it: linked, it would make
// every process 35 MB larger and start 2 ms later, of which few invert a matrix.
//
// Its builds differ in threads. That for OpenMP asks it how many a call may have,
// by libgomp (LibraryThreads). That with threads of its own is told once to use
// none. Calls of the serial one must not overlap, although nothing says so (six
// threads that factorized small matrices got hundreds of wrong results): they
// take turns.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <cstddef>
#include <mutex>

namespace tess::runtime::cpu {

/// The routines for elements of type T (float or double), by LAPACK's names without the letter of the type. As Fortran
/// has it, all is passed by address, matrices are column-major, and the lengths of texts come last.
template <typename T> struct LapackTable {
  using Size = const int *;
  using Text = const char *;

  void (*potrf)(Text uplo, Size n, T *a, Size lda, int *info, size_t);
  void (*getrf)(Size m, Size n, T *a, Size lda, int *pivots, int *info);
  void (*getrs)(Text trans, Size n, Size nrhs, const T *a, Size lda, const int *pivots, T *b, Size ldb, int *info,
                size_t);
  void (*getri)(Size n, T *a, Size lda, const int *pivots, T *work, Size lwork, int *info);
  void (*trsm)(Text side, Text uplo, Text trans, Text diag, Size m, Size n, const T *alpha, const T *a, Size lda, T *b,
               Size ldb, size_t, size_t, size_t, size_t);
  void (*geqrf)(Size m, Size n, T *a, Size lda, T *tau, T *work, Size lwork, int *info);
  void (*orgqr)(Size m, Size n, Size k, T *a, Size lda, const T *tau, T *work, Size lwork, int *info);
  void (*syevd)(Text jobz, Text uplo, Size n, T *a, Size lda, T *w, T *work, Size lwork, int *iwork, Size liwork,
                int *info, size_t, size_t);
  void (*gesdd)(Text jobz, Size m, Size n, T *a, Size lda, T *s, T *u, Size ldu, T *vt, Size ldvt, T *work, Size lwork,
                int *iwork, int *info, size_t);
};

/// Immutable once loaded; any number of threads may use it.
class LapackLibrary {
public:
  /// The library of this process, opened by the first call and kept to the end. NotFound where the machine has none.
  static llvm::Expected<const LapackLibrary *> get();

  /// The routines for T, float or double.
  template <typename T> const LapackTable<T> &table() const;
  /// To be held around calls; it waits where these must not overlap. A call is computed by its thread alone if OpenMP
  /// gives that one thread (LibraryThreads).
  std::unique_lock<std::mutex> turn() const;

private:
  llvm::Error load();

  LapackTable<float> floats = {};
  LapackTable<double> doubles = {};
  bool mayOverlap = false;
  mutable std::mutex mutex;
};

template <> inline const LapackTable<float> &LapackLibrary::table() const { return floats; }
template <> inline const LapackTable<double> &LapackLibrary::table() const { return doubles; }

} // namespace tess::runtime::cpu
