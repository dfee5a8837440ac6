//===- BindSettings.h - settings that a binding is made for -----*- C++ -*-===//
#pragma once

#include "runtime/device/KernelSettings.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime {

/// Settings that a binding is made for: it serves calls as long as they are the same.
struct BindSettings {
  unsigned threads = 1;
  KernelSettings kernels;

  bool operator==(const BindSettings &) const = default;
  /// Settings of the process now.
  static BindSettings now() { return {numThreads(), kernelSettings()}; }
  /// A number that is the same for equal settings.
  uint64_t hash() const {
    return threads ^ uint64_t(kernels.winograd) << 32 ^ uint64_t(kernels.strategy) << 40 ^ kernels.workspaceLimit << 20;
  }
};

} // namespace tess::runtime
