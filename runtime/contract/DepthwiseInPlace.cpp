//===- DepthwiseInPlace.cpp - single channels, images in place ------------===//
#include "runtime/contract/DepthwiseInPlace.h"

#include "runtime/contract/Kernels.h"
#include "runtime/contract/Transpose.h"
#include "runtime/contract/WideLanes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes, kHalf = kWidth / 2;
/// Rows of results that a tile has in registers: small tiles are for the rest, and for windows whose weights fill them.
constexpr int64_t kManyRows = 7, kFewRows = 4;
/// Parts of a convolution that are enough for some threads to share.
constexpr int64_t kManyUnits = 32;

/// How a vector of windows reads the elements that it has at the places of a row.
enum class Reading {
  Places, // by a load at each
  Ends,   // neighbours: by loads at the first and the last one
  Twins,  // of two channels with short rows: by a load of each
  Pairs,  // each second element: by two loads at every second one; these may be of two channels, too
};

/// A vector of windows of a row.
struct Column {
  int64_t from, to;           // elements from where a row begins to what is read first, and to its results
  uint16_t stored, spread[2]; // lanes that have results, and of two vectors where results are two elements apart
};

} // namespace

struct DepthwiseInPlace::Plan {
  explicit Plan(const DepthwiseShape &shape);

  void choose();
  void addColumn(int64_t first, int64_t count);
  void addMask(int64_t first, int64_t step);
  void findPicks();

  int64_t numTerms() const { return int64_t(shape.places.size()); }
  int64_t placesOfRow() const { return shape.axes[2].kernel; }
  /// Whether results of a row lie two elements apart.
  bool isSpread() const { return !isBlocked && shape.step[2] == 2; }
  const DepthwiseShape shape;
  const bool isBlocked;        // vectors have the channels of a block
  int64_t side = 0, share = 0; // of windows whose rows tiles share, and rows of those from result to result; or 0
  Reading reading = Reading::Places;
  int64_t tileRows = kManyRows;   // at most
  int64_t together;               // channels of a vector of row-major images, or of a block
  int64_t second = 0;             // elements from the first load of a row to the second one, in its own channel
  int64_t packs, bands, bandRows; // of channels, and of rows of results
  std::vector<Column> columns;    // of a row
  std::vector<uint16_t> masks;    // elements that loads of a column read
  int64_t numMasks = 0;           // of a column
  std::vector<int32_t> picks;     // lanes of two loads, by place
  std::vector<char> zeros;        // a row beyond the edges
};

// Two channels with rows of at most kHalf results are together where rows are shared.
void DepthwiseInPlace::Plan::choose() {
  const WindowAxis &rows = shape.axes[1], &columns = shape.axes[2];
  const int64_t apart = std::abs(rows.dilation);
  const bool isSquare = rows.kernel == columns.kernel && llvm::is_contained({3, 5, 7}, rows.kernel);
  if (isSquare && !isSpread() && rows.stride % apart == 0 && rows.stride / apart <= 2) {
    side = rows.kernel;
    share = rows.stride / apart;
    tileRows = side == 3 ? kManyRows : kFewRows;
  }
  if (isBlocked)
    return;
  if (columns.stride == 2) {
    reading = Reading::Pairs;
    if (share != 2 || columns.dilation != 1)
      side = 0;
  } else if (side && share == 1 && std::abs(columns.dilation) == 1) {
    reading = Reading::Ends;
  }
  if (side && reading != Reading::Places && columns.results <= kHalf && shape.channels() % 2 == 0) {
    together = 2;
    reading = reading == Reading::Ends ? Reading::Twins : reading;
  }
}

