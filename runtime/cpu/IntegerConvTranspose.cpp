//===- IntegerConvTranspose.cpp - exact transposed convolutions of bytes --===//
//
// Elements of the result of one residue by the strides are a convolution of the
// operand by some places of the weight (ConvResidues). Sums are those of
// runtime/contract where it takes all residues, else those of plain loops.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/ByteResults.h"
#include "runtime/cpu/ByteConv.h"
#include "runtime/cpu/ConvResidues.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tess::runtime::cpu {

namespace {

class PlainTransposedConv : public PreparedKernel {
public:
  PlainTransposedConv(const PrepareRequest &request, const ConvShape &shape)
      : s(shape), dtype(request.inputs[0].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    sumPlainly(s, /*isTransposed=*/true, dtype, threadCount, inputs[0], static_cast<const int8_t *>(inputs[1]),
               zeroOf(inputs), static_cast<uint32_t *>(outputs[0]));
    return llvm::Error::success();
  }

private:
  const ConvShape s;
  const DType dtype;
};

/// Orders the places of an axis such that their elements ascend.
void sortPlaces(Residue &residue) {
  SpatialAxis &axis = residue.axis;
  if (axis.dilation > 0)
    return;
  residue.place += (axis.kernel - 1) * residue.step;
  residue.step = -residue.step;
  axis.pad -= (axis.kernel - 1) * axis.dilation;
  axis.dilation = -axis.dilation;
}

std::vector<Residues> sortedResidues(const ConvShape &s) {
  std::vector<Residues> list = residuesOf(s);
  for (Residues &residues : list)
    llvm::for_each(residues, sortPlaces);
  return list;
}

/// The convolution that gives the elements of a residue. Its weight comes packed.
contract::ByteWindowsShape shapeOf(const PrepareRequest &request, const ConvShape &s, const Residues &residues) {
  return {storageOf(request.inputs[0].dtype),
          s.batch,
          s.groups,
          s.out,
          s.in,
          {residues[0].axis, residues[1].axis, residues[2].axis},
          isPacked(request, 0),
          /*hasPanels=*/true};
}

/// Whether `Sums` takes the convolutions of all residues.
template <typename Sums> bool fitsAll(const PrepareRequest &request, const ConvShape &s) {
  return s.products() && llvm::all_of(sortedResidues(s), [&](const Residues &residues) {
           return Sums::fits(shapeOf(request, s, residues));
         });
}

/// Sums of one residue, as elements of all: window i of an axis is element first + i * stride.
struct ResidueResults {
  const int32_t *offsets;
  int64_t channels;
  const ConvShape &s;
  const Residues &residues;
  int32_t *out;

  int64_t elementOf(int64_t window) const {
    const int64_t columns = residues[2].axis.results, rows = residues[1].axis.results;
    const std::array<int64_t, 3> numbers = {window / columns / rows, window / columns % rows, window % columns};
    int64_t element = 0;
    for (unsigned axis = 0; axis < ConvShape::kMostAxes; ++axis)
      element = element * s.axes[axis].size + residues[axis].first + numbers[axis] * s.axes[axis].stride;
    return element;
  }

