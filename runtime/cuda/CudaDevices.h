//===- CudaDevices.h - the GPUs among the devices of the process --------------===//
#pragma once

#include "runtime/cuda/GpuFacts.h"
#include "llvm/Support/Error.h"

namespace tess::runtime::cuda {

/// Lets users name GPUs ("gpu0"); their number is that of the machine, 0 without a driver. For the start of a process.
void registerGpus();
/// The GPUs of this machine, by the process's driver; makes no context. NotFound or Internal where there is none.
llvm::Expected<GpuSystem> gpuSystem();

} // namespace tess::runtime::cuda
