//===- HostKernels.h - the host's kernels on other devices ------*- C++ -*-===//
//
// For a device that has no library or sequential kernel of its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/KernelTable.h"

namespace tess::runtime {

/// The rows of the host's table as those of a device whose memory the host does not address: operands are copied to the
/// host and results back by RunContext::stream, which a call waits for. Operands are always row-major.
llvm::ArrayRef<KernelDef> hostKernels();

} // namespace tess::runtime
