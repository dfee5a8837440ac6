//===- PaddedImages.cpp - images whose windows lie side by side -----------===//
#include "runtime/contract/PaddedImages.h"

#include "runtime/contract/Copies.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime::contract {

namespace {

constexpr unsigned kLast = Windows::kAxes - 1;
constexpr int64_t kWidth = kLanes, kVector = kCopyVector;

/// The way from where windows begin to their place with the smallest number.
int64_t leastStep(const WindowAxis &axis) { return std::min<int64_t>((axis.kernel - 1) * axis.dilation, 0); }

/// Elements of an axis that windows reach.
int64_t reachOf(const WindowAxis &axis) {
  return (axis.results - 1) * axis.stride + (axis.kernel - 1) * std::abs(axis.dilation) + 1;
}

int64_t residueSizeOf(const WindowAxis &axis) { return llvm::divideCeil(reachOf(axis), axis.stride); }

/// A vector of windows of a panel that follow each other along the last axis.
struct Move {
  int64_t lane; // of the first one
  int64_t at;   // its element of place 0 and channel 0, without the way to the places
};
using Moves = llvm::SmallVector<Move, kWidth>;

/// Adds the vectors of `count` windows. Each may write lanes behind them, which the next windows or the next line write
/// again.
void addMoves(Moves &moves, int64_t lane, int64_t count, int64_t at) {
  moves.push_back({lane, at});
  if (count > kVector)
    moves.push_back({lane + count - kVector, at + count - kVector});
}

} // namespace

PaddedImages::PaddedImages(const LineForm &form, const Windows &windows) : form(form), windows(windows) {
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis) {
    sizes[axis] = reachOf(windows.axes[axis]);
    origin[axis] = windows.axes[axis].pad - leastStep(windows.axes[axis]);
  }
  const WindowAxis &last = windows.axes[kLast];
  residueSize = residueSizeOf(last);
  sizes[kLast] = residueSize * last.stride;
  for (int64_t residue = 0; residue < last.stride; ++residue) {
    auto elementsBefore = [&](int64_t x) { // of the image, in the copy
      const int64_t distance = x + origin[kLast] - residue;
      return distance <= 0 ? 0 : std::min((distance + last.stride - 1) / last.stride, residueSize);
    };
    const int64_t first = elementsBefore(0);
    residues.push_back(
        {first, std::max(first, elementsBefore(last.size)), first * last.stride + residue - origin[kLast]});
  }
  for (const Windows::Place &place : windows.places) {
    const int64_t step = place.steps[kLast] - leastStep(last);
    int64_t row = 0;
    for (unsigned axis = 0; axis < kLast; ++axis)
      row = row * sizes[axis] + place.steps[axis] - leastStep(windows.axes[axis]);
    offsets.push_back(row * sizes[kLast] + step % last.stride * residueSize + step / last.stride);
  }
}

bool PaddedImages::areModest(const std::array<WindowAxis, Windows::kAxes> &axes) {
  constexpr int64_t kMostPadding = 4, kSmallPlane = 4096;
  auto elements = [&](int64_t WindowAxis::*size) { return axes[0].*size * axes[1].*size * axes[2].*size; };
  return reachOf(axes[0]) * reachOf(axes[1]) * residueSizeOf(axes[kLast]) * axes[kLast].stride <=
         kMostPadding * (elements(&WindowAxis::size) + elements(&WindowAxis::results)) + kSmallPlane;
}

int64_t PaddedImages::numRows() const { return windows.batch * windows.channels * sizes[0] * sizes[1]; }

// A line behind the last element is read, too.
size_t PaddedImages::bytes() const {
  const size_t width = size_t(byteWidth(form.ofKernel));
  return llvm::alignTo(size_t(numRows() * sizes[kLast] + kWidth) * width, 64);
}

/// Clears what an image does not fill of `size` elements: all but [first, last), which are written later.
template <typename W> static void clearAround(W *out, int64_t first, int64_t last, int64_t size) {
  if (size >= kVector && first <= kVector && size - last <= kVector) {
    const W zeros[kVector] = {};
    copyFixed<kVector>(zeros, out);
    copyFixed<kVector>(zeros, out + size - kVector);
    return;
  }
  std::fill(out, out + first, W{});
  std::fill(out + last, out + size, W{});
}

