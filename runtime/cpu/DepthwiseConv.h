//===- DepthwiseConv.h - convolutions of single channels --------*- C++ -*-===//
#pragma once

#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

constexpr const char *kDepthwiseConv = "own:depthwise";

/// Whether each group of a convolution has one channel of images and a few of results, so that it is hardly a product
/// of matrices.
bool isDepthwise(const ConvShape &shape);

// Kernels for such convolutions, with operands of one dtype and something to compute.
llvm::Expected<PreparedRef> prepareDepthwiseConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDepthwiseConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDepthwiseConvBackwardData(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareDepthwiseConvBackwardWeight(const PrepareRequest &request);

} // namespace tess::runtime::cpu
