//===- KernelDefs.cpp - the table of the processor's kernels --------------===//
#include "runtime/cpu/Kernels.h"

namespace tess::runtime {

llvm::ArrayRef<KernelDef> cpuKernels() {
  using namespace cpu;
  constexpr KernelKind contraction = KernelKind::Contraction, library = KernelKind::Library,
                       sequential = KernelKind::Sequential; // lists of each are in runtime/README.md
  static const KernelDef table[] = {
      {"matmul", contraction, prepareMatmul, packMatmulInput, matmulVariants},
      {"add_products", contraction, prepareAddProducts},
      {"conv1d", contraction, prepareConv, packConvInput, convVariants},
      {"conv1d_backward_data", contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
      {"conv1d_backward_weight", contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
      {"conv_transpose1d", contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
      {"conv2d", contraction, prepareConv, packConvInput, convVariants},
      {"conv2d_backward_data", contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
      {"conv2d_backward_weight", contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
      {"conv_transpose2d", contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
      {"conv3d", contraction, prepareConv, packConvInput, convVariants},
      {"conv3d_backward_data", contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
      {"conv3d_backward_weight", contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
      {"conv_transpose3d", contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
      {"integer_matmul", contraction, prepareIntegerMatmul, packIntegerMatmulInput},
      {"integer_conv1d", contraction, prepareIntegerConv},
      {"integer_conv2d", contraction, prepareIntegerConv},
      {"integer_conv3d", contraction, prepareIntegerConv},
      {"integer_conv_transpose1d", contraction, prepareIntegerConvTranspose},
      {"integer_conv_transpose2d", contraction, prepareIntegerConvTranspose},
      {"integer_conv_transpose3d", contraction, prepareIntegerConvTranspose},
      {"attention", contraction, prepareAttention},
      {"attention_backward", contraction, prepareAttentionBackward},
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
