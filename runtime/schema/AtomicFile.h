//===- AtomicFile.h - a file that is there whole or not at all --*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace tess::runtime {

/// When what was written comes to disk: at once, or when the system likes, which is enough for what can be made again.
enum class Sync : uint8_t { Now, Later };

/// Writes a file beside `path`, `path`.tmp, and puts it in its place when it is whole. Without commit() the file goes,
/// and what `path` names stays as it was. Errors are IoError and name the path. (LLVM's TempFile takes over the
/// process's signals.)
class AtomicFile {
public:
  explicit AtomicFile(llvm::StringRef path) : path(path) {}
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  llvm::Error create();
  llvm::Error append(llvm::StringRef bytes);
  llvm::Error writeAt(uint64_t offset, llvm::StringRef bytes);
  /// Bytes that were appended.
  uint64_t position() const { return written; }
  /// Takes the name. With Sync::Now the bytes are on disk before it does, and so is the name afterwards.
  llvm::Error commit(Sync sync = Sync::Now);

private:
  llvm::Error failed(const char *doing, const std::string &file);
  llvm::Error syncFolder();

  std::string path, temporary;
  int fd = -1;
  uint64_t written = 0;
};

/// The file `path` with these bytes, by an AtomicFile that is committed.
llvm::Error replaceFile(llvm::StringRef path, llvm::StringRef bytes, Sync sync = Sync::Now);

} // namespace tess::runtime
