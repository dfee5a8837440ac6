//===- ByteConv.h - convolutions of bytes -----------------------*- C++ -*-===//
//
// Parts that kernels of exact sums and of quantized results have in common.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteWindows.h"
#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

constexpr const char *kByteWindows = "own:bytes";

/// The packing of images whose channels lie side by side.
constexpr const char *kChannelsLast = "channels-last";
/// Reorders a row-major image of bytes so.
void packChannelsLast(const TensorMeta &meta, const void *from, void *to);

/// Whether an input of a request comes packed.
bool isPacked(const PrepareRequest &request, unsigned input);

/// Sums by `runtime/contract`. Operands 0 and 1 are the images and the weight.
contract::ByteWindowsShape byteWindowsShape(const PrepareRequest &request, const ConvShape &shape);
/// Whether it has such sums.
bool hasByteWindows(const PrepareRequest &request, const ConvShape &shape);
/// The packings of its images and weight.
std::vector<Packing> byteWindowsPackings(const contract::ByteWindows &windows);

/// Sums by plain loops, plane after plane: a convolution, or the transposed one. `x` is stored as `dtype`.
void sumPlainly(const ConvShape &shape, bool isTransposed, DType dtype, unsigned threads, const void *x,
                const int8_t *weight, int32_t zero, uint32_t *out);

} // namespace tess::runtime::cpu
