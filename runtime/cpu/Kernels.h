//===- Kernels.h - prepare functions of the processor's kernels -*- C++ -*-===//
//
// One function per table entry; see KernelTable.h for the contract.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/KernelTable.h"

namespace tess::runtime::cpu {

// Matmul.cpp, OwnMatmul.cpp: float32 and bfloat16 by oneDNN, the rest by our own loops with a fixed order of summation.
llvm::Expected<PreparedRef> prepareMatmul(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnMatmul(const PrepareRequest &request);
// IntegerMatmul.cpp, IntegerConv.cpp: bytes, exactly.
llvm::Expected<PreparedRef> prepareIntegerMatmul(const PrepareRequest &request);
llvm::Error packIntegerMatmulInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing,
                                   const void *from, void *to);
llvm::Expected<PreparedRef> prepareIntegerConv(const PrepareRequest &request);
/// Packs an image, or a weight as input 1.
llvm::Error packByteConvInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                              void *to);
llvm::Expected<PreparedRef> prepareIntegerConvTranspose(const PrepareRequest &request);
llvm::Error packIntegerConvTransposeInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing,
                                          const void *from, void *to);
// WeightOnlyLinear.cpp
llvm::Expected<PreparedRef> prepareWeightOnlyLinear(const PrepareRequest &request);
llvm::Error packWeightOnlyInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing,
                                const void *from, void *to);
// QuantizedConv.cpp
llvm::Expected<PreparedRef> prepareQuantizedConv(const PrepareRequest &request);
// CustomKernel.cpp: operators of libraries.
llvm::Expected<PreparedRef> prepareCustom(const PrepareRequest &request);
// AddProducts.cpp
llvm::Expected<PreparedRef> prepareAddProducts(const PrepareRequest &request);

// Conv.cpp, OwnConv.cpp: one to three spatial axes.
llvm::Expected<PreparedRef> prepareConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareConvBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareConvBackwardWeight(const PrepareRequest &request);
llvm::Error packMatmulInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                            void *to);
llvm::Error packConvInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                          void *to);
llvm::Error packConvTransposeInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing,
                                   const void *from, void *to);
std::vector<KernelVariant> matmulVariants(const PrepareRequest &request);
std::vector<KernelVariant> convVariants(const PrepareRequest &request);
std::vector<KernelVariant> convTransposeVariants(const PrepareRequest &request);
std::vector<KernelVariant> convBackwardDataVariants(const PrepareRequest &request);
std::vector<KernelVariant> convBackwardWeightVariants(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConvBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConvBackwardWeight(const PrepareRequest &request);

// Attention.cpp: attention whose weights are never in memory.
llvm::Expected<PreparedRef> prepareAttention(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareAttentionBackward(const PrepareRequest &request);

// Pool.cpp, OwnPool.cpp: averages by oneDNN, maxima by our own loops, since oneDNN's lose NaN.
llvm::Expected<PreparedRef> prepareMaxPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareAvgPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareAvgPool2dBackward(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareMaxPool2dBackward(const PrepareRequest &request);

// Lapack.cpp: matrices in float64, or in float32.
llvm::Expected<PreparedRef> prepareCholesky(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareInverse(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareSolve(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareSolveTriangular(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDeterminant(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareQr(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareEigh(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareSvd(const PrepareRequest &request);

// Fft.cpp: transforms along one axis, by ducc0.
llvm::Expected<PreparedRef> prepareComplexFft(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareRealFft(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareInverseRealFft(const PrepareRequest &request);

// IndexArrays.cpp, Gather.cpp, Mask.cpp, Nms.cpp, Sort.cpp.
llvm::Expected<PreparedRef> prepareIndexGet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareIndexSet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareIndexAdd(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareGather(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareScatter(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareMaskGet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareNonZero(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareExtent(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareNms(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareArgsort(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareTopk(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareSearchSorted(const PrepareRequest &request);

} // namespace tess::runtime::cpu
