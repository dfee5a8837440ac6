//===- Depthwise.cpp - convolutions of single channels --------------------===//
#include "runtime/contract/Depthwise.h"

#include "runtime/contract/Lanes.h"
#include "runtime/contract/Transpose.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

/// Bytes of the copies of a box: what a core keeps in its caches beside results.
constexpr int64_t kRowBytes = 24 << 10, kBlockBytes = 96 << 10;
/// Vectors of results that a tile has in registers.
constexpr unsigned kTile = 8;
/// Lanes that are written to as many channels.
constexpr unsigned kSquare = 8;
static_assert(kSquare == kTile);
/// Rows of results that share what they read.
constexpr int64_t kRows = 4;

size_t sumBytes(DType dtype) { return dtype == DType::Float64 ? 8 : 4; }

BoxLimits limitsOf(const DepthwiseShape &shape) {
  const int64_t bytes = shape.lanes == 1 ? kRowBytes : kBlockBytes;
  return {bytes / int64_t(sumBytes(shape.dtype)) / shape.operands, INT64_MAX};
}

/// A vector of results.
struct Spot {
  int64_t from, to; // its windows in a copy, and its first result behind the one of the box
};

template <typename T, typename Sum = Accumulator<T>> class Units {
public:
  Units(const DepthwiseShape &shape, const PaddedBoxes &boxes, llvm::ArrayRef<int64_t> termAt, const T *operand,
        const T *weight, T *out, Sum *copies, Spot *spots)
      : shape(shape), boxes(boxes), termAt(termAt), operand(operand), weight(weight), out(out), copies(copies),
        weights(copies + boxes.elements() * shape.operands), spots(spots),
        writesSquares(shape.lanes > 1 && shape.result.block == 1), writesPairs(canWritePairs()),
        sharesRows(canShareRows()) {}

  void run(int64_t begin, int64_t end) {
    const int64_t packs = shape.packs(), perBox = shape.batch * packs;
    for (int64_t unit = begin; unit < end; ++unit) {
      if (unit == begin || unit % perBox == 0)
        setBox(unit / perBox);
      runBox(unit % perBox / packs, unit % packs * shape.pack());
    }
  }

private:
  /// Whether the windows of a row have the rows of the copies that those of the row before have, one place on.
  bool canShareRows() const {
    const WindowAxis &rows = shape.axes[1], &columns = shape.axes[2];
    return shape.operands == 1 && (rows.kernel == 3 || rows.kernel == 5 || rows.kernel == 7) &&
           rows.kernel == columns.kernel && rows.stride == std::abs(rows.dilation) && numTerms() <= kContractLines;
  }

  /// Computes a pack of channels of an image, from `channel` on.
  void runBox(int64_t image, int64_t channel) {
    for (int64_t i = 0; i < shape.operands; ++i)
      boxes.copy(box, channelsOf(image, channel, i), copies + i * boxes.elements());
    for (int64_t i = channel; i < channel + shape.pack(); i += shape.lanes) {
      findWeights(i);
      writeResults(out + image * shape.result.batchStride + boxAt, i);
    }
  }

  /// The `i`th channels that belong to results from `channel` on.
  Channels<T> channelsOf(int64_t image, int64_t channel, int64_t i) const {
    Channels<T> channels{operand + image * shape.operand.batchStride, {}, {}};
    for (int64_t lane = 0; lane < shape.lanes; ++lane)
      channels.laneAt[lane] = shape.operand.channelAt((channel + lane) / shape.results * shape.operands + i);
    llvm::copy(shape.operand.strides, channels.strides);
    return channels;
  }

  void setBox(int64_t number) {
    const Numbers before = box.counts;
    box = boxes.box(number);
    for (int64_t i = 0; i < shape.operands; ++i)
      boxes.clear(copies + i * boxes.elements());
    boxAt = 0;
    for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
      boxAt += (shape.first[axis] + box.first[axis] * shape.step[axis]) * shape.result.strides[axis];
    if (box.counts != before)
      findSpots();
  }

  /// Finds the vectors of the box; the last one of a row has windows of the one before where it would have too few.
  void findSpots() {
    numSpots = 0;
    const int64_t width = shape.lanes == 1 ? kLanesOf<Sum> : 1;
    numLanes = shape.lanes == 1 ? std::min(width, box.counts[2]) : kLanesOf<Sum>;
    const int64_t last = std::max<int64_t>(0, box.counts[2] - width), step = boxes.windowAt({0, 0, 1});
    const int64_t columnAt = shape.step[2] * shape.result.strides[2];
    for (int64_t depth = 0; depth < box.counts[0]; ++depth)
      for (int64_t row = 0; row < box.counts[1]; ++row) {
        const int64_t from = boxes.windowAt({depth, row, 0});
        const int64_t to =
            depth * shape.step[0] * shape.result.strides[0] + row * shape.step[1] * shape.result.strides[1];
        for (int64_t next = 0; next < box.counts[2]; next += width) {
          const int64_t column = std::min(next, last);
          spots[numSpots++] = {from + column * step, to + column * columnAt};
        }
      }
  }

  int64_t numTerms() const { return int64_t(termAt.size()); }

  /// Widens the weights of channels, by term and lane.
  void findWeights(int64_t channel) {
    for (int64_t lane = 0; lane < shape.lanes; ++lane) {
      const T *from = weight + (channel + lane) * shape.operands * shape.window;
      Sum *to = weights + lane;
      for (int64_t place : shape.places)
        for (int64_t i = 0; i < shape.operands; ++i, to += kLanes) {
          const Sum value = Sum(widen(from[i * shape.window + place]));
          if (shape.lanes == 1)
            std::fill_n(to, kLanesOf<Sum>, value);
          else
            *to = value;
        }
    }
  }

  /// Writes results of channels; `to`: the box in channel 0.
  void writeResults(T *to, int64_t channel) const {
    if (shape.lanes == 1)
      return writeLanes({to + shape.result.channelAt(channel), shape.step[2], copies, weights});
    const int64_t apart = shape.result.block == 1 ? shape.result.blockStride : 1;
    for (int64_t lane = 0; lane < kLanes; lane += kLanesOf<Sum>)
      writeLanes({to + shape.result.channelAt(channel + lane), apart, copies + lane, weights + lane});
  }

  /// Results that vectors have: lanes of each are `apart` apart.
  struct Part {
    T *to;
    int64_t apart;
    const Sum *copies, *weights;
  };

  void writeLanes(const Part &part) const {
    const bool isWhole = part.apart == 1 && numLanes == kLanesOf<Sum>; // results of a vector lie side by side
    if (!isWhole)
      return writeSpots<kTile, false>(part, spots, numSpots);
    if (!sharesRows || box.counts[1] < kRows)
      return writeSpots<kTile, true>(part, spots, numSpots);
    switch (shape.axes[1].kernel) {
    case 3:
      return writeShared<3>(part);
    case 5:
      return writeShared<5>(part);
    default:
      return writeShared<7>(part);
    }
  }

  template <unsigned kCount, bool kIsWhole> void writeSpots(const Part &part, const Spot *spot, int64_t count) const {
    if (writesSquares && kCount == kTile && count > kTile && count % kTile) // the last square has results again
      writeTile<kTile, kIsWhole>(part, spot + count - kTile), count -= count % kTile;
    for (; count >= kCount; count -= kCount, spot += kCount)
      writeTile<kCount, kIsWhole>(part, spot);
    if constexpr (kCount > 1)
      writeSpots<kCount / 2, kIsWhole>(part, spot, count);
  }

  template <bool kIsWhole> void store(const Part &part, Lanes<Sum> sums, T *to) const {
    if constexpr (kIsWhole)
      return storeLanes(sums, to);
    if constexpr (std::is_same_v<T, float>)
      if (writesPairs && numLanes == kLanesOf<Sum>)
        return storePairs(sums, to);
    for (int64_t k = 0; k < numLanes; ++k)
      to[k * part.apart] = narrow<T>(sums[k]);
  }

  /// Whether each second element of a row is written, and each vector of results has as many others of the row.
  bool canWritePairs() const {
    const int64_t size = shape.result.strides[1] / shape.result.strides[2];
    return shape.lanes == 1 && shape.step[2] == 2 && (shape.first[2] == 1 || size % 2 == 0);
  }

  /// Writes each second element from `to` on, and those between or before them as they are.
  void storePairs(Lanes<float> sums, float *to) const {
    const auto first = shape.first[2];
    float *pairs = to - first;
    for (unsigned half = 0; half < 2; ++half, pairs += kLanesOf<float>) {
      const Lanes<float> others = loadLanes(pairs);
      const Lanes<float> spread = half ? __builtin_shufflevector(sums, sums, 4, 4, 5, 5, 6, 6, 7, 7)
                                       : __builtin_shufflevector(sums, sums, 0, 0, 1, 1, 2, 2, 3, 3);
      storeLanes(first ? __builtin_shufflevector(others, spread, 0, 9, 2, 11, 4, 13, 6, 15)
                       : __builtin_shufflevector(others, spread, 8, 1, 10, 3, 12, 5, 14, 7),
                 pairs);
    }
  }

  template <unsigned kCount, bool kIsWhole> void writeTile(const Part &part, const Spot *spot) const {
    Lanes<Sum> sums[kCount];
    addTerms(part, spot, 0, std::min(numTerms(), kContractLines), sums);
    if (numTerms() > kContractLines)
      addChunks(part, spot, sums);
    if constexpr (kCount == kSquare && std::is_same_v<T, float>)
      if (writesSquares && spot[kSquare - 1].to - spot[0].to == int64_t(kSquare) - 1)
        return storeSquare(part, sums, part.to + spot[0].to);
    for (unsigned i = 0; i < kCount; ++i)
      store<kIsWhole>(part, sums[i], part.to + spot[i].to);
  }

  /// Writes lanes to channels, of which each has its results side by side.
  void storeSquare(const Part &part, const Lanes<float> (&sums)[kSquare], float *to) const {
    Words square[kSquare];
    for (unsigned i = 0; i < kSquare; ++i)
      square[i] = std::bit_cast<Words>(sums[i]);
    transpose(square);
    for (unsigned i = 0; i < kSquare; ++i)
      std::memcpy(to + i * part.apart, &square[i], sizeof(Words));
  }

  /// The chains of a chunk.
  template <unsigned kCount>
  void addTerms(const Part &part, const Spot *spot, int64_t begin, int64_t end, Lanes<Sum> (&sums)[kCount]) const {
    const Sum *from[kCount];
    for (unsigned i = 0; i < kCount; ++i) {
      from[i] = part.copies + spot[i].from;
      sums[i] = Lanes<Sum>(Sum(0));
    }
    const Sum *weight = part.weights + begin * int64_t(kLanes);
    for (int64_t term = begin; term < end; ++term, weight += int64_t(kLanes)) {
      const int64_t at = termAt[term];
      const Lanes<Sum> factor = loadLanes(weight);
      for (unsigned i = 0; i < kCount; ++i)
        sums[i] = __builtin_elementwise_fma(loadLanes(from[i] + at), factor, sums[i]);
    }
  }

  /// Adds the chunks behind the first one, whose sums are given.
  template <unsigned kCount>
  [[gnu::noinline]] void addChunks(const Part &part, const Spot *spot, Lanes<Sum> (&sums)[kCount]) const {
    using Totals = double __attribute__((ext_vector_type(kLanesOf<Sum>)));
    Totals totals[kCount];
    for (unsigned i = 0; i < kCount; ++i)
      totals[i] = __builtin_convertvector(sums[i], Totals);
    for (int64_t term = kContractLines; term < numTerms(); term += kContractLines) {
      addTerms(part, spot, term, std::min(numTerms(), term + kContractLines), sums);
      for (unsigned i = 0; i < kCount; ++i)
        totals[i] += __builtin_convertvector(sums[i], Totals);
    }
    for (unsigned i = 0; i < kCount; ++i)
      sums[i] = __builtin_convertvector(totals[i], Lanes<Sum>);
  }

  /// Writes tiles of kRows rows, whose windows share rows of the copies; the last tile has rows of the one before where
  /// it would have too few.
  template <unsigned kSide> void writeShared(const Part &part) const {
    constexpr unsigned kColumns = kSide == 3 ? 1 : 2; // the weights of small windows stay in registers
    const int64_t perRow = boxes.vectors(box.counts[2]);
    Lanes<Sum> factors[kSide * kSide];
    loadSlice(part.weights, factors);
    for (int64_t depth = 0; depth < box.counts[0]; ++depth)
      for (int64_t row = 0; row < box.counts[1]; row += kRows) {
        const int64_t first = depth * box.counts[1] + std::min(row, box.counts[1] - kRows);
        const int64_t paired = perRow / kColumns * kColumns;
        writeRows<kSide, kColumns>(part, factors, spots + first * perRow, perRow, paired);
        if (paired < perRow)
          writeRows<kSide, 1>(part, factors, spots + first * perRow + paired, perRow, 1);
      }
  }

  template <unsigned kCount> static void loadSlice(const Sum *from, Lanes<Sum> (&factors)[kCount]) {
    for (unsigned i = 0; i < kCount; ++i)
      factors[i] = loadLanes(from + i * kLanes);
  }

  /// `spot`: the first of `count` vectors of the first row, of which each has `perRow`. `factors`: of the first slice.
  template <unsigned kSide, unsigned kColumns>
  void writeRows(const Part part, const Lanes<Sum> (&factors)[kSide * kSide], const Spot *spot, int64_t perRow,
                 int64_t count) const {
    constexpr int64_t kSlice = int64_t(kSide) * kSide;
    const int64_t rowStep = termAt[kSide] - termAt[0], last = numTerms();
    if (rowStep < 0) // flipped windows begin with their last row
      spot += (kRows - 1) * perRow;
    int64_t columnAt[kSide], rowAt[kRows];
    for (unsigned k = 0; k < kSide; ++k)
      columnAt[k] = termAt[k] - termAt[0];
    for (int64_t i = 0; i < kRows; ++i)
      rowAt[i] = spot[rowStep < 0 ? -i * perRow : i * perRow].to - spot->to;
    for (const Spot *end = spot + count; spot != end; spot += kColumns) {
      Lanes<Sum> sums[kColumns][kRows] = {};
      addSlice<kSide>(part.copies + termAt[0], spot, rowStep, columnAt, factors, sums);
      for (int64_t term = kSlice; term < last; term += kSlice) {
        Lanes<Sum> more[kSlice];
        loadSlice(part.weights + term * kLanes, more);
        addSlice<kSide>(part.copies + termAt[term], spot, rowStep, columnAt, more, sums);
      }
      for (unsigned column = 0; column < kColumns; ++column)
        for (int64_t i = 0; i < kRows; ++i)
          storeLanes(sums[column][i], part.to + spot[column].to + rowAt[i]);
    }
  }

  /// The chains of kRows rows of windows over kSide x kSide places.
  template <unsigned kSide, unsigned kColumns>
  [[gnu::always_inline]] static void
  addSlice(const Sum *copy, const Spot *spot, int64_t rowStep, const int64_t (&columnAt)[kSide],
           const Lanes<Sum> (&factors)[kSide * kSide], Lanes<Sum> (&sums)[kColumns][kRows]) {
    const Sum *from[kColumns];
    for (unsigned column = 0; column < kColumns; ++column)
      from[column] = copy + spot[column].from;
#pragma unroll
    for (int64_t row = 0; row < kRows + kSide - 1; ++row) {
#pragma unroll
      for (unsigned k = 0; k < kSide; ++k) {
        Lanes<Sum> elements[kColumns];
        for (unsigned column = 0; column < kColumns; ++column)
          elements[column] = loadLanes(from[column] + columnAt[k]);
#pragma unroll
        for (int64_t i = 0; i < kRows; ++i)
          if (i <= row && row < i + kSide)
            for (unsigned column = 0; column < kColumns; ++column)
              sums[column][i] =
                  __builtin_elementwise_fma(elements[column], factors[(row - i) * kSide + k], sums[column][i]);
      }
      for (unsigned column = 0; column < kColumns; ++column)
        from[column] += rowStep;
    }
  }

  const DepthwiseShape &shape;
  const PaddedBoxes &boxes;
  const llvm::ArrayRef<int64_t> termAt;
  const T *const operand;
  const T *const weight;
  T *const out;
  Sum *const copies;
  Sum *const weights;
  Spot *const spots;
  const bool writesSquares, writesPairs, sharesRows;
  WindowBox box = {};
  int64_t boxAt = 0; // its first result in channel 0
  int64_t numSpots = 0, numLanes = 0;
};

} // namespace

