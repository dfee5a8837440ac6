//===- LookupLaunch.h - kernels that look elements up -----------*- C++ -*-===//
#pragma once

#include "runtime/bind/Commands.h"

namespace tess::runtime {

/// Launches the kernel of a command whose step has lookups and waits for its report, which lies in `report` on the
/// device. OutOfRange for the first wrong index in the order of the kernel.
llvm::Error launchLookup(const Commands &bound, const Command &command, void *report, Stream &stream);

} // namespace tess::runtime
