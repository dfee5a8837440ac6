//===- CudaModule.h - PTX or machine code, loaded on a GPU ------*- C++ -*-===//
//
// How our generated kernels are called: GpuParameter in runtime/schema/KernelAbi.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/CudaDevice.h"

namespace tess::runtime::cuda {

/// A loaded module; unloaded when it goes, which must be after its kernels' work and before the device.
class CudaModule {
public:
  /// Loads PTX text, which the driver compiles, or a cubin. InvalidArgument with the driver's log
  /// when it is not good for this GPU.
  static llvm::Expected<std::unique_ptr<CudaModule>> load(CudaDevice &device, llvm::StringRef code);
  ~CudaModule();
  CudaModule(const CudaModule &) = delete;
  CudaModule &operator=(const CudaModule &) = delete;

  /// The handle to launch a kernel by (KernelLaunch::fn); no host may call it. NotFound when the module has no such
  /// kernel, InvalidArgument when its parameters are not those of GpuParameter.
  /// `team`: GridEntry::team.
  llvm::Expected<KernelFn> kernel(const std::string &name, unsigned team = 1);

private:
  CudaModule(CudaDevice &device, CUmodule module) : device(device), module(module) {}

  CudaDevice &device;
  CUmodule module;
  std::vector<KernelFn> handles;
};

} // namespace tess::runtime::cuda
