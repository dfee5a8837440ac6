//===- KernelDefs.cpp - the table of the processor's kernels --------------===//
#include "runtime/cpu/Kernels.h"

namespace tess::runtime {

namespace {

using namespace cpu;
using enum KernelKind; // lists of each are in runtime/README.md

constexpr KernelDef kTable[] = {
    {"matmul", Contraction, prepareMatmul, packMatmulInput, matmulVariants},
    {"add_products", Contraction, prepareAddProducts},
    {"conv1d", Contraction, prepareConv, packConvInput, convVariants},
    {"conv1d_backward_data", Contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
    {"conv1d_backward_weight", Contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
    {"conv_transpose1d", Contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
    {"conv2d", Contraction, prepareConv, packConvInput, convVariants},
    {"conv2d_backward_data", Contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
    {"conv2d_backward_weight", Contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
    {"conv_transpose2d", Contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
    {"conv3d", Contraction, prepareConv, packConvInput, convVariants},
    {"conv3d_backward_data", Contraction, prepareConvBackwardData, nullptr, convBackwardDataVariants},
    {"conv3d_backward_weight", Contraction, prepareConvBackwardWeight, nullptr, convBackwardWeightVariants},
    {"conv_transpose3d", Contraction, prepareConvTranspose, packConvTransposeInput, convTransposeVariants},
    {"integer_matmul", Contraction, prepareIntegerMatmul, packIntegerMatmulInput},
    {"integer_conv1d", Contraction, prepareIntegerConv, packByteConvInput},
    {"integer_conv2d", Contraction, prepareIntegerConv, packByteConvInput},
    {"integer_conv3d", Contraction, prepareIntegerConv, packByteConvInput},
    {"integer_conv_transpose1d", Contraction, prepareIntegerConvTranspose, packIntegerConvTransposeInput},
    {"integer_conv_transpose2d", Contraction, prepareIntegerConvTranspose, packIntegerConvTransposeInput},
    {"integer_conv_transpose3d", Contraction, prepareIntegerConvTranspose, packIntegerConvTransposeInput},
    {"quantized_conv2d", Contraction, prepareQuantizedConv, packByteConvInput},
    {"weight_only_linear", Contraction, prepareWeightOnlyLinear, packWeightOnlyInput},
    {"attention", Contraction, prepareAttention},
    {"attention_backward", Contraction, prepareAttentionBackward},
    {"custom", Library, prepareCustom},
    {"avg_pool2d", Library, prepareAvgPool2d},
    {"avg_pool2d_backward", Library, prepareAvgPool2dBackward},
    {"cholesky", Library, prepareCholesky},
    {"matinv", Library, prepareInverse},
    {"solve", Library, prepareSolve},
    {"solve_triangular", Library, prepareSolveTriangular},
    {"det", Library, prepareDeterminant},
    {"slogdet", Library, prepareDeterminant},
    {"qr", Library, prepareQr},
    {"eigh", Library, prepareEigh},
    {"svd", Library, prepareSvd},
    {"svdvals", Library, prepareSvd},
    {"fft_c2c", Library, prepareComplexFft},
    {"fft_r2c", Library, prepareRealFft},
    {"fft_c2r", Library, prepareInverseRealFft},
    {"max_pool2d", Sequential, prepareMaxPool2d},
    {"max_pool2d_backward", Sequential, prepareMaxPool2dBackward},
    {"index_get", Sequential, prepareIndexGet},
    {"index_set", Sequential, prepareIndexSet},
    {"index_add", Sequential, prepareIndexAdd},
    {"gather", Sequential, prepareGather},
    {"scatter", Sequential, prepareScatter},
    {"mask_get", Sequential, prepareMaskGet},
    {"non_zero", Sequential, prepareNonZero},
    {"extent", Sequential, prepareExtent},
    {"nms", Sequential, prepareNms},
    {"argsort", Sequential, prepareArgsort},
    {"topk", Sequential, prepareTopk},
    {"searchsorted", Sequential, prepareSearchSorted},
};

} // namespace

llvm::ArrayRef<KernelDef> cpuKernels() { return kTable; }

} // namespace tess::runtime
