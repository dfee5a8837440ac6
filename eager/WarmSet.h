//===- WarmSet.h - mini-graphs compiled before they are asked for -*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::eager {

/// Compiles `classes` (texts of OpClass, what matters most first) for `level` of the compiler's targets, and writes as
/// many as fit into `maxBytes` to the file at `path` (compiler/WarmSet.h). How many did.
llvm::Expected<size_t> writeWarmSet(llvm::StringRef path, llvm::StringRef level, llvm::ArrayRef<std::string> classes,
                                    uint64_t maxBytes);

} // namespace tess::eager
