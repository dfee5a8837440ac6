//===- AtomicFile.h - a file that is there whole or not at all --*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace tess::runtime {

/// When written bytes reach the disk: before commit() returns, or when the system decides, which is enough for a file
/// that can be made again.
enum class Sync : uint8_t { Now, Later };

/// Writes a temporary file beside `path` (`path`.tmp, or another number where a running writer has that) and renames it
/// to `path` when it is whole. Without commit() it is removed, and `path` stays as it was. Errors are IoError and name
/// the path. (LLVM's TempFile takes over the process's signals.)
class AtomicFile {
public:
  explicit AtomicFile(llvm::StringRef path) : path(path) {}
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Makes the temporary file, empty; must come first.
  llvm::Error create();
  /// Writes at the end; writeAt() overwrites bytes at `offset` and does not count as appending.
  llvm::Error append(llvm::StringRef bytes);
  llvm::Error writeAt(uint64_t offset, llvm::StringRef bytes);
  /// The temporary file, for writing by other means.
  int descriptor() const { return fd; }
  /// Bytes that were appended.
  uint64_t position() const { return written; }
  /// Renames the file to `path`. With Sync::Now the bytes are on disk before, and the name afterwards.
  llvm::Error commit(Sync sync = Sync::Now);

private:
  llvm::Error failed(const char *doing, const std::string &file);
  llvm::Error syncFolder();

  std::string path, temporary;
  int fd = -1;
  uint64_t written = 0;
};

/// Writes the file `path` with these bytes, as an AtomicFile that is committed.
llvm::Error replaceFile(llvm::StringRef path, llvm::StringRef bytes, Sync sync = Sync::Now);

} // namespace tess::runtime
