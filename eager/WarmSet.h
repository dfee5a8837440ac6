//===- WarmSet.h - mini-graphs compiled before they are asked for -*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::eager {

/// Compiles `classes` (texts of OpClass, what matters most first) for each of `levels` of the compiler's targets, and
/// writes as many as fit into `maxBytes` to a file for each level in `folder` (compiler/WarmSet.h), the same to all.
/// How many did.
llvm::Expected<size_t> writeWarmSet(llvm::StringRef folder, llvm::ArrayRef<std::string> levels,
                                    llvm::ArrayRef<std::string> classes, uint64_t maxBytes);

} // namespace tess::eager
