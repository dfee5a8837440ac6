//===- BroadcastCounts.h - shapes of which data decides sizes ---*- C++ -*-===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"

namespace tess {

/// Broadcasts as broadcastInto() does, but for two sizes that data decides: these may differ where one is 1, so the
/// result's size follows from both.
bool broadcastCounts(Shape &shape, llvm::ArrayRef<int64_t> other);

} // namespace tess