Depthwise::Depthwise(DepthwiseShape given)
    : shape(std::move(given)),
      inPlace(DepthwiseInPlace::takes(shape) ? std::optional<DepthwiseInPlace>(shape) : std::nullopt),
      boxes(shape.axes, shape.lanes, int64_t(32 / sumBytes(shape.dtype)), limitsOf(shape)) {
  Numbers sizes;
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
    sizes[axis] = shape.axes[axis].kernel;
  for (int64_t place = 0; place < sizes[0] * sizes[1] * sizes[2]; ++place)
    for (int64_t i = 0; i < shape.operands; ++i)
      termAt.push_back(boxes.placeAt({place / sizes[2] / sizes[1], place / sizes[2] % sizes[1], place % sizes[2]}) +
                       i * boxes.elements());
}

int64_t Depthwise::numSums() const {
  return llvm::alignTo(boxes.elements() * shape.operands + int64_t(termAt.size()) * kLanes, kLanes);
}

size_t Depthwise::workspaceBytes() const {
  if (inPlace)
    return inPlace->workspaceBytes();
  const Numbers &most = boxes.counts();
  const int64_t spots = most[0] * most[1] * boxes.vectors(most[2]);
  return llvm::alignTo(size_t(numSums()) * sumBytes(shape.dtype) + size_t(spots) * sizeof(Spot), 64);
}

void Depthwise::run(int64_t begin, int64_t end, const void *operand, const void *weight, void *out,
                    void *workspace) const {
  if (inPlace)
    return inPlace->run(begin, end, operand, weight, out, workspace);
  withFloatType(shape.dtype, [&]<typename T>(T) {
    auto *sums = static_cast<Accumulator<T> *>(workspace);
    Units<T>(shape, boxes, termAt, static_cast<const T *>(operand), static_cast<const T *>(weight),
             static_cast<T *>(out), sums, reinterpret_cast<Spot *>(sums + numSums()))
        .run(begin, end);
  });
}

} // namespace tess::runtime::contract
