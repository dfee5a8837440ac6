//===- ImageBuilder.h - object file to code image ---------------*- C++ -*-===//
#pragma once

#include "runtime/schema/Image.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tess::compiler {

/// Flattens an x86-64 ELF object into one position-independent image: code and constants side by side, PC-relative
/// relocations applied. `entries` have names and scratch sizes; their offsets are filled in. Fails on writable data, on
/// other relocations, and on an outside symbol, named in the text.
llvm::Expected<runtime::Image> buildImage(llvm::StringRef object, std::vector<runtime::KernelEntry> entries,
                                          llvm::StringRef features);

} // namespace tess::compiler
