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
  /// Whether a page was read that the file no longer had; known only after guardMappedFiles().
  bool isDamaged() const;

  struct Range;

private:
  MappedFile(llvm::StringRef mapped, std::string path, int fd);

  llvm::StringRef mapped;
  std::string path;
  int fd;
  Range *range;
};

/// Installs a handler of SIGBUS for the whole process; faults outside mapped files go to the handler that was there.
/// For programs: the library itself never calls it.
void guardMappedFiles();

} // namespace tess::runtime
