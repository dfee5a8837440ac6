//===- KernelDefs.cpp - the table of the processor's kernels --------------===//
#include "runtime/cpu/Kernels.h"

namespace tess::runtime {

llvm::ArrayRef<KernelDef> cpuKernels() {
  using namespace cpu;
  constexpr bool library = false, sequential = true; // sequential kernels are listed in runtime/README.md
  static const KernelDef table[] = {
      {"matmul", library, prepareMatmul, packMatmulInput},
      {"conv1d", library, prepareConv, packConvInput},
      {"conv1d_backward_data", library, prepareConvBackwardData},
      {"conv1d_backward_weight", library, prepareConvBackwardWeight},
      {"conv_transpose1d", library, prepareConvTranspose, packConvTransposeInput},
      {"conv2d", library, prepareConv, packConvInput},
      {"conv2d_backward_data", library, prepareConvBackwardData},
      {"conv2d_backward_weight", library, prepareConvBackwardWeight},
      {"conv_transpose2d", library, prepareConvTranspose, packConvTransposeInput},
      {"conv3d", library, prepareConv, packConvInput},
      {"conv3d_backward_data", library, prepareConvBackwardData},
      {"conv3d_backward_weight", library, prepareConvBackwardWeight},
      {"conv_transpose3d", library, prepareConvTranspose, packConvTransposeInput},
      {"avg_pool2d", library, prepareAvgPool2d},
      {"avg_pool2d_backward", library, prepareAvgPool2dBackward},
      {"cholesky", library, prepareCholesky},
      {"matinv", library, prepareInverse},
      {"solve", library, prepareSolve},
      {"solve_triangular", library, prepareSolveTriangular},
      {"det", library, prepareDeterminant},
      {"slogdet", library, prepareDeterminant},
      {"qr", library, prepareQr},
      {"eigh", library, prepareEigh},
      {"svd", library, prepareSvd},
      {"svdvals", library, prepareSvd},
      {"fft_c2c", library, prepareComplexFft},
      {"fft_r2c", library, prepareRealFft},
      {"fft_c2r", library, prepareInverseRealFft},
      {"max_pool2d", sequential, prepareMaxPool2d},
      {"max_pool2d_backward", sequential, prepareMaxPool2dBackward},
      {"index_get", sequential, prepareIndexGet},
      {"index_set", sequential, prepareIndexSet},
      {"index_add", sequential, prepareIndexAdd},
      {"gather", sequential, prepareGather},
      {"scatter", sequential, prepareScatter},
      {"mask_get", sequential, prepareMaskGet},
      {"non_zero", sequential, prepareNonZero},
      {"extent", sequential, prepareExtent},
      {"nms", sequential, prepareNms},
      {"argsort", sequential, prepareArgsort},
      {"topk", sequential, prepareTopk},
      {"searchsorted", sequential, prepareSearchSorted},
  };
  return table;
}

} // namespace tess::runtime
