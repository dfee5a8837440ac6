//===- DType.cpp - names of element types --------------------------------===//
#include "ops/DType.h"
#include "ops/Quantization.h"

namespace tess {

std::optional<DType> parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (name == kDTypes[i].shortName || name == kDTypes[i].numpyName)
      return DType(i);
  return parseQuantized(name);
}

} // namespace tess
