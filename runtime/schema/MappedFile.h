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

/// A read-only mapping of a whole file, until its end. Thread-safe.
class MappedFile {
public:
  /// NotFound, IoError.
  static llvm::Expected<std::unique_ptr<MappedFile>> open(llvm::StringRef path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  llvm::StringRef bytes() const { return mapped; }
  /// DataLoss when the file lost bytes since it was opened. Asks the system.
  llvm::Error check() const;
  /// True when a page was read that the file no longer had, which is known under guardMappedFiles only.
  bool isDamaged() const;

  struct Range;

private:
  MappedFile(llvm::StringRef mapped, std::string path, int fd);

  llvm::StringRef mapped;
  std::string path;
  int fd;
  Range *range;
};

/// Installs the handler of SIGBUS; the one that was there gets what lies in no mapped file. Of the whole process: for
/// programs, never called by the library itself.
void guardMappedFiles();

} // namespace tess::runtime
