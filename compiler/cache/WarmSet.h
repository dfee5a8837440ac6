//===- WarmSet.h - executables that ship with the package -------*- C++ -*-===//
//
// A `.tess` container with an executable section for each class of mini-graphs,
// their code in sections of its own, which runs where the file is mapped, and
// the version and CPU level that they are for.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Container.h"
#include "runtime/schema/Executable.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace tess::compiler {

/// A warm set that is open: executables by class. Immutable, so any thread may ask. The file stays mapped as long
/// as code in it is used.
class WarmSet {
public:
  /// Opens x86-64-v4.tess or x86-64-v3.tess of `folder`: the highest level that this machine has. Fails when the file
  /// is missing or damaged, and when another version of the compiler wrote it.
  static llvm::Expected<std::shared_ptr<const WarmSet>> openFor(llvm::StringRef folder);
  /// Opens one file. Unimplemented when the machine lacks a feature of its level.
  static llvm::Expected<std::shared_ptr<const WarmSet>> open(llvm::StringRef path);
  /// Opens a file for any level; its code must not be run.
  static llvm::Expected<std::shared_ptr<const WarmSet>> read(llvm::StringRef path);

  /// The executable of the class `key`; none when it is missing or cannot be read.
  std::optional<runtime::Executable> find(llvm::StringRef key) const;
  /// The classes, sorted.
  std::vector<std::string> keys() const;
  /// "x86-64-v3, 700 classes".
  std::string describe() const;

private:
  WarmSet(std::shared_ptr<runtime::Container> file, std::string level)
      : file(std::move(file)), level(std::move(level)) {}

  llvm::Error placeCode(runtime::Image &image) const;

  std::shared_ptr<runtime::Container> file;
  std::string level;
  bool runsInPlace = false;
};

/// Executables by key.
using WarmSetEntries = std::vector<std::pair<std::string, runtime::Executable>>;

/// Upper bound of the bytes that one entry adds to a file that already has the kernels whose hashes are `known`.
uint64_t warmSetBytes(llvm::StringRef key, const runtime::Executable &executable, const llvm::StringSet<> &known);
/// Writes the file of `level`. `version`: codeVersion(), except in tests.
llvm::Error writeWarmSet(llvm::StringRef path, llvm::StringRef level, const WarmSetEntries &entries,
                         llvm::StringRef version);

} // namespace tess::compiler
