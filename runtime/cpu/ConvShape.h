//===- ConvShape.h - sizes of a two-dimensional window ----------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime::cpu {

/// A window over (N, C, H, W). Channels are per group. For pooling: one group, in = out channels.
struct ConvShape {
  int64_t batch, groups, in, out, height, width, outHeight, outWidth;
  int64_t kernel[2], stride[2], pad[2], dilation[2];

  /// Multiplications of the convolution.
  int64_t products() const { return batch * groups * out * outHeight * outWidth * in * kernel[0] * kernel[1]; }
  /// Elements in the windows of a pooling; an element counts in each window that has it.
  int64_t windowElements() const { return batch * in * outHeight * outWidth * kernel[0] * kernel[1]; }
};

/// `x`, `weight`, `result`: shapes of the forward convolution's operands, whichever of them the operator computes. The
/// weight is (out, in / groups, kh, kw) or (groups, out / groups, in / groups, kh, kw).
ConvShape convShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> weight,
                    llvm::ArrayRef<int64_t> result);
/// The shape of a pooling with operand `x` and `result`.
ConvShape poolShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result);
} // namespace tess::runtime::cpu
