//===- QuantizedConv.cpp - quantized convolutions of images ---------------===//
//
// Exact sums, and what becomes of them while a tile is in the first cache
// (runtime/contract/ByteResults). Where there are no such tiles, sums by plain
// loops become results in the same way.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/ByteResults.h"
#include "runtime/cpu/ByteConv.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::cpu {

namespace {

using contract::ByteActivation;
using contract::ByteTile;
using contract::QuantizedResults;

/// The numbers of operands.
enum Operand : unsigned {
  X,
  Weight,
  XScale,
  XZero,
  WeightScale,
  OutScale,
  OutZero,
  Bias,
  Residual,
  ResidualScale,
  ResidualZero
};

float floatAt(llvm::ArrayRef<void *> inputs, Operand operand) { return *static_cast<const float *>(inputs[operand]); }
int32_t intAt(llvm::ArrayRef<void *> inputs, Operand operand) { return *static_cast<const int32_t *>(inputs[operand]); }

/// Activations, by the names of the attribute.
constexpr std::pair<llvm::StringLiteral, ByteActivation> kActivations[] = {
    {"identity", ByteActivation::Identity}, {"relu", ByteActivation::Relu}, {"hswish", ByteActivation::Hswish}};

ByteActivation activationOf(llvm::StringRef name) {
  return llvm::find_if(kActivations, [&](const auto &each) { return each.first == name; })->second;
}

/// The smallest and the largest integer that a dtype of 8 bits stores.
std::pair<int32_t, int32_t> limitsOf(DType dtype) {
  if (isQuantized(dtype))
    return {quantizedKind(dtype).min, quantizedKind(dtype).max};
  return dtype == DType::UInt8 ? std::pair(0, 255) : std::pair(-128, 127);
}

class QuantizedConv : public PreparedKernel {
protected:
  QuantizedConv(const PrepareRequest &request, const ConvShape &s)
      : s(s), channels(s.groups * s.out), plane(s.resultPlane()), hasResidual(request.inputs.size() > Residual),
        hasScales(request.inputs[WeightScale].rank()), hasBiases(request.inputs[Bias].rank()) {
    const DType dtype = request.outputs[0].dtype;
    form.activation = activationOf(request.op.str("activation"));
    form.result.dtype = storageOf(dtype);
    std::tie(form.lowest, form.highest) = limitsOf(dtype);
    form.images = {channels, plane, !request.outputPacking.empty()};
    if (hasResidual) {
      form.residualScale.dtype = storageOf(request.inputs[Residual].dtype);
      form.residualImages = {channels, plane, isPacked(request, Residual)};
    }
  }

  /// Bytes of numbers for each channel.
  size_t channelBytes() const { return 3 * size_t(channels + kLanes) * sizeof(float); }

  /// The form of results of sums, from which `zero` times those of the weight are taken.
  QuantizedResults resultsOf(llvm::ArrayRef<void *> inputs, void *out, int32_t zero, const int32_t *weightSums,
                             void *memory) const {
    QuantizedResults r = form;
    r.of = {static_cast<int32_t *>(memory), static_cast<float *>(memory) + channels + kLanes};
    float *biases = r.of.scales + channels + kLanes;
    const float xScale = floatAt(inputs, XScale);
    const auto *scales = static_cast<const float *>(inputs[WeightScale]),
               *bias = static_cast<const float *>(inputs[Bias]);
    for (int64_t c = 0; c < channels; ++c) {
      r.of.scales[c] = xScale * scales[hasScales ? c : 0];
      biases[c] = bias[hasBiases ? c : 0];
    }
    contract::setOffsets(channels, biases, zero, weightSums, r.of);
    r.result.scale = floatAt(inputs, OutScale);
    r.result.zero = intAt(inputs, OutZero);
    r.out = out;
    if (hasResidual) {
      r.residual = inputs[Residual];
      r.residualScale.scale = floatAt(inputs, ResidualScale);
      r.residualScale.zero = intAt(inputs, ResidualZero);
    }
    return r;
  }

  const ConvShape s;
  const int64_t channels, plane;
  const bool hasResidual;

private:
  const bool hasScales, hasBiases; // for each channel
  QuantizedResults form{};
};

/// Tile by tile. Sums: ByteWindows or ByteDepthwise.
template <typename Sums> class TiledConv : public QuantizedConv {
public:
  TiledConv(const PrepareRequest &request, const ConvShape &s)
      : QuantizedConv(request, s),
        sums(byteWindowsShape(request, s), s.products() < kSerialProducts ? 1 : request.threads) {
    implementationName = kByteSums;
    threadCount = sums.threads();
    channelsAt = llvm::alignTo(sums.workspaceBytes(), 64);
    workspace = channelsAt + channelBytes();
    inputPackings = byteConvPackings(sums);
    inputPackings.resize(request.inputs.size());
    if (hasResidual)
      inputPackings[Residual] = inputPackings[X];
    resultPacking = inputPackings[X];
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    const void *packed = sums.packed(inputs[Weight], context.workspace);
    const int32_t zero = intAt(inputs, XZero);
    const QuantizedResults results = resultsOf(inputs, outputs[0], sums.zeroOfSums(zero), sums.weightSums(packed),
                                               static_cast<char *>(context.workspace) + channelsAt);
    sums.run(inputs[X], packed, zero, context.workspace, [&](const ByteTile &tile) { results.write(tile); });
    return llvm::Error::success();
  }

private:
  const Sums sums;
  size_t channelsAt;
};

/// All sums, and then all results.
class PlainConv : public QuantizedConv {
public:
  PlainConv(const PrepareRequest &request, const ConvShape &s)
      : QuantizedConv(request, s), dtype(request.inputs[X].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
    channelsAt = llvm::alignTo(size_t(s.batch * channels * plane) * sizeof(uint32_t), 64);
    workspace = channelsAt + channelBytes();
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *sums = static_cast<uint32_t *>(context.workspace);
    sumPlainly(s, false, dtype, threadCount, inputs[X], static_cast<const int8_t *>(inputs[Weight]),
               intAt(inputs, XZero), sums);
    const QuantizedResults results =
        resultsOf(inputs, outputs[0], 0, nullptr, static_cast<char *>(context.workspace) + channelsAt);
    parallelFor(threadCount, s.batch * channels, 1, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t channel = begin; channel < end; ++channel)
        writeChannel(results, channel, reinterpret_cast<const int32_t *>(sums) + channel * plane);
    });
    return llvm::Error::success();
  }

private:
  /// Writes the results of one channel of an image, a tile's windows at a time.
  void writeChannel(const QuantizedResults &results, int64_t channel, const int32_t *sums) const {
    constexpr int64_t kWindows = contract::Kernels::kMostRows;
    int32_t tile[kWindows * kLanes] = {};
    for (int64_t window = 0; window < plane; window += kWindows) {
      const int64_t count = std::min(kWindows, plane - window);
      for (int64_t i = 0; i < count; ++i)
        tile[i * kLanes] = sums[window + i];
      results.write({tile, kLanes, channel / channels, window, count, channel % channels, 1});
    }
  }

  const DType dtype;
  size_t channelsAt;
};

} // namespace

llvm::Expected<PreparedRef> prepareQuantizedConv(const PrepareRequest &request) {
  const ConvShape shape = forwardShape(request);
  if (hasByteDepthwise(request, shape))
    return std::make_shared<TiledConv<contract::ByteDepthwise>>(request, shape);
  if (hasByteWindows(request, shape))
    return std::make_shared<TiledConv<contract::ByteWindows>>(request, shape);
  return std::make_shared<PlainConv>(request, shape);
}

} // namespace tess::runtime::cpu
