//===- IntegerConv.cpp - exact convolutions of bytes ----------------------===//
//
// By windows in place (runtime/contract/ByteWindows), those of groups with few
// channels by vectors of channels (ByteDepthwise).
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/ByteResults.h"
#include "runtime/cpu/ByteConv.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime::cpu {

namespace {

class PlainIntegerConv : public PreparedKernel {
public:
  PlainIntegerConv(const PrepareRequest &request, const ConvShape &shape) : s(shape), dtype(request.inputs[0].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    sumPlainly(s, /*isTransposed=*/false, dtype, threadCount, inputs[0], static_cast<const int8_t *>(inputs[1]),
               zeroOf(inputs), static_cast<uint32_t *>(outputs[0]));
    return llvm::Error::success();
  }

private:
  const ConvShape s;
  const DType dtype;
};

/// Tile by tile. Sums: ByteWindows or ByteDepthwise.
template <typename Sums> class TiledIntegerConv : public PreparedKernel {
public:
  TiledIntegerConv(const PrepareRequest &request, const ConvShape &s)
      : channels(s.groups * s.out), plane(s.resultPlane()),
        sums(byteWindowsShape(request, s), s.products() < kSerialProducts ? 1 : request.threads) {
    implementationName = kByteSums;
    threadCount = sums.threads();
    offsetsAt = llvm::alignTo(sums.workspaceBytes(), 64);
    workspace = offsetsAt + size_t(channels + kLanes) * sizeof(int32_t);
    inputPackings = byteConvPackings(sums);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    const void *packed = sums.packed(inputs[1], context.workspace);
    const int32_t zero = zeroOf(inputs);
    auto *offsets = reinterpret_cast<int32_t *>(static_cast<char *>(context.workspace) + offsetsAt);
    contract::setOffsets(channels, nullptr, sums.zeroOfSums(zero), sums.weightSums(packed), {offsets, nullptr});
    const contract::IntegerResults results{offsets, channels, plane, static_cast<int32_t *>(outputs[0])};
    sums.run(inputs[0], packed, zero, context.workspace, [&](const contract::ByteTile &tile) { results.write(tile); });
    return llvm::Error::success();
  }

private:
  const int64_t channels, plane;
  const Sums sums;
  size_t offsetsAt;
};

} // namespace

llvm::Expected<PreparedRef> prepareIntegerConv(const PrepareRequest &request) {
  const ConvShape shape = forwardShape(request);
  if (hasByteDepthwise(request, shape))
    return std::make_shared<TiledIntegerConv<contract::ByteDepthwise>>(request, shape);
  if (hasByteWindows(request, shape))
    return std::make_shared<TiledIntegerConv<contract::ByteWindows>>(request, shape);
  return std::make_shared<PlainIntegerConv>(request, shape);
}

llvm::Error packByteConvInput(const PrepareRequest &request, unsigned input, llvm::StringRef, const void *from,
                              void *to) {
  const ConvShape shape = forwardShape(request);
  if (input != 1)
    packChannelsLast(request.inputs[input], from, to);
  else if (hasByteDepthwise(request, shape))
    contract::ByteDepthwise(byteWindowsShape(request, shape), 1).pack(from, to);
  else
    contract::ByteWindows(byteWindowsShape(request, shape), 1).pack(from, to);
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
