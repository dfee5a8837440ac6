//===- Verification.h - whether MLIR's verifier runs ------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdlib>

namespace tess::compiler {

/// Whether the environment has TESS_VERIFY=1, which every test has: MLIR's verifier then runs over each graph and
/// kernel.
inline bool verifiesByDefault() {
  static const bool wanted = [] {
    const char *value = std::getenv("TESS_VERIFY");
    return value && llvm::StringRef(value) == "1";
  }();
  return wanted;
}

} // namespace tess::compiler
