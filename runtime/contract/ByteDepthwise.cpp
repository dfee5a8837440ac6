//===- ByteDepthwise.cpp - convolutions of few channels of bytes ----------===//
#include "runtime/contract/ByteDepthwise.h"

#include "runtime/contract/ByteSquares.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/contract/WideLanes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tess::runtime::contract {

namespace {

using PairVector = ByteDepthwise::PairVector;

constexpr int64_t kWidth = kLanes;
/// Windows of a tile, and of them those whose sums are in registers together.
constexpr int64_t kTileWindows = kLanes, kMostTogether = 6;
/// Channels of a group from which on panels of weights are full enough.
constexpr int64_t kEnoughChannels = 4;
/// Bytes of a ring that stay in the second level of the caches, and of one that is too large for them.
constexpr int64_t kRingBytes = 96 << 10, kMostRingBytes = 2 << 20;
/// Vectors of a block: a line of the caches of images with channels side by side.
constexpr int64_t kMostBlockVectors = 4;
/// Multiplications of a part that takes about 20 us, rows of one, and parts for each thread where there are more.
constexpr int64_t kPartProducts = 1 << 18, kPartRows = 8;
constexpr unsigned kPartsPerThread = 3;
/// How much larger than an image its copy may be.
constexpr int64_t kMostGrowth = 4;

/// Elements from the first to the last one that windows read.
int64_t extentOf(const WindowAxis &axis, int64_t results) {
  return (results - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

/// Where part `part` of `count` things begins.
int64_t placeOf(int64_t part, int64_t parts, int64_t count) {
  return count / parts * part + std::min(part, count % parts);
}

/// A pair of the window: vectors from where a window begins to its numbers, and its weights.
struct Term {
  int64_t at;
  const PairVector *weights;
};

/// Windows of a row side by side, `step` vectors apart.
struct RowSums {
  int64_t step;
  llvm::ArrayRef<Term> terms;
  int64_t weightAt; // vectors from the weights of terms to those of these channels
};

using AddWindows = void (*)(const RowSums &, const PairVector *windows, int32_t *sums);

template <unsigned kWindows> void addPlainly(const RowSums &row, const PairVector *windows, int32_t *to) {
  __m256i sums[kWindows][2] = {};
  for (const Term &term : row.terms) {
    const auto *weights = reinterpret_cast<const __m256i *>(term.weights + row.weightAt);
    const __m256i first = _mm256_loadu_si256(weights), second = _mm256_loadu_si256(weights + 1);
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < kWindows; ++i) {
      const auto *numbers = reinterpret_cast<const __m256i *>(windows + term.at + i * row.step);
      sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(first, _mm256_loadu_si256(numbers)));
      sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(second, _mm256_loadu_si256(numbers + 1)));
    }
  }
  std::memcpy(to, sums, sizeof sums);
}

WIDE_BEGIN

template <unsigned kWindows> void addWidely(const RowSums &row, const PairVector *windows, int32_t *to) {
  __m512i sums[kWindows] = {};
  for (const Term &term : row.terms) {
    const __m512i weights = _mm512_loadu_si512(term.weights + row.weightAt);
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < kWindows; ++i)
      sums[i] =
          _mm512_add_epi32(sums[i], _mm512_madd_epi16(weights, _mm512_loadu_si512(windows + term.at + i * row.step)));
  }
  std::memcpy(to, sums, sizeof sums);
}

WIDE_END

/// Functions for 1 to kMostTogether windows.
constexpr AddWindows kPlain[] = {addPlainly<1>, addPlainly<2>, addPlainly<3>,
                                 addPlainly<4>, addPlainly<5>, addPlainly<6>};
constexpr AddWindows kWide[] = {addWidely<1>, addWidely<2>, addWidely<3>, addWidely<4>, addWidely<5>, addWidely<6>};
static_assert(std::size(kPlain) == kMostTogether && std::size(kWide) == kMostTogether);

} // namespace