DepthwiseInPlace::Plan::Plan(const DepthwiseShape &given)
    : shape(given), isBlocked(shape.operand.block != 1), together(isBlocked ? kWidth : 1) {
  choose();
  const WindowAxis &rows = shape.axes[1], &along = shape.axes[2];
  packs = shape.channels() / together;
  const int64_t tiles = llvm::divideCeil(rows.results, tileRows),
                parts = std::clamp<int64_t>(llvm::divideCeil(kManyUnits, shape.batch * packs), 1, tiles);
  bandRows = tileRows * int64_t(llvm::divideCeil(tiles, parts));
  bands = std::max<int64_t>(1, rows.results / bandRows); // the last one has the rest, too
  if (reading == Reading::Ends)
    second = (along.kernel - 1) * along.dilation;
  else if (reading == Reading::Pairs && together == 1)
    second = kWidth;
  const int64_t width = isBlocked ? 1 : together == 2 ? kHalf : kWidth;
  for (int64_t first = 0; first < along.results; first += width)
    addColumn(first, std::min(width, along.results - first));
  numMasks = int64_t(masks.size() / columns.size());
  findPicks();
  zeros.resize(size_t(along.size * shape.operand.strides[2]) * byteWidth(shape.dtype));
}

/// Adds the mask of elements `first`, first + step .. of a row that are inside of it.
void DepthwiseInPlace::Plan::addMask(int64_t first, int64_t step) {
  uint16_t mask = 0;
  for (int64_t lane = 0; lane < kWidth; ++lane)
    mask |= uint16_t(uint64_t(first + lane * step) < uint64_t(shape.axes[2].size)) << lane;
  masks.push_back(mask);
}

/// Adds the windows [first, first + count).
void DepthwiseInPlace::Plan::addColumn(int64_t first, int64_t count) {
  const WindowAxis &along = shape.axes[2];
  const int64_t last = (along.kernel - 1) * along.dilation;
  int64_t from = first * along.stride - along.pad;
  if (reading == Reading::Twins)
    from += std::min<int64_t>(last, 0);
  if (reading == Reading::Twins || reading == Reading::Ends) {
    addMask(from, 1);
    addMask(from + second, 1);
  } else {
    for (int64_t place = 0; place < along.kernel; ++place) {
      addMask(from + place * along.dilation, isBlocked ? 0 : 1);
      if (reading == Reading::Pairs)
        addMask(from + place * along.dilation + second, 1);
    }
  }
  const int64_t to = (shape.first[2] + first * shape.step[2]) * shape.result.strides[2];
  const uint32_t stored = isBlocked ? wide::kAll : wide::firstOf(count), spread = _pdep_u32(stored, 0x55555555);
  columns.push_back(
      {from * shape.operand.strides[2], to, uint16_t(stored), {uint16_t(spread), uint16_t(spread >> kWidth)}});
}

void DepthwiseInPlace::Plan::findPicks() {
  const int64_t dilation = shape.axes[2].dilation, last = (placesOfRow() - 1) * dilation;
  for (int64_t place = 0; place < std::max<int64_t>(placesOfRow(), 2); ++place)
    for (int64_t lane = 0; lane < kWidth; ++lane) {
      int64_t at = lane + place * dilation; // in the first load
      if (reading == Reading::Pairs)
        at = 2 * lane + place;
      else if (reading == Reading::Twins)
        at = lane % kHalf + place * dilation - std::min<int64_t>(last, 0) + (lane < kHalf ? 0 : kWidth);
      else if (uint64_t(at) >= uint64_t(kWidth))
        at += kWidth - last;
      picks.push_back(int32_t(at));
    }
}

WIDE_BEGIN

template <typename T> class DepthwiseInPlace::Rows {
public:
  Rows(const Plan &plan, const T *operand, const T *weight, T *out, void *workspace)
      : plan(plan), shape(plan.shape), operand(operand), weight(weight), out(out),
        factors(static_cast<float *>(workspace)), lines(factors + plan.numTerms() * kWidth),
        rows(reinterpret_cast<const T **>(lines + linesOf(plan))),
        writeLarge(plan.tileRows == kManyRows ? tileOf<kManyRows>() : nullptr), writeSmall(tileOf<kFewRows>()) {}

  /// Numbers of the weight that are turned, with space for widened ones.
  static int64_t linesOf(const Plan &plan) { return plan.isBlocked ? 2 * kWidth * plan.shape.window : 0; }

  void run(int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t band = unit % plan.bands, pack = unit / plan.bands % plan.packs;
      setPack(unit / plan.bands / plan.packs, pack * plan.together);
      const int64_t first = band * plan.bandRows, results = shape.axes[1].results;
      for (int64_t depth = 0; depth < shape.axes[0].results; ++depth)
        writeBand(depth, first, band + 1 == plan.bands ? results : first + plan.bandRows);
    }
  }

