//===- Registry.h - libraries of operators ----------------------*- C++ -*-===//
#pragma once

#include "ops/custom/CustomOp.h"

#include <vector>

namespace tess::custom {

/// Opens the library at `path` and adds its operators; a library that is open is given again. NotFound where it cannot
/// be opened or exports none, Unimplemented for another ABI, InvalidArgument for what its operators say, and where
/// a name is taken. Then none of them is added. Thread-safe.
llvm::Expected<std::vector<const Operator *>> loadLibrary(llvm::StringRef path);
/// Adds the operators of a library, or of functions of this process. They live for ever.
llvm::Expected<std::vector<const Operator *>> addLibrary(const TessLibrary &library, llvm::StringRef path = "");

} // namespace tess::custom
