//===- DType.cpp - names of element types --------------------------------===//
#include "ops/DType.h"

namespace tess {

std::optional<DType> parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (name == kDTypes[i].shortName || name == kDTypes[i].numpyName)
      return DType(i);
  return std::nullopt;
}

} // namespace tess
