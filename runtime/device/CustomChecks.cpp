//===- CustomChecks.cpp - whether libraries' operators are checked --------===//
#include "runtime/device/CustomChecks.h"

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <cstdlib>

namespace tess::runtime {

static std::atomic<bool> &checks() {
  static std::atomic<bool> on = [] {
    const char *text = std::getenv("TESS_CHECK_CUSTOM_OPS");
    return text && llvm::StringRef(text) == "1";
  }();
  return on;
}

void setCustomChecks(bool on) { checks() = on; }
bool hasCustomChecks() { return checks(); }

} // namespace tess::runtime
