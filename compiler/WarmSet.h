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

class WarmSet {
public:
  /// Of the highest level that this machine has: x86-64-v4.tess or x86-64-v3.tess. Fails when the file is missing or
  /// damaged, and when another version of the compiler wrote it.
  static llvm::Expected<std::shared_ptr<const WarmSet>> openFor(llvm::StringRef folder);
  /// That file. Unimplemented when the machine lacks a feature of its level.
  static llvm::Expected<std::shared_ptr<const WarmSet>> open(llvm::StringRef path);
  /// The same for any machine, which then must not run the code.
  static llvm::Expected<std::shared_ptr<const WarmSet>> read(llvm::StringRef path);

  std::optional<runtime::Executable> find(llvm::StringRef key) const;
  /// Sorted.
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

/// By how much one entry lengthens a file that has the kernels `known` (their hashes), at most.
uint64_t warmSetBytes(llvm::StringRef key, const runtime::Executable &executable, const llvm::StringSet<> &known);
/// Writes the file of `level`; `version` is codeVersion() but in tests.
llvm::Error writeWarmSet(llvm::StringRef path, llvm::StringRef level, const WarmSetEntries &entries,
                         llvm::StringRef version);

} // namespace tess::compiler
