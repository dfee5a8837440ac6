//===- OwnPool.h - pooling where oneDNN has none ----------------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime::cpu {

llvm::Expected<PreparedRef> prepareOwnAvgPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnAvgPool2dBackward(const PrepareRequest &request);

} // namespace tess::runtime::cpu
