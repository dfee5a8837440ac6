//===- WinogradConv.h - convolutions of 3 x 3 at points ---------*- C++ -*-===//
#pragma once

#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

/// Whether the result, or the image, of a convolution is computed so: windows of 3 x 3 elements, one element apart, of
/// images with 14 x 14 results and 32 channels at least, in whole blocks.
bool takesWinograd(const ConvShape &shape, DType dtype, bool computesImage);

// Kernels for such shapes.
llvm::Expected<PreparedRef> prepareWinogradConv(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareWinogradConvTranspose(const PrepareRequest &request);
llvm::Expected<PreparedRef> prepareWinogradConvBackwardData(const PrepareRequest &request);

/// Packs the weight of a convolution, or of a transposed one.
void packWinogradWeight(const PrepareRequest &request, const ConvShape &shape, bool computesImage, const void *from,
                        void *to);

} // namespace tess::runtime::cpu
