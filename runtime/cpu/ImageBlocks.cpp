//===- ImageBlocks.cpp - images in blocks of channels ---------------------===//
#include "runtime/cpu/ImageBlocks.h"

#include <cstring>

namespace tess::runtime::cpu {

static constexpr int64_t kBlock = kLanes;

static int64_t planeOf(const TensorMeta &meta) { return meta.numElements() / (meta.shape[0] * meta.shape[1]); }

Packing blocksOf(const TensorMeta &meta) {
  return {kBlocks, ChannelOrder{{meta.shape[0], meta.shape[1] / kBlock, planeOf(meta) * kBlock, 1}, kBlock}};
}

void packBlocks(const TensorMeta &meta, const void *from, void *to) {
  const int64_t plane = planeOf(meta), width = byteWidth(meta.dtype);
  auto *source = static_cast<const char *>(from);
  auto *target = static_cast<char *>(to);
  for (int64_t channel = 0; channel < meta.shape[0] * meta.shape[1]; ++channel)
    for (int64_t i = 0; i < plane; ++i, source += width)
      std::memcpy(target + ((channel / kBlock * plane + i) * kBlock + channel % kBlock) * width, source, size_t(width));
}

Blocking blockingOf(const PrepareRequest &request, unsigned operandAt, unsigned weightAt) {
  if (request.inputPackings.empty())
    return {false, !request.outputPacking.empty(), false};
  return {!request.inputPackings[operandAt].empty(), !request.outputPacking.empty(),
          !request.inputPackings[weightAt].empty()};
}

static ImageSizes sizesOf(const ConvShape &shape, int64_t SpatialAxis::*size) {
  return {shape.axes[0].*size, shape.axes[1].*size, shape.axes[2].*size};
}

ImageSizes imageSizes(const ConvShape &shape) { return sizesOf(shape, &SpatialAxis::size); }
ImageSizes resultSizes(const ConvShape &shape) { return sizesOf(shape, &SpatialAxis::results); }

contract::ImageForm imageForm(const ImageSizes &sizes, int64_t channels, bool isBlocked) {
  const int64_t plane = sizes[0] * sizes[1] * sizes[2], block = isBlocked ? kBlock : 1;
  return {channels * plane, plane * block, block, {sizes[1] * sizes[2] * block, sizes[2] * block, block}};
}

} // namespace tess::runtime::cpu
