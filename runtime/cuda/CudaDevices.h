//===- CudaDevices.h - the GPUs among the devices of the process --------------===//
#pragma once

namespace tess::runtime::cuda {

/// Lets users name GPUs ("gpu0"); their number is that of the machine, 0 without a driver. For the start of a process.
void registerGpus();

} // namespace tess::runtime::cuda
