//===- NearNames.cpp - the name that was meant ----------------------------===//
#include "ops/vocabulary/NearNames.h"

#include <algorithm>

namespace tess {

std::string nearName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known) {
  llvm::StringRef best;
  unsigned least = std::max<unsigned>(2, unsigned(name.size()) / 3) + 1;
  for (llvm::StringRef each : known)
    if (unsigned distance = name.edit_distance(each, true, least); distance < least) {
      best = each;
      least = distance;
    }
  return best.empty() ? "" : ", did you mean '" + best.str() + "'?";
}

} // namespace tess
