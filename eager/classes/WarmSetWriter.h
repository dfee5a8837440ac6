//===- WarmSetWriter.h - a warm set from classes ----------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::eager {

/// Compiles `classes` (texts of OpClass, the most important first) for each of `levels`, and writes a warm set for each
/// level into `folder` (compiler/cache/WarmSet.h). Every file has the same classes: as many as fit into `maxBytes`.
/// Returns how many those are.
llvm::Expected<size_t> writeWarmSet(llvm::StringRef folder, llvm::ArrayRef<std::string> levels,
                                    llvm::ArrayRef<std::string> classes, uint64_t maxBytes);

} // namespace tess::eager
