//===- GuardedMemory.h - memory of a library's outputs ----------*- C++ -*-===//
//
// Where checks are on (runtime/device/CustomChecks.h), a library writes its outputs between guards,
// which must stay as they were, and finds NaN in its workspace; else it writes them
// where they belong.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tess::runtime::cpu {

/// The outputs of one run.
class GuardedMemory {
public:
  /// Outputs of these sizes in bytes. Fills the workspace where checks are on.
  GuardedMemory(llvm::ArrayRef<size_t> bytes, void *workspace, size_t workspaceBytes);

  /// Where the output with this number is written, which belongs at `data`.
  void *placeOf(size_t output, void *data);
  /// Brings outputs to where they belong. Internal where a guard was written to.
  llvm::Error finish(llvm::StringRef op, llvm::function_ref<const char *(size_t)> nameOf);

private:
  struct Copy {
    size_t output;
    void *data;
    std::vector<char> memory;
  };

  const llvm::ArrayRef<size_t> bytes;
  const bool isOn;
  llvm::SmallVector<Copy, 2> copies;
};

} // namespace tess::runtime::cpu
