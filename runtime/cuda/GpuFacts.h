//===- GpuFacts.h - a driver's description of its GPUs ----------*- C++ -*-===//
//
// Includes nothing of NVIDIA's, so builds without the toolkit have it too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tess::runtime::cuda {

/// A GPU, as the driver describes it.
struct GpuFacts {
  std::string model;             // "NVIDIA H200"
  uint64_t memoryBytes = 0;      // all of its memory, free or not
  unsigned major = 0, minor = 0; // of its compute capability

  /// The name that PTX is compiled for: "sm_90".
  std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

/// The GPUs of a machine, and two versions of CUDA, each 1000 * major + 10 * minor.
struct GpuSystem {
  std::vector<GpuFacts> gpus; // at least one, by number
  int toolkitVersion = 0;     // of the headers that this build was compiled with
  int driverVersion = 0;      // the newest that the driver runs
};

} // namespace tess::runtime::cuda
