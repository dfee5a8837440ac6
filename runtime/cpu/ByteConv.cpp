//===- ByteConv.cpp - convolutions of bytes -------------------------------===//
#include "runtime/cpu/ByteConv.h"

#include "runtime/contract/ByteSquares.h"
#include "runtime/cpu/ConvLoops.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/StoredBytes.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::cpu {

void packChannelsLast(const TensorMeta &meta, const void *from, void *to) {
  const int64_t channels = meta.shape[1], image = meta.numElements() / meta.shape[0];
  for (int64_t n = 0; n < meta.shape[0]; ++n)
    contract::gatherChannels(static_cast<const char *>(from) + n * image, image / channels, channels, image / channels,
                             static_cast<char *>(to) + n * image);
}

bool isPacked(const PrepareRequest &request, unsigned input) {
  return input < request.inputPackings.size() && !request.inputPackings[input].empty();
}

contract::ByteWindowsShape byteWindowsShape(const PrepareRequest &request, const ConvShape &shape) {
  return {storageOf(request.inputs[0].dtype),
          shape.batch,
          shape.groups,
          shape.in,
          shape.out,
          shape.axes,
          isPacked(request, 0),
          isPacked(request, 1)};
}

bool hasByteWindows(const PrepareRequest &request, const ConvShape &shape) {
  return shape.products() && contract::ByteWindows::fits(byteWindowsShape(request, shape));
}

bool hasByteDepthwise(const PrepareRequest &request, const ConvShape &shape) {
  return shape.products() && contract::ByteDepthwise::fits(byteWindowsShape(request, shape));
}

template <typename X>
static void sumPlanes(const ConvShape &s, bool isTransposed, unsigned threads, const X *x, const int8_t *weight,
                      int32_t zero, uint32_t *out) {
  auto loadX = [zero](X element) { return uint32_t(element - zero); };
  auto loadWeight = [](int8_t element) { return uint32_t(int32_t(element)); };
  const ConvLoops<uint32_t> loops(s);
  parallelFor(threads, s.batch * s.groups * (isTransposed ? s.in : s.out), 1,
              [&](int64_t begin, int64_t end, unsigned) {
                std::vector<uint32_t> sums;
                for (int64_t i = begin; i < end; ++i) {
                  if (isTransposed)
                    loops.dataPlane(i, weight, x, loadWeight, loadX, sums);
                  else
                    loops.forwardPlane(i, x, weight, loadX, loadWeight, sums);
                  llvm::copy(sums, out + size_t(i) * sums.size());
                }
              });
}

void sumPlainly(const ConvShape &shape, bool isTransposed, DType dtype, unsigned threads, const void *x,
                const int8_t *weight, int32_t zero, uint32_t *out) {
  if (isUnsignedByte(dtype))
    sumPlanes(shape, isTransposed, threads, static_cast<const uint8_t *>(x), weight, zero, out);
  else
    sumPlanes(shape, isTransposed, threads, static_cast<const int8_t *>(x), weight, zero, out);
}

} // namespace tess::runtime::cpu
