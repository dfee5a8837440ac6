//===- Table.cpp - the processor's kernels --------------------------------===//
#include "runtime/cpu/Kernels.h"

namespace tess::runtime {

llvm::ArrayRef<KernelDef> cpuKernels() {
  using namespace cpu;
  constexpr bool library = false;
  static const KernelDef table[] = {
      {"matmul", library, prepareMatmul},
      {"conv2d", library, prepareConv2d},
      {"conv2d_backward_data", library, prepareConv2dBackwardData},
      {"conv2d_backward_weight", library, prepareConv2dBackwardWeight},
      {"avg_pool2d", library, prepareAvgPool2d},
      {"avg_pool2d_backward", library, prepareAvgPool2dBackward},
      {"max_pool2d", true, prepareMaxPool2d},
      {"max_pool2d_backward", true, prepareMaxPool2dBackward},
  };
  return table;
}

} // namespace tess::runtime