template <typename T, typename W> void PaddedImages::copyRow(const T *row, W *out) const {
  for (const Residue &residue : residues) {
    clearAround(out, residue.first, residue.last, residueSize);
    copyStrided(row + residue.at, windows.axes[kLast].stride, residue.last - residue.first, out + residue.first);
    out += residueSize;
  }
}

template <typename T> void PaddedImages::copyRowsOf(const T *images, int64_t begin, int64_t end, char *to) const {
  using W = typename WordOf<T>::type;
  W *out = reinterpret_cast<W *>(to) + begin * sizes[kLast];
  int64_t h = begin % sizes[1], d = begin / sizes[1] % sizes[0];
  int64_t channel = begin / (sizes[0] * sizes[1]) % windows.channels;
  int64_t image = begin / (sizes[0] * sizes[1]) / windows.channels;
  const ImageForm &imageForm = windows.form;
  for (int64_t row = begin; row < end; ++row, out += sizes[kLast]) {
    const int64_t y = h - origin[1], z = d - origin[0];
    if (uint64_t(y) < uint64_t(windows.axes[1].size) && uint64_t(z) < uint64_t(windows.axes[0].size))
      copyRow(images + image * imageForm.batchStride + channel * imageForm.blockStride + z * imageForm.strides[0] +
                  y * imageForm.strides[1],
              out);
    else
      std::fill_n(out, sizes[kLast], W{});
    if (++h < sizes[1])
      continue;
    h = 0;
    if (++d < sizes[0])
      continue;
    d = 0;
    if (++channel == windows.channels) {
      channel = 0;
      ++image;
    }
  }
  if (end == numRows())
    std::fill_n(out, kWidth, W{});
}

void PaddedImages::copyRows(const void *images, int64_t begin, int64_t end, char *to) const {
  withFloatType(form.dtype, [&]<typename T>(T) { copyRowsOf(static_cast<const T *>(images), begin, end, to); });
}

namespace {

/// Elements along the contracted axis of a copy.
struct Elements {
  llvm::ArrayRef<int64_t> offsets; // of places
  int64_t channelStride, begin, end;

  /// Calls fn(number, offset in the copy) for each.
  template <typename Fn> void visit(Fn &&fn) const {
    const int64_t places = int64_t(offsets.size());
    int64_t channel = begin / places * channelStride, place = begin % places;
    for (int64_t number = 0; number < end - begin; channel += channelStride, place = 0)
      for (; place < places && number < end - begin; ++place)
        fn(number++, channel + offsets[size_t(place)]);
  }
};

/// Gathers lines of `Count` vectors.
template <size_t Count, typename W> void gatherVectors(const W *copy, const Moves &moves, const Elements &of, W *to) {
  const W *from[Count];
  int64_t lanes[Count];
  for (size_t i = 0; i < Count; ++i) {
    from[i] = copy + moves[i].at;
    lanes[i] = moves[i].lane;
  }
  of.visit([&](int64_t number, int64_t at) {
    for (size_t i = 0; i < Count; ++i)
      copyFixed<kVector>(from[i] + at, to + number * kWidth + lanes[i]);
  });
}

template <typename W> void gatherLines(const W *copy, const Moves &moves, const Elements &of, W *to) {
  switch (moves.size()) {
  case 1:
    return gatherVectors<1>(copy, moves, of, to);
  case 2:
    return gatherVectors<2>(copy, moves, of, to);
  case 3:
    return gatherVectors<3>(copy, moves, of, to);
  case 4:
    return gatherVectors<4>(copy, moves, of, to);
  default:
    of.visit([&](int64_t number, int64_t at) {
      for (const Move &move : moves)
        copyFixed<kVector>(copy + move.at + at, to + number * kWidth + move.lane);
    });
  }
}

/// Gathers lines of pairs.
void gatherPairs(const BF16 *copy, const Moves &moves, const Elements &of, uint32_t *to) {
  const BF16 *even = nullptr;
  of.visit([&](int64_t number, int64_t at) {
    if (number % 2 == 0) {
      even = copy + at;
      return;
    }
    for (const Move &move : moves)
      copyPairs(even + move.at, copy + at + move.at, to + number / 2 * kWidth + move.lane);
  });
  constexpr BF16 kZeros[kVector] = {};
  if ((of.end - of.begin) % 2)
    for (const Move &move : moves)
      copyPairs(even + move.at, kZeros, to + (of.end - of.begin) / 2 * kWidth + move.lane);
}

} // namespace

