//===- ContractConv.h - convolutions by generated kernels -------*- C++ -*-===//
#pragma once

#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

constexpr const char *kContractConv = "own:window";

// Kernels for operands of one dtype, with something to compute.
llvm::Expected<PreparedRef> prepareContractConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareContractConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareContractConvBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareContractConvBackwardWeight(const PrepareRequest &request);

// Pack the weight of a convolution, and of a transposed one.
void packContractConvWeight(const PrepareRequest &request, const void *from, void *to);
void packContractConvTransposeWeight(const PrepareRequest &request, const void *from, void *to);

} // namespace tess::runtime::cpu