bool ByteDepthwise::fits(const ByteWindowsShape &shape) {
  auto isModest = [](const WindowAxis &axis) {
    return extentOf(axis, axis.results) <= kMostGrowth * (axis.size + axis.kernel) && axis.pad >= 0;
  };
  return shape.groups > 1 && shape.out < kEnoughChannels && llvm::all_of(shape.axes, isModest) &&
         ByteDepthwise(shape, 1).ringVectors * int64_t(sizeof(PairVector)) <= kMostRingBytes;
}

ByteDepthwise::ByteDepthwise(const ByteWindowsShape &shape, unsigned threads)
    : s(shape), isSingle(shape.in == 1), numThreads(threads), numVectors(llvm::divideCeil(channels(), kWidth)) {
  planPairs();
  planRing();
  share();
}

void ByteDepthwise::planPairs() {
  const WindowAxis &columns = s.columns();
  types = isSingle ? 1 : int64_t(llvm::divideCeil(s.in, int64_t(2)));
  sources = isSingle ? 1 : 2 * types;
  steps = isSingle ? int64_t(llvm::divideCeil(columns.kernel, int64_t(2))) : columns.kernel;
  stepColumns = (isSingle ? 2 : 1) * columns.dilation;
  grain = steps == 1 ? columns.stride : std::gcd(columns.stride, stepColumns);
  rowColumns = extentOf(columns, columns.results) + columns.dilation; // the last number may be one of a pair alone
  rowPairs = (((columns.results - 1) * columns.stride + (steps - 1) * stepColumns) / grain + 1) * types;
}

void ByteDepthwise::planRing() {
  ringRows = extentOf(s.rows(), 1);
  ringVectors = s.slices().kernel * ringRows * rowPairs;
  const int64_t whole = std::max<int64_t>(1, channels() / kWidth);
  blockVectors = std::clamp<int64_t>(kRingBytes / (ringVectors * int64_t(sizeof(PairVector))), 1,
                                     std::min(whole, kMostBlockVectors));
  numBlocks = int64_t(llvm::divideCeil(whole, blockVectors));
  const int64_t most = blockVectors + 1; // of the last block
  const int64_t sums = kTileWindows * kWidth * int64_t(sizeof(int32_t));
  threadBytes = size_t(most * (ringVectors * int64_t(sizeof(PairVector)) + sums));
  threadBytes = llvm::alignTo(threadBytes + copyBytes(), 64);
}

/// Parts of rows copy some of them again, parts of blocks do not, but read less of a line of the caches.
void ByteDepthwise::share() {
  if (numThreads == 1)
    return;
  const int64_t wanted =
      std::clamp<int64_t>(s.products() / kPartProducts, numThreads, int64_t(numThreads) * kPartsPerThread);
  rowParts = unsigned(std::clamp<int64_t>(totalRows() / kPartRows, 1, wanted));
  blockParts = unsigned(std::min<int64_t>(numBlocks, int64_t(llvm::divideCeil(wanted, int64_t(rowParts)))));
}

std::string ByteDepthwise::weightText() const {
  std::string text = "pairs";
  for (int64_t number : {s.groups, s.in, s.out, s.slices().kernel, s.rows().kernel, s.columns().kernel})
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
  return text;
}

void ByteDepthwise::pack(const void *weight, void *to) const {
  for (int64_t vector = 0; vector < numVectors; ++vector)
    packVector(vector, static_cast<const int8_t *>(weight), static_cast<PairVector *>(to) + vector * termsOfWindow());
}

