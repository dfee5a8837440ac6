//===- Driver.h - the CUDA driver, loaded at run time -----------*- C++ -*-===//
//
// libcuda.so.1 as a table of the functions that we call, each a member of its
// own name: `driver.check(driver.cuStreamCreate(...), "cuStreamCreate")`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/GpuFacts.h"
#include "runtime/cuda/ToolkitNames.h"
#include "runtime/device/SharedLibrary.h"

#include <cuda.h>

#include <memory>

namespace tess::runtime::cuda {

// Versioned names, as the library exports them: cuda.h maps the plain ones with macros.
#define TESS_CUDA_FUNCTIONS(X)                                                                                         \
  X(cuInit)                                                                                                            \
  X(cuGetErrorName)                                                                                                    \
  X(cuGetErrorString)                                                                                                  \
  X(cuDriverGetVersion)                                                                                                \
  X(cuDeviceGet)                                                                                                       \
  X(cuDeviceGetCount)                                                                                                  \
  X(cuDeviceGetName)                                                                                                   \
  X(cuDeviceGetAttribute)                                                                                              \
  X(cuDeviceTotalMem_v2)                                                                                               \
  X(cuDevicePrimaryCtxRetain)                                                                                          \
  X(cuDevicePrimaryCtxRelease_v2)                                                                                      \
  X(cuCtxSetCurrent)                                                                                                   \
  X(cuCtxSynchronize)                                                                                                  \
  X(cuMemAlloc_v2)                                                                                                     \
  X(cuMemFree_v2)                                                                                                      \
  X(cuMemcpyHtoDAsync_v2)                                                                                              \
  X(cuMemcpyDtoHAsync_v2)                                                                                              \
  X(cuMemcpyDtoDAsync_v2)                                                                                              \
  X(cuMemsetD2D8Async)                                                                                                 \
  X(cuStreamCreate)                                                                                                    \
  X(cuStreamDestroy_v2)                                                                                                \
  X(cuStreamSynchronize)                                                                                               \
  X(cuStreamWaitEvent)                                                                                                 \
  X(cuEventCreate)                                                                                                     \
  X(cuEventDestroy_v2)                                                                                                 \
  X(cuEventQuery)                                                                                                      \
  X(cuEventRecord)                                                                                                     \
  X(cuModuleLoadDataEx)                                                                                                \
  X(cuModuleUnload)                                                                                                    \
  X(cuModuleGetFunction)                                                                                               \
  X(cuFuncGetParamInfo)                                                                                                \
  X(cuLaunchKernel)

/// Immutable once loaded; any number of threads may use it.
class Driver {
public:
  /// The driver of this process: loaded and initialised on first use, kept to the end. NotFound when the machine has
  /// none, Internal when it does not start (no GPU); the answer stays the same for the life of the process.
  static llvm::Expected<const Driver *> get();
  /// Opens the first of `names` and finds every function; does not call any.
  static llvm::Expected<std::unique_ptr<Driver>> load(llvm::ArrayRef<std::string> names);

  /// Success, or `cuda: <call> must succeed, got <error>`; ResourceExhausted for want of memory, else Internal.
  llvm::Error check(CUresult result, const char *call) const;
  /// GPUs of the machine, at least 0.
  llvm::Expected<int> deviceCount() const;
  /// GPU number `ordinal`, below deviceCount(); makes no context.
  llvm::Expected<GpuFacts> facts(int ordinal) const;
  /// Every GPU, and the versions. NotFound where there is none.
  llvm::Expected<GpuSystem> describe() const;

#define TESS_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  TESS_CUDA_FUNCTIONS(TESS_CUDA_MEMBER)
#undef TESS_CUDA_MEMBER

private:
  Driver() = default;
};

} // namespace tess::runtime::cuda
