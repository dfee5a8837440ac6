//===- Measure.h - how long kernels take ------------------------*- C++ -*-===//
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime::tuning {

/// The shortest time of a run of each kernel, in microseconds: runs in turn on the worker, over memory of their own
/// that holds ordinary numbers, for a tenth of a second or one run each beside a first one that does not count. The
/// kernels answer the request, on a device whose memory the host addresses. ResourceExhausted without memory.
llvm::Expected<std::vector<double>> measure(Device &device, const PrepareRequest &request,
                                            llvm::ArrayRef<PreparedRef> kernels);

} // namespace tess::runtime::tuning
