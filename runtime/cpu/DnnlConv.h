//===- DnnlConv.h - convolutions by oneDNN ----------------------*- C++ -*-===//
#pragma once

#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

// Kernels for operands of one dtype that oneDNN has, with something to compute.
llvm::Expected<PreparedRef> prepareDnnlConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDnnlConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDnnlConvBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDnnlConvBackwardWeight(const PrepareRequest &request);

/// Packs an input of a convolution, or of a transposed one, as KernelDef::pack does.
llvm::Error packDnnlConvInput(const PrepareRequest &request, const ConvShape &shape, unsigned input,
                              llvm::StringRef packing, const void *from, void *to);

} // namespace tess::runtime::cpu