  void write(const contract::ByteTile &tile) const {
    int64_t elements[kLanes];
    for (int64_t i = 0; i < tile.windows; ++i)
      elements[i] = elementOf(tile.window + i);
    for (int64_t c = 0; c < tile.channels; ++c) {
      const int64_t channel = tile.channel + c;
      int32_t *to = out + (tile.image * channels + channel) * s.plane();
      for (int64_t i = 0; i < tile.windows; ++i)
        to[elements[i]] = int32_t(uint32_t(tile.sums[i * tile.stride + c]) + uint32_t(offsets[channel]));
    }
  }
};

/// Residue by residue, tile by tile. Sums: ByteWindows or ByteDepthwise.
template <typename Sums> class TiledTransposedConv : public PreparedKernel {
public:
  TiledTransposedConv(const PrepareRequest &request, const ConvShape &shape)
      : s(shape), channels(s.groups * s.in), clearedBytes(bytesToClear(s, request.outputs[0])),
        hasPanels(isPacked(request, 1)) {
    implementationName = kByteSums;
    std::string text = "residues";
    size_t bytes = 0;
    for (const Residues &residues : sortedResidues(s)) {
      const unsigned threads = s.products() < kSerialProducts ? 1 : request.threads;
      const Part &part = parts.emplace_back(residues, Sums(shapeOf(request, s, residues), threads), bytes);
      text += part.sums.weightText();
      for (int64_t place : placesOf(s, residues))
        text += std::to_string(place) + ",";
      bytes += llvm::alignTo(part.sums.weightBytes(), 64);
      sumsBytes = std::max<size_t>(sumsBytes, llvm::alignTo(part.sums.workspaceBytes(), 64));
      threadCount = std::max(threadCount, part.sums.threads());
    }
    offsetsAt = sumsBytes + (hasPanels ? 0 : bytes);
    workspace = offsetsAt + size_t(channels + kLanes) * sizeof(int32_t);
    inputPackings = {{kChannelsLast}, {text, std::nullopt, bytes}};
  }

  void pack(const int8_t *weight, char *to) const {
    for (const Part &part : parts)
      part.sums.pack(weightOf(part.residues, weight).data(), to + part.weightAt);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *memory = static_cast<char *>(context.workspace);
    const char *packed = hasPanels ? static_cast<const char *>(inputs[1]) : memory + sumsBytes;
    if (!hasPanels)
      pack(static_cast<const int8_t *>(inputs[1]), memory + sumsBytes);
    std::memset(outputs[0], 0, clearedBytes);
    auto *offsets = reinterpret_cast<int32_t *>(memory + offsetsAt);
    const int32_t zero = zeroOf(inputs);
    for (const Part &part : parts) {
      const void *weight = packed + part.weightAt;
      contract::setOffsets(channels, nullptr, part.sums.zeroOfSums(zero), part.sums.weightSums(weight),
                           {offsets, nullptr});
      const ResidueResults results = {offsets, channels, s, part.residues, static_cast<int32_t *>(outputs[0])};
      part.sums.run(inputs[0], weight, zero, memory, [&](const contract::ByteTile &tile) { results.write(tile); });
    }
    return llvm::Error::success();
  }

private:
  struct Part {
    Part(const Residues &residues, Sums sums, size_t weightAt)
        : residues(residues), sums(std::move(sums)), weightAt(weightAt) {}

    Residues residues;
    Sums sums;
    size_t weightAt;
  };

  /// The weight [groups * in, out, places] of a residue.
  std::vector<int8_t> weightOf(const Residues &residues, const int8_t *weight) const {
    const std::vector<int64_t> places = placesOf(s, residues);
    std::vector<int8_t> ordered;
    ordered.reserve(size_t(s.groups * s.in * s.out) * places.size());
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t o = 0; o < s.out; ++o)
        for (int64_t place : places)
          ordered.push_back(weight[((channel / s.in * s.out + o) * s.in + channel % s.in) * s.window() + place]);
    return ordered;
  }

  const ConvShape s;
  const int64_t channels;
  const size_t clearedBytes;
  const bool hasPanels;
  std::vector<Part> parts;
  size_t sumsBytes = 0, offsetsAt;
};

} // namespace

llvm::Expected<PreparedRef> prepareIntegerConvTranspose(const PrepareRequest &request) {
  const ConvShape shape = transposedShape(request);
  if (fitsAll<contract::ByteDepthwise>(request, shape))
    return std::make_shared<TiledTransposedConv<contract::ByteDepthwise>>(request, shape);
  if (fitsAll<contract::ByteWindows>(request, shape))
    return std::make_shared<TiledTransposedConv<contract::ByteWindows>>(request, shape);
  return std::make_shared<PlainTransposedConv>(request, shape);
}

llvm::Error packIntegerConvTransposeInput(const PrepareRequest &request, unsigned input, llvm::StringRef,
                                          const void *from, void *to) {
  const ConvShape shape = transposedShape(request);
  const auto *weight = static_cast<const int8_t *>(from);
  if (input != 1)
    packChannelsLast(request.inputs[input], from, to);
  else if (fitsAll<contract::ByteDepthwise>(request, shape))
    TiledTransposedConv<contract::ByteDepthwise>(request, shape).pack(weight, static_cast<char *>(to));
  else
    TiledTransposedConv<contract::ByteWindows>(request, shape).pack(weight, static_cast<char *>(to));
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
