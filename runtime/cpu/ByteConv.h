//===- ByteConv.h - convolutions of bytes -----------------------*- C++ -*-===//
//
// Parts that kernels of exact sums and of quantized results have in common.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteDepthwise.h"
#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

constexpr const char *kByteSums = "own:bytes";

/// The packing of images whose channels lie side by side.
constexpr const char *kChannelsLast = "channels-last";
/// Reorders a row-major image of bytes so.
void packChannelsLast(const TensorMeta &meta, const void *from, void *to);

/// The zero point of an exact convolution's call, its third operand.
inline int32_t zeroOf(llvm::ArrayRef<void *> inputs) {
  return inputs.size() > 2 ? *static_cast<const int32_t *>(inputs[2]) : 0;
}

/// Whether an input of a request comes packed.
bool isPacked(const PrepareRequest &request, unsigned input);

/// Sums by `runtime/contract`. Operands 0 and 1 are the images and the weight.
contract::ByteWindowsShape byteWindowsShape(const PrepareRequest &request, const ConvShape &shape);
/// Whether it has such sums: over panels of weights, or over vectors of channels.
bool hasByteWindows(const PrepareRequest &request, const ConvShape &shape);
bool hasByteDepthwise(const PrepareRequest &request, const ConvShape &shape);
/// The packings of the images and of the weight of a ByteWindows or a ByteDepthwise.
template <typename Sums> std::vector<Packing> byteConvPackings(const Sums &sums) {
  return {{kChannelsLast}, {sums.weightText(), std::nullopt, sums.weightBytes()}};
}

/// Sums by plain loops, plane after plane: a convolution, or the transposed one. `x` is stored as `dtype`.
void sumPlainly(const ConvShape &shape, bool isTransposed, DType dtype, unsigned threads, const void *x,
                const int8_t *weight, int32_t zero, uint32_t *out);

} // namespace tess::runtime::cpu
