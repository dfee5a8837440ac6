//===- MappedFile.h - a file in memory, which others may cut ----*- C++ -*-===//
//
// A page that the file no longer has raises SIGBUS where it is read. With
// guardMappedFiles such a page reads as zeros and its file is marked, so that
// what was computed from it is refused instead of the process being ended.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <memory>
#include <string>

namespace tess::runtime {

/// A read-only mapping of a whole file, unmapped with this object. Thread-safe.
class MappedFile {
public:
  /// Maps the file; NotFound or IoError with the path when that fails.
  static llvm::Expected<std::unique_ptr<MappedFile>> open(llvm::StringRef path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  /// All bytes of the file.
  llvm::StringRef bytes() const { return mapped; }
  /// Asks the system for the size of the file: DataLoss when it lost bytes since it was opened.
  llvm::Error check() const;
  /// Whether check() found another time of the last write than before, and nobody has accepted the bytes since.
  bool wasWritten() const { return written.load(std::memory_order_acquire); }
  void acceptBytes() const { written.store(false, std::memory_order_release); }
  /// Gives the whole pages of these bytes of the file back to the system; who reads them again gets them from the file.
  void giveBack(llvm::StringRef bytes) const;
  /// Whether a page was read that the file no longer had; known only after guardMappedFiles().
  bool isDamaged() const;

  struct Range;

private:
  MappedFile(llvm::StringRef mapped, std::string path, int fd, int64_t time);

  llvm::StringRef mapped;
  std::string path;
  int fd;
  Range *range;
  mutable std::atomic<int64_t> time; // of the last write that is known, in ns
  mutable std::atomic<bool> written = false;
};

/// Installs a handler of SIGBUS for the whole process; faults outside mapped files go to the handler that was there.
/// For programs: the library itself never calls it.
void guardMappedFiles();

} // namespace tess::runtime
