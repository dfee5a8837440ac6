//===- OwnPool.h - pooling where oneDNN has none ----------------*- C++ -*-===//
#pragma once

#include "runtime/device/KernelTable.h"

namespace tess::runtime::cpu {

/// Time of an element of a window on one thread, by our own loops and by oneDNN. `tools/dev bench thresholds` measures
/// both.
constexpr int64_t kOwnPoolPicoseconds = 1000;
constexpr int64_t kPoolPicoseconds = 200;
/// The same of averages along rows.
constexpr int64_t kRowPoolPicoseconds = 200;

/// The average and its gradient by our own loops, for dtypes that oneDNN does not compute.
llvm::Expected<PreparedRef> prepareOwnAvgPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnAvgPool2dBackward(const PrepareRequest &request);
/// The average along the rows of float32 images, of windows that have one row each.
llvm::Expected<PreparedRef> prepareRowAverage(const PrepareRequest &request);

} // namespace tess::runtime::cpu
