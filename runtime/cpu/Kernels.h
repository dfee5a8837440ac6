//===- Kernels.h - prepare functions of the processor's kernels -*- C++ -*-===//
//
// One function per table entry; see KernelTable.h for the contract.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime::cpu {

// Matmul.cpp, OwnMatmul.cpp: float32 and bfloat16 by oneDNN, the rest by our own loops with a fixed order of summation.
llvm::Expected<PreparedRef> prepareMatmul(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnMatmul(const PrepareRequest &request);

// Conv.cpp, OwnConv.cpp.
llvm::Expected<PreparedRef> prepareConv2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareConv2dBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareConv2dBackwardWeight(const PrepareRequest &request);
llvm::Error packConv2dInput(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                            void *to);
llvm::Expected<PreparedRef> prepareOwnConv2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConv2dBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareOwnConv2dBackwardWeight(const PrepareRequest &request);

// Pool.cpp, OwnPool.cpp: averages by oneDNN, maxima by our own loops, since oneDNN's lose NaN.
llvm::Expected<PreparedRef> prepareMaxPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareAvgPool2d(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareAvgPool2dBackward(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareMaxPool2dBackward(const PrepareRequest &request);

// IndexArrays.cpp, Gather.cpp, Mask.cpp, Sort.cpp.
llvm::Expected<PreparedRef> prepareIndexGet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareIndexSet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareIndexAdd(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareGather(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareScatter(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareMaskGet(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareNonZero(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareArgsort(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareTopk(const PrepareRequest &request);

} // namespace tess::runtime::cpu