private:
  using Lanes = wide::Lanes;
  using Words = wide::Words;
  using WriteTiles = void (Rows::*)(int64_t depth, int64_t row, int64_t tiles) const;

  /// Writes tiles over rows [first, last), at least kFewRows. The last one has rows of the one before where it would
  /// have too few.
  void writeBand(int64_t depth, int64_t first, int64_t last) {
    int64_t row = first;
    if (writeLarge) {
      const int64_t tiles = (last - first) / kManyRows;
      (this->*writeLarge)(depth, first, tiles);
      row += tiles * kManyRows;
      if (last - row > kFewRows && tiles)
        return (this->*writeLarge)(depth, last - kManyRows, 1);
    }
    const int64_t tiles = (last - row) / kFewRows;
    if (tiles)
      (this->*writeSmall)(depth, row, tiles);
    if (row + tiles * kFewRows < last)
      (this->*writeSmall)(depth, last - kFewRows, 1);
  }

  /// Sets the channels from `channel` on, with the factors of their terms in all lanes.
  void setPack(int64_t image, int64_t channel) {
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t each = channel + (plan.together == 2 ? i : 0);
      from[i] = operand + image * shape.operand.batchStride + shape.operand.channelAt(each / shape.results);
      to[i] = out + image * shape.result.batchStride + shape.result.channelAt(each);
    }
    const T *weights = weight + channel * shape.window;
    if (plan.isBlocked)
      return turnWeights(weights);
    const T *others = plan.together == 2 ? weights + shape.window : weights;
    for (auto [term, place] : llvm::enumerate(shape.places)) {
      const Lanes factor = wide::joined(Lanes(widen(weights[place])), Lanes(widen(others[place])));
      std::memcpy(factors + int64_t(term) * kWidth, &factor, sizeof factor);
    }
  }

  /// The weights of a block of channels, by term.
  void turnWeights(const T *weights) {
    const float *floats = reinterpret_cast<const float *>(weights);
    if constexpr (!std::is_same_v<T, float>) {
      float *widened = lines + kWidth * shape.window;
      for (int64_t i = 0; i < kWidth * shape.window; ++i)
        widened[i] = widen(weights[i]);
      floats = widened;
    }
    transposeColumns(reinterpret_cast<const char *>(floats), shape.window * 4, kWidth, shape.window,
                     reinterpret_cast<uint32_t *>(lines));
    for (auto [term, place] : llvm::enumerate(shape.places))
      std::memcpy(factors + int64_t(term) * kWidth, lines + place * kWidth, kWidth * sizeof(float));
  }

  template <int64_t kRows> WriteTiles tileOf() const {
    if (plan.side == 3)
      return sharedTileOf<kRows, 3>();
    if constexpr (kRows == kFewRows)
      if (plan.side)
        return plan.side == 5 ? sharedTileOf<kRows, 5>() : sharedTileOf<kRows, 7>();
    return plan.reading == Reading::Pairs ? &Rows::writeAny<kRows, Reading::Pairs>
                                          : &Rows::writeAny<kRows, Reading::Places>;
  }

  template <int64_t kRows, int64_t kSide> WriteTiles sharedTileOf() const {
    switch (plan.reading) {
    case Reading::Ends:
      return &Rows::writeShared<kRows, kSide, 1, Reading::Ends>;
    case Reading::Twins:
      return &Rows::writeShared<kRows, kSide, 1, Reading::Twins>;
    case Reading::Pairs:
      return &Rows::writeShared<kRows, kSide, 2, Reading::Pairs>;
    case Reading::Places:
      return plan.share == 1 ? &Rows::writeShared<kRows, kSide, 1, Reading::Places>
                             : &Rows::writeShared<kRows, kSide, 2, Reading::Places>;
    }
  }

  /// Sets rows of `channel`, whose windows are at `depth`: `first`, first + step .., and a row of zeros for those
  /// beyond the edges.
  template <int64_t kCount>
  [[gnu::always_inline]] void setRows(const T *channel, int64_t depth, int64_t first, int64_t step,
                                      const T **to) const {
    const int64_t plane = depth * shape.axes[0].stride - shape.axes[0].pad, last = first + (kCount - 1) * step;
    const uint64_t size = uint64_t(shape.axes[1].size);
    const bool hasPlane = uint64_t(plane) < uint64_t(shape.axes[0].size);
    const int64_t apart = step * shape.operand.strides[1];
    const T *row = channel + plane * shape.operand.strides[0] + first * shape.operand.strides[1];
    if (hasPlane && uint64_t(first) < size && uint64_t(last) < size) {
      for (int64_t i = 0; i < kCount; ++i)
        to[i] = row + i * apart;
      return;
    }
    const T *zeros = reinterpret_cast<const T *>(plan.zeros.data());
    for (int64_t i = 0; i < kCount; ++i)
      to[i] = hasPlane && uint64_t(first + i * step) < size ? row + i * apart : zeros;
  }

  /// Writes sums of rows that are `step` results apart.
  template <Reading kReading, size_t kRows>
  [[gnu::always_inline]] void store(const Lanes (&sums)[kRows], T *const (&at)[2], int64_t step,
                                    const Column &column) const {
    const wide::Mask stored = column.stored;
    T *first = at[0] + column.to, *second = at[1] + column.to - kHalf;
    for (size_t i = 0; i < kRows; ++i)
      wide::store(sums[i], first + int64_t(i) * step, stored);
    if constexpr (kReading == Reading::Twins || kReading == Reading::Pairs)
      if (plan.together == 2)
        for (size_t i = 0; i < kRows; ++i)
          wide::store(sums[i], second + int64_t(i) * step, wide::Mask(stored << kHalf));
  }

  /// Writes sums to results that lie two elements apart, between others.
  template <size_t kRows>
  [[gnu::always_inline]] void storeSpread(const Lanes (&sums)[kRows], T *at, int64_t step, const Column &column) const {
    for (size_t i = 0; i < kRows; ++i)
      for (unsigned half = 0; half < 2; ++half)
        wide::store(wide::doubled(sums[i], half), at + column.to + int64_t(i) * step + half * kWidth,
                    column.spread[half]);
  }

  /// Sets where the results of a row are.
  void setResults(int64_t depth, int64_t row, T *(&at)[2]) const {
    const int64_t distance = (shape.first[0] + depth * shape.step[0]) * shape.result.strides[0] +
                             (shape.first[1] + row * shape.step[1]) * shape.result.strides[1];
    at[0] = to[0] + distance;
    at[1] = to[1] + distance;
  }

  int64_t resultStep() const { return shape.step[1] * shape.result.strides[1]; }

  /// Writes tiles of windows of kSide x kSide places, which have rows of the image together.
  template <int64_t kRows, int64_t kSide, int64_t kShare, Reading kReading>
  void writeShared(int64_t depth, int64_t row, int64_t tiles) const {
    constexpr int64_t kSlice = kSide * kSide;
    Words picks[kSide];
    std::memcpy(picks, plan.picks.data(), sizeof picks);
    Lanes weights[kSlice];
    std::memcpy(weights, factors, sizeof weights);
    for (; tiles > 0; --tiles, row += kRows)
      writeTile<kRows, kShare, kReading>(depth, row, picks, weights);
  }

  template <int64_t kRows, int64_t kShare, Reading kReading, size_t kSide, size_t kSlice>
  [[gnu::always_inline]] void writeTile(int64_t depth, int64_t row, const Words (&picks)[kSide],
                                        const Lanes (&weights)[kSlice]) const {
    constexpr int64_t kRead = (kRows - 1) * kShare + int64_t(kSide);
    const WindowAxis &along = shape.axes[1];
    const bool isFlipped = along.dilation < 0; // then windows begin with their last row
    const int64_t last = row + kRows - 1, first = (isFlipped ? last : row) * along.stride - along.pad;
    const T *rows[kRead], *others[kRead];
    setRows<kRead>(from[0], depth, first, along.dilation, rows);
    if (plan.together == 2)
      setRows<kRead>(from[1], depth, first, along.dilation, others);
    else
      std::copy_n(rows, kRead, others);
    for (const T *&other : others)
      other += plan.second;
    const int64_t apart = along.dilation * shape.operand.strides[1];
    const T *ahead = from[0] + (first + kRead * along.dilation) * shape.operand.strides[1];
    T *results[2];
    setResults(depth, isFlipped ? last : row, results);
    const int64_t step = placeStep, resultStep = isFlipped ? -this->resultStep() : this->resultStep();
    const uint16_t *masks = plan.masks.data();
    for (const Column &column : llvm::ArrayRef(plan.columns)) {
      for (int64_t i = 0; kReading != Reading::Places && i < kRows * kShare; ++i)
        __builtin_prefetch(ahead + column.from + i * apart); // what the next tile reads first
      Lanes sums[kRows] = {};
      addRows<kShare, kReading>(rows, others, column.from, step, masks, picks, weights, sums);
      store<kReading>(sums, results, resultStep, column);
      masks += plan.numMasks;
    }
  }

  template <int64_t kShare, Reading kReading, size_t kRead, size_t kRows, size_t kSide, size_t kSlice>
  [[gnu::always_inline]] static void
  addRows(const T *const (&rows)[kRead], const T *const (&others)[kRead], int64_t from, int64_t step,
          const uint16_t *masks, const Words (&picks)[kSide], const Lanes (&weights)[kSlice], Lanes (&sums)[kRows]) {
#pragma unroll
    for (int64_t row = 0; row < (int64_t(kRows) - 1) * kShare + int64_t(kSide); ++row) {
      Lanes elements[kSide];
      read<kReading>(rows[row] + from, others[row] + from, step, masks, picks, elements);
#pragma unroll
      for (int64_t place = 0; place < int64_t(kSide); ++place)
#pragma unroll
        for (int64_t i = 0; i < int64_t(kRows); ++i)
          if (i * kShare <= row && row < i * kShare + int64_t(kSide))
            sums[i] = __builtin_elementwise_fma(elements[place], weights[(row - i * kShare) * int64_t(kSide) + place],
                                                sums[i]);
    }
  }

  /// The elements at the places of a row.
  template <Reading kReading, size_t kSide>
  [[gnu::always_inline]] static void read(const T *first, const T *second, int64_t step, const uint16_t *masks,
                                          const Words (&picks)[kSide], Lanes (&elements)[kSide]) {
    if constexpr (kReading == Reading::Places) {
      for (size_t place = 0; place < kSide; ++place)
        elements[place] = wide::load(first + int64_t(place) * step, masks[place]);
    } else if constexpr (kReading == Reading::Pairs) {
      for (size_t place = 0; place < kSide; place += 2) {
        const Lanes a = wide::load(first + place, masks[2 * place]),
                    b = wide::load(second + place, masks[2 * place + 1]);
        elements[place] = wide::picked(a, picks[0], b);
        if (place + 1 < kSide)
          elements[place + 1] = wide::picked(a, picks[1], b);
      }
    } else {
      const Lanes a = wide::load(first, masks[0]), b = wide::load(second, masks[1]);
      for (size_t place = 0; place < kSide; ++place)
        elements[place] = wide::picked(a, picks[place], b);
      if constexpr (kReading == Reading::Ends) {
        elements[0] = a;
        elements[kSide - 1] = b;
      }
    }
  }

  /// Writes tiles of any windows.
  template <int64_t kRows, Reading kReading> void writeAny(int64_t depth, int64_t row, int64_t tiles) const {
    for (; tiles > 0; --tiles, row += kRows)
      writeAnyTile<kRows, kReading>(depth, row);
  }

  template <int64_t kRows, Reading kReading> void writeAnyTile(int64_t depth, int64_t row) const {
    constexpr bool kPairs = kReading == Reading::Pairs;
    const WindowAxis &along = shape.axes[1];
    for (int64_t place = 0; place < along.kernel; ++place)
      setRows<kRows>(from[0], depth, row * along.stride - along.pad + place * along.dilation, along.stride,
                     rows + place * kRows);
    T *results[2];
    setResults(depth, row, results);
    Words even;
    std::memcpy(&even, plan.picks.data(), sizeof even);
    const uint16_t *masks = plan.masks.data();
    for (const Column &column : plan.columns) {
      Lanes sums[kRows] = {};
      const float *factor = factors;
      for (int64_t list = 0; list < along.kernel; ++list)
        for (int64_t place = 0; place < plan.placesOfRow(); ++place, factor += kWidth) {
          Lanes weights;
          std::memcpy(&weights, factor, sizeof weights);
          for (int64_t i = 0; i < kRows; ++i) {
            const int64_t at = column.from + place * placeStep;
            Lanes elements = wide::load(rows[list * kRows + i] + at, masks[kPairs ? 2 * place : place]);
            if (kPairs)
              elements = wide::picked(elements, even,
                                      wide::load(rows[list * kRows + i] + at + plan.second, masks[2 * place + 1]));
            sums[i] = __builtin_elementwise_fma(elements, weights, sums[i]);
          }
        }
      if (plan.isSpread())
        storeSpread(sums, results[0], resultStep(), column);
      else
        store<kReading>(sums, results, resultStep(), column);
      masks += plan.numMasks;
    }
  }

  const Plan &plan;
  const DepthwiseShape &shape;
  const T *const operand;
  const T *const weight;
  T *const out;
  float *const factors, *const lines; // of the weight
  const T **const rows;               // of the image that a tile of any windows reads
  const WriteTiles writeLarge, writeSmall;
  const int64_t placeStep = shape.axes[2].dilation * shape.operand.strides[2];
  const T *from[2] = {}; // channels
  T *to[2] = {};
};