template <typename Fn> void PaddedImages::visitRuns(int64_t first, int64_t count, Fn &&fn) const {
  const auto &axes = windows.axes;
  int64_t w = first % axes[2].results, rows = first / axes[2].results;
  int64_t h = rows % axes[1].results, d = rows / axes[1].results % axes[0].results;
  int64_t image = rows / axes[1].results / axes[0].results * windows.channels * plane();
  for (int64_t run = 0, next = 0; run < count; run = next, w = 0) {
    next = std::min(run + axes[2].results - w, count);
    fn(run, next - run, image + (d * axes[0].stride * sizes[1] + h * axes[1].stride) * sizes[2] + w);
    if (++h < axes[1].results)
      continue;
    h = 0;
    if (++d < axes[0].results)
      continue;
    d = 0;
    image += windows.channels * plane();
  }
}

WindowRuns PaddedImages::runsOf(int64_t first, int64_t count) const {
  WindowRuns runs;
  visitRuns(first, count, [&](int64_t row, int64_t size, int64_t at) { runs.push_back({row, size, at, {}, true}); });
  return runs;
}

template <typename W>
void PaddedImages::gatherAs(const W *copy, int64_t begin, int64_t end, int64_t panel, char *to) const {
  const int64_t window = panel * kWidth;
  Moves moves;
  visitRuns(window, std::min(kWidth, windows.rows() - window),
            [&](int64_t lane, int64_t count, int64_t at) { addMoves(moves, lane, count, at); });
  const Elements elements{offsets, plane(), begin, end};
  if constexpr (std::is_same_v<W, BF16>)
    gatherPairs(copy, moves, elements, reinterpret_cast<uint32_t *>(to));
  else
    gatherLines(copy, moves, elements, reinterpret_cast<W *>(to));
}

// A vector may write beyond its run, where the next run is written, or words that no kernel reads.
RowStrides PaddedImages::gatherColumns(const char *copy, const WindowRuns &runs, int64_t firstColumn, unsigned columns,
                                       void *to) const {
  static_assert(kCopiedRowWords >= kContractLines + kVector);
  const int64_t places = int64_t(offsets.size()), rows = runs.back().row + runs.back().count;
  withFloatType(form.ofKernel, [&]<typename W>(W) {
    W *row = static_cast<W *>(to);
    for (int64_t column = firstColumn; column < firstColumn + columns; ++column) {
      const W *from = reinterpret_cast<const W *>(copy) + column / places * plane() + offsets[size_t(column % places)];
      for (const WindowRun &run : runs)
        for (int64_t i = 0; i < run.count; i += kVector)
          copyFixed<kVector>(from + run.at + i, row + run.row + i);
      if (rows % form.perColumn)
        row[rows] = W{};
      row += kCopiedRowWords * form.perColumn;
    }
  });
  return {kCopiedRowWords, 1};
}

void PaddedImages::gather(const char *copy, int64_t begin, int64_t end, int64_t first, int64_t last, char *to) const {
  const size_t panelBytes = size_t(form.lines(end - begin)) * form.lineBytes();
  withFloatType(form.ofKernel, [&]<typename W>(W) {
    for (int64_t panel = first; panel < last; ++panel, to += panelBytes)
      gatherAs(reinterpret_cast<const W *>(copy), begin, end, panel, to);
  });
}

} // namespace tess::runtime::contract