void ByteDepthwise::packVector(int64_t vector, const int8_t *weight, PairVector *to) const {
  std::fill_n(to, termsOfWindow(), PairVector{});
  const int64_t first = channelOf(vector), count = std::min(kWidth, channels() - first);
  for (int64_t lane = 0; lane < count; ++lane)
    for (int64_t i = 0; i < s.in; ++i)
      for (int64_t place = 0; place < s.places(); ++place) {
        const int64_t row = place / s.columns().kernel, column = place % s.columns().kernel;
        const int64_t term = isSingle ? column / 2 : column * types + i / 2, half = (isSingle ? column : i) % 2;
        to[row * pairsOfRow() + term].numbers[2 * lane + half] =
            int16_t(int32_t(weight[((first + lane) * s.in + i) * s.places() + place]));
      }
}

const void *ByteDepthwise::packed(const void *weight, void *workspace) const {
  if (s.hasPanels)
    return weight;
  pack(weight, workspace);
  return workspace;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// One part of a call: rows of results by blocks of channels.
class ByteDepthwiseWalk {
public:
  using Take = llvm::function_ref<void(const ByteTile &)>;

  ByteDepthwiseWalk(const ByteDepthwise &d, const void *images, const void *packed, int32_t zero, char *memory,
                    Take take)
      : d(d), s(d.s), images(static_cast<const char *>(images)), weights(static_cast<const PairVector *>(packed)),
        flip(s.dtype == DType::Int8 ? 0x80 : 0), zero(int16_t(zero + flip)), add(hasWideVectors() ? kWide : kPlain),
        ring(reinterpret_cast<PairVector *>(memory)),
        sums(reinterpret_cast<int32_t *>(ring + (d.blockVectors + 1) * d.ringVectors)),
        copy(reinterpret_cast<uint8_t *>(sums + (d.blockVectors + 1) * kTileWindows * kWidth)), take(take),
        held(size_t(s.slices().kernel * d.ringRows)) {
    std::memset(copy, uint8_t(zero), d.copyBytes());
  }

  void run(int64_t firstRow, int64_t lastRow, int64_t firstBlock, int64_t lastBlock) {
    for (int64_t block = firstBlock; block < lastBlock; ++block) {
      firstVector = block * d.blockVectors;
      numVectors = (block + 1 == d.numBlocks ? d.numVectors : firstVector + d.blockVectors) - firstVector;
      for (int64_t row = firstRow; row < lastRow; ++row)
        runRow(row, row == firstRow);
      flush();
    }
  }

private:
  /// Adds the sums of a row of results to the tile.
  void runRow(int64_t number, bool isFirst) {
    const int64_t slices = s.slices().results, rows = s.rows().results, columns = s.columns().results;
    const int64_t image = number / (slices * rows), ofImage = number % (slices * rows);
    if (ofImage == 0)
      flush();
    if (isFirst || ofImage % rows == 0)
      llvm::fill(held, -1);
    setTerms(image, ofImage / rows, ofImage % rows);
    for (int64_t done = 0, count = 0; done < columns; done += count) {
      if (numWindows == 0) {
        tileImage = image;
        tileWindow = ofImage * columns + done;
      }
      count = std::min(columns - done, kTileWindows - numWindows);
      for (int64_t vector = 0; vector < numVectors; ++vector)
        addRun(vector, done, count);
      numWindows += count;
      if (numWindows == kTileWindows)
        flush();
    }
  }

  /// Finds the terms of a row of windows, and copies the rows that they read.
  void setTerms(int64_t image, int64_t ofSlices, int64_t ofRows) {
    terms.clear();
    for (int64_t i = 0; i < s.slices().kernel; ++i) {
      const int64_t slice = ofSlices * s.slices().stride - s.slices().pad + i * s.slices().dilation;
      if (slice < 0 || slice >= s.slices().size)
        continue;
      for (int64_t j = 0; j < s.rows().kernel; ++j) {
        const int64_t row = ofRows * s.rows().stride - s.rows().pad + j * s.rows().dilation;
        if (row >= 0 && row < s.rows().size)
          addTerms(i * s.rows().kernel + j, i * d.ringRows + row % d.ringRows, image, slice, row);
      }
    }
  }

  /// Adds the terms of row `ofWindow` of windows, which is row `row` of a slice, kept in place `place` of the ring.
  void addTerms(int64_t ofWindow, int64_t place, int64_t image, int64_t slice, int64_t row) {
    if (held[size_t(place)] != row) {
      held[size_t(place)] = row;
      for (int64_t vector = 0; vector < numVectors; ++vector)
        copyRow(vector, image, slice * s.rows().size + row, ring + vector * d.ringVectors + place * d.rowPairs);
    }
    const PairVector *of = weights + ofWindow * d.pairsOfRow();
    for (int64_t step = 0; step < d.steps; ++step)
      for (int64_t type = 0; type < d.types; ++type)
        terms.push_back({place * d.rowPairs + step * (d.stepColumns / d.grain) * d.types + type, of++});
  }

  /// Sums of `count` windows from `first` on, behind those of the tile.
  void addRun(int64_t vector, int64_t first, int64_t count) {
    const int64_t step = s.columns().stride / d.grain * d.types;
    const RowSums row = {step, terms, (firstVector + vector) * d.termsOfWindow()};
    const PairVector *windows = ring + vector * d.ringVectors + first * step;
    int32_t *to = sums + (vector * kTileWindows + numWindows) * kWidth;
    const int64_t pieces = int64_t(llvm::divideCeil(count, kMostTogether));
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t begin = placeOf(piece, pieces, count), size = placeOf(piece + 1, pieces, count) - begin;
      add[size - 1](row, windows + begin * step, to + begin * kWidth);
    }
  }

  void flush() {
    for (int64_t vector = 0; numWindows && vector < numVectors; ++vector) {
      const int64_t first = d.channelOf(firstVector + vector);
      take({sums + vector * kTileWindows * kWidth, kWidth, tileImage, tileWindow, numWindows, first,
            std::min(kWidth, d.channels() - first)});
    }
    numWindows = 0;
  }

  /// Copies row `row` of an image, counted through its slices, for the channels of a vector.
  void copyRow(int64_t vector, int64_t image, int64_t row, PairVector *to) {
    const int64_t extent = extentOf(s.columns(), s.columns().results), left = std::min(s.columns().pad, extent);
    const int64_t width = std::min(extent - left, s.columns().size);
    const int64_t first = d.channelOf(firstVector + vector), inside = left * d.sources * kWidth;
    const char *from = images + image * s.channels() * s.imagePlane();
    from += row * s.columns().size * (s.isChannelsLast ? s.channels() : 1);
    const bool isWhole = d.isSingle && s.out == 1 && d.channels() >= kWidth;
    if (isWhole && s.isChannelsLast)
      return pairInPlace(reinterpret_cast<const uint8_t *>(from) + first, left, width, to);
    if (isWhole)
      gatherChannels(from + first * s.imagePlane(), s.imagePlane(), kWidth, width,
                     reinterpret_cast<char *>(copy + inside));
    else
      copyChannels(from, first, width, copy + inside);
    const int64_t column = d.sources * kWidth, second = d.isSingle ? s.columns().dilation * kWidth : kWidth;
    for (int64_t type = 0; type < d.types; ++type)
      pairColumns(copy + 2 * type * kWidth, d.grain * column, second, d.rowPairs / d.types, to + type, d.types);
  }

  /// Copies the elements that each channel of results reads, one by one.
  void copyChannels(const char *from, int64_t first, int64_t width, uint8_t *to) const {
    const int64_t count = std::min(kWidth, d.channels() - first), column = d.sources * kWidth;
    const int64_t step = s.isChannelsLast ? s.channels() : 1, apart = s.isChannelsLast ? 1 : s.imagePlane();
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t i = 0; i < s.in; ++i) {
        const char *channel = from + ((first + lane) / s.out * s.in + i) * apart;
        uint8_t *copied = to + i * kWidth + lane;
        for (int64_t x = 0; x < width; ++x)
          copied[x * column] = uint8_t(channel[x * step]);
      }
  }

  /// Pairs of a row with its channels side by side: `width` columns behind `left` pads. `from`: its first column.
  void pairInPlace(const uint8_t *from, int64_t left, int64_t width, PairVector *to) const {
    const int64_t column = s.channels(), apart = s.columns().dilation, grain = d.grain, end = left + width;
    const int64_t firstInside = std::min(int64_t(llvm::divideCeil(left, grain)), d.rowPairs);
    const int64_t lastInside =
        std::clamp(int64_t(llvm::divideCeil(std::max<int64_t>(end - apart, 0), grain)), firstInside, d.rowPairs);
    auto pairAtEdge = [&](int64_t pair) {
      uint8_t numbers[2 * kWidth];
      std::memcpy(numbers, copy, sizeof numbers); // pads
      for (int64_t half = 0; half < 2; ++half)
        if (const int64_t x = pair * grain + half * apart; x >= left && x < end)
          std::memcpy(numbers + half * kWidth, from + (x - left) * column, kWidth);
      pairColumns(numbers, 0, kWidth, 1, to + pair, 1);
    };
    for (int64_t pair = 0; pair < firstInside; ++pair)
      pairAtEdge(pair);
    pairColumns(from + (firstInside * grain - left) * column, grain * column, apart * column, lastInside - firstInside,
                to + firstInside, 1);
    for (int64_t pair = lastInside; pair < d.rowPairs; ++pair)
      pairAtEdge(pair);
  }

  /// Widens `count` pairs of vectors, `column` bytes apart, whose second numbers are `second` bytes behind their first
  /// ones. Results are `step` vectors apart.
  void pairColumns(const uint8_t *from, int64_t column, int64_t second, int64_t count, PairVector *to,
                   int64_t step) const {
    using Numbers = int16_t __attribute__((vector_size(2 * kWidth)));
    const Bytes flips = Bytes{} + uint8_t(flip);
    const Numbers zeros = Numbers{} + zero;
    for (int64_t i = 0; i < count; ++i, from += column, to += step) {
      Bytes a, b;
      std::memcpy(&a, from, sizeof a);
      std::memcpy(&b, from + second, sizeof b);
      a ^= flips;
      b ^= flips;
      const Bytes low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const Bytes high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      const Numbers numbers[] = {__builtin_convertvector(low, Numbers) - zeros,
                                 __builtin_convertvector(high, Numbers) - zeros};
      std::memcpy(to, numbers, sizeof numbers);
    }
  }

  const ByteDepthwise &d;
  const ByteWindowsShape &s;
  const char *const images;
  const PairVector *const weights;
  const int32_t flip; // of bits that make int8 numbers uint8 ones, larger by 128
  const int16_t zero; // of these
  const AddWindows *const add;
  PairVector *const ring;
  int32_t *const sums;
  uint8_t *const copy;
  const Take take;
  std::vector<int64_t> held; // rows in the ring
  std::vector<Term> terms;
  int64_t firstVector = 0, numVectors = 0;
  int64_t tileImage = 0, tileWindow = 0, numWindows = 0;
};

void ByteDepthwise::run(const void *images, const void *packed, int32_t zero, void *workspace,
                        llvm::function_ref<void(const ByteTile &)> take) const {
  char *memory = static_cast<char *>(workspace) + ownWeightBytes();
  shareParts(numThreads, rowParts * blockParts, [&](unsigned part, unsigned thread) {
    const unsigned row = part % rowParts, block = part / rowParts;
    ByteDepthwiseWalk walk(*this, images, packed, zero, memory + thread * threadBytes, take);
    walk.run(placeOf(row, rowParts, totalRows()), placeOf(row + 1, rowParts, totalRows()),
             placeOf(block, blockParts, numBlocks), placeOf(block + 1, blockParts, numBlocks));
  });
}

} // namespace tess::runtime::contract
