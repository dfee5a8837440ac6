//===- CacheFolder.h - where entries of the disk cache lie ------*- C++ -*-===//
//
// An entry is a file named by the hash of its key, in the subfolder of that name's
// first byte. A subfolder is trimmed by itself, so that no process ever walks the
// whole folder.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tess::compiler {

constexpr unsigned kNumSubfolders = 256;

/// The place of an entry in a cache's folder.
struct EntryPlace {
  unsigned subfolder; // its number
  std::string file;   // its path
};
/// The place of the entry under `key` in `folder`.
EntryPlace placeOf(llvm::StringRef folder, llvm::StringRef key);
/// The path of a subfolder.
std::string subfolderOf(llvm::StringRef folder, unsigned number);

/// Removes the least recently used entries of a subfolder until at most `maxBytes` are left, and what processes left
/// there that ended while they wrote. Failure to remove is silent: a later call tries again.
void trimSubfolder(llvm::StringRef folder, unsigned number, uint64_t maxBytes);

/// Removes at most `most` of the entries that earlier versions left in the folder itself, which no key of this version
/// has. Returns whether there may be more.
bool removeFlatEntries(llvm::StringRef folder, unsigned most);

} // namespace tess::compiler
