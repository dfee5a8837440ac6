//===- AddingKernel.h - a kernel that adds to its outputs -------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime {

/// `inner` with Req::Add: it writes those outputs to the workspace, from where they are added, rounded as the `add`
/// operator. One way for every kernel, so that accumulating equals a call and an addition bit for bit.
PreparedRef makeAddingKernel(PreparedRef inner, llvm::ArrayRef<TensorMeta> outputs, llvm::ArrayRef<Req> reqs);

} // namespace tess::runtime
