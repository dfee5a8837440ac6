//===- SimKernel.h - a kernel that the emulated accelerator has loaded ----===//
#pragma once

#include "runtime/device/Device.h"

#include <string>

namespace tess::runtime {

/// What the handle of a launch stands for.
struct SimKernel {
  GridKernelFn fn;
  GridEntry grid;
  std::string name;

  /// Runs what one thread does, or one team.
  TESS_CALLS_KERNELS void call(void *const *pointers, const int64_t *dims, int64_t count, int64_t block, int64_t blocks,
                               int64_t thread, int64_t threads) const {
    fn(pointers, dims, count, block, blocks, thread, threads);
  }
};

} // namespace tess::runtime
