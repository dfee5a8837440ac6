//===- Accelerators.cpp - devices beyond those of every build -------------===//
#include "runtime/Accelerators.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#ifdef TESS_CUDA_TOOLKIT
#include "runtime/cuda/CudaDevices.h"
#endif

namespace tess::runtime {

#ifdef TESS_CUDA_TOOLKIT

void registerAccelerators() { cuda::registerGpus(); }

static llvm::Expected<cuda::GpuSystem> describeGpus() { return cuda::gpuSystem(); }

#else

void registerAccelerators() {}

static llvm::Expected<cuda::GpuSystem> describeGpus() {
  return makeError(ErrorCode::NotFound, "built without the CUDA toolkit");
}

#endif

llvm::Expected<cuda::GpuSystem> gpuSystem(llvm::StringRef what) {
  llvm::Expected<cuda::GpuSystem> system = describeGpus();
  if (!system)
    return makeError(ErrorCode::Internal, what + ": there is no GPU (" + takeError(system.takeError()).second + ")");
  return system;
}

static std::string gpuNote() {
  llvm::Expected<cuda::GpuSystem> system = describeGpus();
  if (!system)
    return "none (" + takeError(system.takeError()).second + ")";
  std::vector<std::string> parts; // each model once
  for (const cuda::GpuFacts &gpu : system->gpus)
    if (std::string text = gpu.model + ", " + gpu.architecture(); !llvm::is_contained(parts, text))
      parts.push_back(text);
  int version = system->driverVersion;
  parts.push_back("driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  return std::to_string(system->gpus.size()) + " (" + llvm::join(parts, ", ") + ")";
}

std::vector<std::pair<std::string, std::string>> acceleratorNotes() { return {{"gpu", gpuNote()}}; }

} // namespace tess::runtime
