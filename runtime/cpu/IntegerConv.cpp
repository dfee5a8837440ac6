//===- IntegerConv.cpp - exact convolutions of bytes ----------------------===//
//
// By windows in place (runtime/contract/ByteWindows); convolutions of few channels
// of results, and transposed ones, by plain loops.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/ByteResults.h"
#include "runtime/cpu/ByteConv.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime::cpu {

namespace {

/// The zero point of a call.
int32_t zeroOf(llvm::ArrayRef<void *> inputs) {
  return inputs.size() > 2 ? *static_cast<const int32_t *>(inputs[2]) : 0;
}

class PlainIntegerConv : public PreparedKernel {
public:
  PlainIntegerConv(const PrepareRequest &request, const ConvShape &shape, bool isTransposed)
      : s(shape), isTransposed(isTransposed), dtype(request.inputs[0].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    sumPlainly(s, isTransposed, dtype, threadCount, inputs[0], static_cast<const int8_t *>(inputs[1]), zeroOf(inputs),
               static_cast<uint32_t *>(outputs[0]));
    return llvm::Error::success();
  }

private:
  const ConvShape s;
  const bool isTransposed;
  const DType dtype;
};

class WindowSums : public PreparedKernel {
public:
  WindowSums(const PrepareRequest &request, const ConvShape &s)
      : channels(s.groups * s.out), plane(s.resultPlane()),
        windows(byteWindowsShape(request, s), s.products() < kSerialProducts ? 1 : request.threads) {
    implementationName = kByteWindows;
    threadCount = windows.threads();
    offsetsAt = llvm::alignTo(windows.workspaceBytes(), 64);
    workspace = offsetsAt + size_t(channels + kLanes) * sizeof(int32_t);
    inputPackings = byteWindowsPackings(windows);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    const void *packed = windows.packed(inputs[1], context.workspace);
    const int32_t zero = zeroOf(inputs);
    auto *offsets = reinterpret_cast<int32_t *>(static_cast<char *>(context.workspace) + offsetsAt);
    contract::setOffsets(channels, nullptr, windows.zeroOfSums(zero), windows.weightSums(packed), {offsets, nullptr});
    const contract::IntegerResults results{offsets, channels, plane, static_cast<int32_t *>(outputs[0])};
    windows.run(inputs[0], packed, zero, context.workspace,
                [&](const contract::ByteTile &tile) { results.write(tile); });
    return llvm::Error::success();
  }

private:
  const int64_t channels, plane;
  const contract::ByteWindows windows;
  size_t offsetsAt;
};

} // namespace

llvm::Expected<PreparedRef> prepareIntegerConv(const PrepareRequest &request) {
  const ConvShape shape = forwardShape(request);
  if (hasByteWindows(request, shape))
    return std::make_shared<WindowSums>(request, shape);
  return std::make_shared<PlainIntegerConv>(request, shape, /*isTransposed=*/false);
}

llvm::Error packByteConvInput(const PrepareRequest &request, unsigned input, llvm::StringRef, const void *from,
                              void *to) {
  if (input != 1)
    packChannelsLast(request.inputs[input], from, to);
  else
    contract::ByteWindows(byteWindowsShape(request, forwardShape(request)), 1).pack(from, to);
  return llvm::Error::success();
}

llvm::Expected<PreparedRef> prepareIntegerConvTranspose(const PrepareRequest &request) {
  return std::make_shared<PlainIntegerConv>(request, transposedShape(request), /*isTransposed=*/true);
}

} // namespace tess::runtime::cpu
