//===- Accelerators.h - devices beyond those of every build -----*- C++ -*-===//
//
// For programs that users start, which link what this build has of them. Libraries
// know devices by name only (Devices.h), so nothing of a driver is linked there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/GpuFacts.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tess::runtime {

/// Lets users name accelerators ("gpu0"), at the start of a process. Opens no driver: that is done when such a name, or
/// the list of all devices, is first asked for.
void registerAccelerators();

/// The GPUs of this machine. Internal, `<what>: there is no GPU (<cause>)`, with the cause that the driver gives, or
/// that the build has no CUDA.
llvm::Expected<cuda::GpuSystem> gpuSystem(llvm::StringRef what);
/// For users: each kind of accelerator, and how many there are, as "gpu" and "1 (NVIDIA H200, sm_90, driver 13.0)" or
/// "none (<cause>)".
std::vector<std::pair<std::string, std::string>> acceleratorNotes();

} // namespace tess::runtime
