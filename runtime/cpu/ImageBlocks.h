//===- ImageBlocks.h - images in blocks of channels -------------*- C++ -*-===//
//
// Kernels of convolutions hand images on with kLanes channels side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

/// The packing of images in blocks of kLanes channels.
constexpr const char *kBlocks = "channels16";

/// Whether so many channels are in whole blocks.
inline bool hasBlocks(int64_t channels) { return channels % int64_t(kLanes) == 0; }

/// That packing of an image.
Packing blocksOf(const TensorMeta &meta);
/// Reorders a row-major image into blocks.
void packBlocks(const TensorMeta &meta, const void *from, void *to);

/// How the operands of a call come: images in blocks, the weight packed.
struct Blocking {
  bool operand = false, result = false, weight = false;
};
/// `operandAt`, `weightAt`: which inputs these are.
Blocking blockingOf(const PrepareRequest &request, unsigned operandAt, unsigned weightAt);

using ImageSizes = std::array<int64_t, ConvShape::kMostAxes>;
ImageSizes imageSizes(const ConvShape &shape);
ImageSizes resultSizes(const ConvShape &shape);

/// Images of `channels` channels, row-major or in blocks.
contract::ImageForm imageForm(const ImageSizes &sizes, int64_t channels, bool isBlocked);

} // namespace tess::runtime::cpu