WIDE_END

bool DepthwiseInPlace::takes(const DepthwiseShape &shape) {
  const bool isBlocked = shape.operand.block != 1;
  if (!hasWideVectors() || shape.axes[0].kernel != 1 || shape.dtype == DType::Float64 || shape.operands != 1 ||
      int64_t(shape.places.size()) > kContractLines || shape.axes[1].results < kFewRows ||
      isBlocked != (shape.result.block != 1))
    return false;
  return isBlocked ? shape.results == 1 : shape.axes[2].stride * shape.step[2] <= 2;
}

DepthwiseInPlace::DepthwiseInPlace(const DepthwiseShape &shape) : plan(std::make_shared<Plan>(shape)) {}

int64_t DepthwiseInPlace::units() const { return plan->shape.batch * plan->packs * plan->bands; }

size_t DepthwiseInPlace::workspaceBytes() const {
  const int64_t numbers = plan->numTerms() * kWidth + Rows<float>::linesOf(*plan),
                pointers = kManyRows * plan->shape.axes[1].kernel;
  return llvm::alignTo(size_t(numbers) * sizeof(float) + size_t(pointers) * sizeof(void *), 64);
}

void DepthwiseInPlace::run(int64_t begin, int64_t end, const void *operand, const void *weight, void *out,
                           void *workspace) const {
  wide::withElement(plan->shape.dtype, [&]<typename T>(T) {
    Rows<T>(*plan, static_cast<const T *>(operand), static_cast<const T *>(weight), static_cast<T *>(out), workspace)
        .run(begin, end);
  });
}

} // namespace tess::runtime::contract
