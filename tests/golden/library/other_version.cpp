//===- other_version.cpp - a library of another border --------------------===//
#include "tessera/custom_op_abi.h"

static const TessLibrary library = {sizeof library, TESS_CUSTOM_ABI + 1, "other", "1.0", nullptr, 0};

/// Gives its library to every Tessera, as those of custom_op.h do; with SERVES_ITS_OWN only to one of its version.
// NOLINTNEXTLINE(readability-identifier-naming): Tessera looks this name up
extern "C" const TessLibrary *tessera_library([[maybe_unused]] uint32_t abi) {
#ifdef SERVES_ITS_OWN
  return abi == library.abi ? &library : nullptr;
#else
  return &library;
#endif
}
