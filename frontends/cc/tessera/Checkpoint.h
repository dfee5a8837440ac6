//===- Checkpoint.h - what a file of tessera.save holds ---------*- C++ -*-===//
//
// Two layouts: that of safetensors, whose metadata has the structure of what
// was saved, and the zip archive of version 1, which has it in `tree.json`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>

namespace tessera::detail {

/// The structure, of this version, and the bytes of each array, pointing into the file.
struct Checkpoint {
  llvm::json::Value tree;
  int64_t version;
  std::map<std::string, llvm::StringRef> members;
};

/// Reads either layout. DataLoss when `file` is not whole or another's; `path` opens the message.
llvm::Expected<Checkpoint> readCheckpoint(llvm::StringRef file, const std::string &path);

/// The error of a damaged checkpoint.
llvm::Error damagedCheckpoint(const std::string &path, const llvm::Twine &got);

} // namespace tessera::detail
