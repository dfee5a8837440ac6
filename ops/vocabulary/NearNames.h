//===- NearNames.h - the name that was meant --------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tess {

/// The end of an error about a name that is not among `known`: ", did you mean 'log1p'?", or nothing where none is
/// near.
std::string nearName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace tess
