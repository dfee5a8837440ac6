//===- WinogradConv.cpp - convolutions of 3 x 3 at points -----------------===//
#include "runtime/cpu/WinogradConv.h"

#include "runtime/contract/Winograd.h"
#include "runtime/cpu/ImageBlocks.h"
#include "runtime/cpu/Kernels.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::cpu {

using contract::Winograd;
using contract::WinogradShape;

namespace {

constexpr int64_t kFewestChannels = 32, kFewestResults = 14;

/// A convolution of the image, or of its result with flipped places, which gives the image.
WinogradShape winogradShape(const ConvShape &s, DType dtype, bool computesImage, Blocking blocking) {
  const ImageSizes image = imageSizes(s), result = resultSizes(s);
  const ImageSizes &from = computesImage ? result : image, &to = computesImage ? image : result;
  WinogradShape shape{};
  shape.dtype = dtype;
  shape.batch = s.batch;
  shape.in = computesImage ? s.out : s.in;
  shape.out = computesImage ? s.in : s.out;
  for (unsigned axis = 0; axis < 2; ++axis) {
    const SpatialAxis &along = s.axes[1 + axis];
    shape.size[axis] = from[1 + axis];
    shape.results[axis] = to[1 + axis];
    shape.pad[axis] = computesImage ? along.kernel - 1 - along.pad : along.pad;
  }
  shape.image = imageForm(from, shape.in, blocking.operand);
  shape.result = imageForm(to, shape.out, blocking.result);
  const int64_t places = s.window();
  shape.weightIn = computesImage ? s.in * places : places;
  shape.weightOut = computesImage ? places : s.in * places;
  shape.flipsPlaces = computesImage;
  shape.isTransformed = blocking.weight;
  return shape;
}

class WinogradConv : public PreparedKernel {
public:
  WinogradConv(const PrepareRequest &request, const ConvShape &shape, bool computesImage, unsigned imageAt,
               unsigned weightAt)
      : imageAt(imageAt), weightAt(weightAt),
        winograd(winogradShape(shape, request.outputs[0].dtype, computesImage, blockingOf(request, imageAt, weightAt)),
                 request.threads) {
    implementationName = kWinograd;
    threadCount = winograd.threads();
    workspace = winograd.workspaceBytes();
    inputPackings.resize(2);
    inputPackings[imageAt] = blocksOf(request.inputs[imageAt]);
    inputPackings[weightAt] = {winograd.weightText(), std::nullopt, winograd.weightBytes()};
    resultPacking = blocksOf(request.outputs[0]);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    winograd.run(inputs[imageAt], inputs[weightAt], outputs[0], context.workspace);
    return llvm::Error::success();
  }

private:
  const unsigned imageAt, weightAt;
  const Winograd winograd;
};

} // namespace

bool takesWinograd(const ConvShape &s, DType dtype, bool computesImage) {
  auto isPlain = [](const SpatialAxis &axis) { return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1; };
  auto isLarge = [&](const SpatialAxis &axis) { return (computesImage ? axis.size : axis.results) >= kFewestResults; };
  return s.numAxes == 2 && s.groups == 1 && dtype != DType::Float64 && llvm::all_of(s.spatial(), isPlain) &&
         llvm::all_of(s.spatial(), isLarge) && hasBlocks(s.in) && hasBlocks(s.out) &&
         std::min(s.in, s.out) >= kFewestChannels;
}

llvm::Expected<PreparedRef> prepareWinogradConv(const PrepareRequest &request) {
  return std::make_shared<WinogradConv>(request, forwardShape(request), false, 0, 1);
}

llvm::Expected<PreparedRef> prepareWinogradConvTranspose(const PrepareRequest &request) {
  return std::make_shared<WinogradConv>(request, transposedShape(request), true, 0, 1);
}

llvm::Expected<PreparedRef> prepareWinogradConvBackwardData(const PrepareRequest &request) {
  return std::make_shared<WinogradConv>(request, backwardDataShape(request), true, 1, 0);
}

void packWinogradWeight(const PrepareRequest &request, const ConvShape &shape, bool computesImage, const void *from,
                        void *to) {
  Winograd(winogradShape(shape, request.outputs[0].dtype, computesImage, {}), 1).transform(from, to);
}

} // namespace tess::runtime::cpu
