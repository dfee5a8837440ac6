//===- ByteWindows.cpp - convolutions of bytes ----------------------------===//
#include "runtime/contract/ByteWindows.h"

#include "runtime/contract/BytePanels.h"
#include "runtime/contract/ByteSquares.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/contract/TileCall.h"
#include "runtime/contract/Transpose.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes, kPerWord = 4;
/// From window to window of a tile's sums.
constexpr int64_t kSumStride = Kernels::kMostPanels * kWidth;
/// Bytes of what a block of windows reads: they stay in the second level of the caches until all panels have gone by.
constexpr int64_t kBlockBytes = 256 << 10;
/// Multiplications of a part that takes about 20 us; parts for each thread where there are more.
constexpr int64_t kPartProducts = 4 << 20;
constexpr unsigned kPartsPerThread = 3;
/// Channels of one of several groups below which most lanes of a panel are empty.
constexpr int64_t kFewestChannels = 4;
/// How much larger than an image its copy may be, and rows of it in bytes.
constexpr int64_t kMostGrowth = 4, kMostRowBytes = 1 << 20;

/// Where parts of `count` things begin, of which the larger ones come first, so that threads end together.
int64_t placeOf(int64_t part, int64_t parts, int64_t count) {
  return count / parts * part + std::min(part, count % parts);
}

/// Elements from the first to the last one that windows read.
int64_t extentOf(const WindowAxis &axis) {
  return (axis.results - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

bool hasPads(const WindowAxis &axis) { return axis.pad > 0 || axis.padEnd() > 0; }

/// Whether segments are whole rows of windows.
bool joinsColumns(const ByteWindowsShape &s) { return s.columns().dilation == 1 && s.groups == 1; }

/// Whether kernels can read windows in place: they read whole words.
bool needsNoCopy(const ByteWindowsShape &s) {
  const int64_t bytes = joinsColumns(s) ? s.in * s.columns().kernel : s.in;
  return llvm::none_of(s.axes, hasPads) && bytes % kPerWord == 0;
}

} // namespace

bool ByteWindows::fits(const ByteWindowsShape &shape) {
  auto isModest = [](const WindowAxis &axis) {
    return extentOf(axis) <= kMostGrowth * (axis.size + axis.kernel) && axis.pad >= 0;
  };
  return (shape.groups == 1 || shape.out >= kFewestChannels) && llvm::all_of(shape.axes, isModest) &&
         extentOf(shape.columns()) * shape.channels() * shape.slices().kernel <= kMostRowBytes;
}

ByteWindows::ByteWindows(const ByteWindowsShape &shape, unsigned threads)
    : s(shape), mayBeInPlace(needsNoCopy(shape)), addsHalf(shape.dtype == DType::Int8 && !mayBeInPlace),
      hasOffsets(shape.dtype == DType::Int8 && mayBeInPlace),
      kernels(Kernels::of(addsHalf ? DType::UInt8 : shape.dtype)), numThreads(threads) {
  planSegments();
  planRows();
  share();
  planMemory();
}

void ByteWindows::planSegments() {
  const bool joins = joinsColumns(s);
  const int64_t columns = joins ? 1 : s.columns().kernel, bytes = joins ? s.columns().kernel * s.in : s.in;
  int64_t line = 0;
  for (int64_t row = 0; row < s.slices().kernel * s.rows().kernel; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      segments.push_back({row / s.rows().kernel, row % s.rows().kernel, column, bytes, line});
      line += segments.back().lines() + hasOffsets;
    }
  panelBytes = size_t(line * kWidth * kPerWord);
}

/// Windows of single elements that follow each other are taken as one row, in pieces of a tile.
void ByteWindows::planRows() {
  const int64_t most = tileWindows();
  isInPlace = s.isChannelsLast && mayBeInPlace;
  auto isPlain = [](const WindowAxis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.results == axis.size;
  };
  isFlat = isInPlace && isPlain(s.rows()) && isPlain(s.columns());
  rowsOfSlice = isFlat ? int64_t(llvm::divideCeil(s.rows().size * s.columns().size, most)) : s.rows().results;
  tilesOfRow = isFlat ? 1 : int64_t(llvm::divideCeil(s.columns().results, most));
  rowBytes = s.channels() * (isInPlace ? s.columns().size : extentOf(s.columns()));
}

/// Parts of rows read the whole weight each, and parts of panels all images: such that they read the fewest bytes.
void ByteWindows::share() {
  if (numThreads == 1)
    return;
  const int64_t wide = llvm::divideCeil(numPanels(), int64_t(kernels.panels()));
  const int64_t wanted =
      std::clamp<int64_t>(s.products() / kPartProducts, numThreads, int64_t(numThreads) * kPartsPerThread);
  const int64_t weightBytes = int64_t(panelBytes) * numPanels();
  const int64_t imageBytes = s.batch * s.imagePlane() * s.channels();
  auto columnsFor = [&](int64_t rows) { return std::min(wide, int64_t(llvm::divideCeil(wanted, rows))); };
  auto reads = [&](int64_t rows) { return rows * weightBytes + columnsFor(rows) * imageBytes; };
  int64_t best = std::min(totalRows(), wanted);
  for (int64_t rows = best - 1; rows > 0; --rows)
    if (rows * columnsFor(rows) >= std::min(wanted, best * columnsFor(best)) && reads(rows) < reads(best))
      best = rows;
  rowParts = unsigned(best);
  columnParts = unsigned(columnsFor(best));
}

void ByteWindows::planMemory() {
  const int64_t step =
      isFlat ? tileWindows() * s.channels() : s.rows().stride * rowBytes * (isInPlace ? 1 : s.slices().kernel);
  blockRows = std::clamp<int64_t>(kBlockBytes / step, 1, int64_t(llvm::divideCeil(totalRows(), int64_t(rowParts))));
  if (!isInPlace) {
    const int64_t slices = blockRows / rowsOfSlice + 2; // of which a block has rows, at most
    copyBytes = size_t((blockRows * s.rows().stride + slices * spanOf(1)) * s.slices().kernel * rowBytes);
    copyBytes += kWidth * kPerWord; // the last word of a segment may end beyond it
    copyBytes = llvm::alignTo(copyBytes, 64);
  }
  threadBytes = copyBytes + size_t(kSumStride * Kernels::kMostRows) * sizeof(int32_t);
}

std::string ByteWindows::weightText() const {
  std::string text = "segments";
  for (int64_t number : {s.groups, s.in, s.out, s.slices().kernel, s.rows().kernel, s.columns().kernel,
                         int64_t(segments.size()), int64_t(hasOffsets)})
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
  return text;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

const void *ByteWindows::packed(const void *weight, void *workspace) const {
  if (s.hasPanels)
    return weight;
  packBy(threads(), weight, workspace);
  return workspace;
}

const int32_t *ByteWindows::weightSums(const void *packed) const {
  return reinterpret_cast<const int32_t *>(static_cast<const char *>(packed) + panelBytes * size_t(numPanels()));
}

void ByteWindows::packBy(unsigned threads, const void *weight, void *to) const {
  char *panels = static_cast<char *>(to);
  auto *sums = reinterpret_cast<int32_t *>(panels + panelBytes * size_t(numPanels()));
  std::fill_n(sums + s.resultChannels(), kWidth, 0);
  shareParts(threads, unsigned(numPanels()), [&](unsigned panel) {
    packPanel(panel, static_cast<const int8_t *>(weight), panels + panel * panelBytes, sums);
  });
}

/// Packs a panel, and adds up the weights of its channels.
void ByteWindows::packPanel(int64_t panel, const int8_t *weight, char *to, int32_t *sums) const {
  const int64_t group = panel / panelsOfGroup(), first = panel % panelsOfGroup() * kWidth;
  const int64_t count = std::min(kWidth, s.out - first), channel = group * s.out + first;
  int64_t words = 0;
  for (const Segment &segment : segments)
    words += segment.lines();
  std::vector<uint32_t> rows(size_t(words * kWidth));
  std::vector<char> ordered(static_cast<size_t>(s.depth()));
  for (int64_t c = 0; c < count; ++c) {
    const int8_t *from = weight + (channel + c) * s.depth();
    sums[channel + c] = std::accumulate(from, from + s.depth(), 0);
    packChannel(from, ordered.data(), rows.data() + c * words);
  }
  auto *lines = reinterpret_cast<uint32_t *>(to);
  for (int64_t at = 0; const Segment &segment : segments) {
    uint32_t *begin = lines + segment.line * kWidth;
    transposeColumns(reinterpret_cast<const char *>(rows.data() + at), words * kPerWord, kWidth, segment.lines(),
                     begin);
    if (hasOffsets)
      writeOffsets(begin, segment.lines());
    at += segment.lines();
  }
}

/// Orders the weights of a channel of results as windows have them: place by place, channels side by side.
void ByteWindows::packChannel(const int8_t *weight, char *ordered, uint32_t *words) const {
  gatherChannels(reinterpret_cast<const char *>(weight), s.places(), s.in, s.places(), ordered);
  for (const Segment &segment : segments) {
    std::memcpy(words, ordered, size_t(segment.bytes)); // words are zeros
    ordered += segment.bytes;
    words += segment.lines();
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// One part of a call: rows of results by panels.
class ByteWindowsWalk {
public:
  using Take = llvm::function_ref<void(const ByteTile &)>;

  ByteWindowsWalk(const ByteWindows &w, const void *images, const void *packed, int32_t zero, char *memory, Take take)
      : w(w), s(w.s), images(static_cast<const char *>(images)), panels(static_cast<const char *>(packed)),
        pad(uint8_t(w.zeroOfSums(zero))), copy(memory), sums(reinterpret_cast<int32_t *>(memory + w.copyBytes)),
        take(take) {
    call.setStride(TileCall::Lhs, TileCall::Rows, s.columns().stride * s.channels());
    call.setStride(TileCall::Lhs, TileCall::Lines, 1);
    call.setStride(TileCall::Rhs, TileCall::Columns, int64_t(w.panelBytes));
    call.setStride(TileCall::Rhs, TileCall::Lines, kWidth);
    call.setStride(TileCall::Out, TileCall::Rows, kSumStride);
    call.setStride(TileCall::Out, TileCall::Columns, kWidth);
  }

  void run(int64_t firstRow, int64_t lastRow, int64_t firstPanel, int64_t lastPanel) {
    for (int64_t row = firstRow; row < lastRow; row += w.blockRows) {
      setStrips(row, std::min(row + w.blockRows, lastRow));
      for (int64_t panel = firstPanel; panel < lastPanel;) {
        const int64_t ofGroup = (panel / w.panelsOfGroup() + 1) * w.panelsOfGroup() - panel;
        const int64_t count = std::min({ofGroup, lastPanel - panel, int64_t(w.kernels.panels())});
        runTiles(panel, count);
        panel += count;
      }
    }
  }

private:
  /// Rows of results of one slice of an image, where the windows of the first one begin, and the bytes from slice to
  /// slice of theirs.
  struct Strip {
    int64_t image, slice, firstRow, lastRow;
    const char *at;
    int64_t sliceBytes;
  };

  void setStrips(int64_t first, int64_t last) {
    strips.clear();
    char *to = copy;
    for (int64_t row = first; row < last;) {
      const int64_t number = row / w.rowsOfSlice, begin = row % w.rowsOfSlice;
      const int64_t end = std::min(w.rowsOfSlice, begin + last - row);
      Strip strip{number / s.slices().results, number % s.slices().results, begin, end, to, 0};
      const char *image = images + strip.image * s.channels() * s.imagePlane();
      if (w.isInPlace) {
        const int64_t bytes = s.rows().size * s.columns().size * s.channels();
        strip.at = image + strip.slice * s.slices().stride * bytes;
        strip.at += w.isFlat ? 0 : begin * s.rows().stride * w.rowBytes;
        strip.sliceBytes = s.slices().dilation * bytes;
      } else {
        strip.sliceBytes = w.spanOf(end - begin) * w.rowBytes;
        to = copySlices(image, strip, to);
      }
      strips.push_back(strip);
      row += end - begin;
    }
  }

  char *copySlices(const char *image, const Strip &strip, char *to) const {
    const int64_t first = strip.firstRow * s.rows().stride - s.rows().pad;
    const int64_t elements = s.rows().size * s.columns().size * (s.isChannelsLast ? s.channels() : 1);
    for (int64_t place = 0; place < s.slices().kernel; ++place) {
      const int64_t slice = strip.slice * s.slices().stride - s.slices().pad + place * s.slices().dilation;
      const bool isInside = slice >= 0 && slice < s.slices().size;
      to = copyRows(isInside ? image + slice * elements : nullptr, first, w.spanOf(strip.lastRow - strip.firstRow), to);
    }
    return to;
  }

  /// Copies rows of a slice of an image from the `first` one on, with their pads; null: there are only pads.
  char *copyRows(const char *image, int64_t first, int64_t count, char *to) const {
    const int64_t left = std::min(s.columns().pad, extentOf(s.columns()));
    const int64_t width = std::clamp<int64_t>(extentOf(s.columns()) - left, 0, s.columns().size);
    for (int64_t row = first; row < first + count; ++row, to += w.rowBytes) {
      if (!image || row < 0 || row >= s.rows().size) {
        std::memset(to, pad, size_t(w.rowBytes));
        continue;
      }
      char *inside = to + left * s.channels(), *end = inside + width * s.channels();
      std::memset(to, pad, size_t(inside - to));
      if (s.isChannelsLast)
        std::memcpy(inside, image + row * s.columns().size * s.channels(), size_t(end - inside));
      else
        gatherChannels(image + row * s.columns().size, s.imagePlane(), s.channels(), width, inside);
      if (w.addsHalf)
        std::transform(inside, end, inside, [](char each) { return char(each ^ 0x80); });
      std::memset(end, pad, size_t(to + w.rowBytes - end));
    }
    return to;
  }

  void runTiles(int64_t panel, int64_t count) {
    for (const Strip &strip : strips)
      for (int64_t row = strip.firstRow; row < strip.lastRow; ++row)
        for (int64_t tile = 0; tile < w.tilesOfRow; ++tile)
          runTile(strip, row, tile, panel, count);
  }

  /// A tile by panels of one group. Flat rows are pieces of one row.
  void runTile(const Strip &strip, int64_t row, int64_t tile, int64_t panel, int64_t count) {
    const int64_t results = s.rows().results * s.columns().results, all = w.isFlat ? results : s.columns().results;
    const int64_t number = w.isFlat ? row : tile, numbers = w.isFlat ? w.rowsOfSlice : w.tilesOfRow;
    const int64_t first = placeOf(number, numbers, all), last = placeOf(number + 1, numbers, all);
    const char *from = strip.at + first * s.columns().stride * s.channels();
    int64_t window = strip.slice * results + first;
    if (!w.isFlat) {
      from += (row - strip.firstRow) * s.rows().stride * w.rowBytes;
      window += row * all;
    }
    runPanels(strip, from, {sums, kSumStride, strip.image, window, last - first, 0, 0}, panel, count);
  }

  /// The windows that begin at `from`, by panels of one group.
  void runPanels(const Strip &strip, const char *from, ByteTile tile, int64_t panel, int64_t count) {
    const int64_t group = panel / w.panelsOfGroup(), first = panel % w.panelsOfGroup() * kWidth;
    from += group * s.in;
    for (int64_t done = 0, panels = 0; done < count; done += panels) {
      const int64_t rows = std::min<int64_t>(tile.windows, w.kernels.rows()), rest = tile.windows % rows;
      panels = w.kernels.panelsFor(unsigned(rows), count - done);
      while (rest && !w.kernels.at(unsigned(rest), unsigned(panels)))
        --panels;
      tile.channel = first + done * kWidth;
      tile.channels = std::min(panels * kWidth, s.out - tile.channel);
      tile.channel += group * s.out;
      call.setSize(TileCall::Columns, tile.channels);
      const char *lines = this->panels + (panel + done) * int64_t(w.panelBytes);
      for (int64_t row = 0; row < tile.windows; row += rows) {
        const KernelFn kernel = w.kernels.at(unsigned(std::min(rows, tile.windows - row)), unsigned(panels));
        runSegments(strip, from + row * s.columns().stride * s.channels(), lines, kernel, sums + row * kSumStride);
      }
      take(tile);
    }
  }

  /// Adds the products of all segments of windows that begin at `from`, by panels that begin at `lines`.
  void runSegments(const Strip &strip, const char *from, const char *lines, KernelFn kernel, int32_t *to) {
    call.setData(TileCall::Out, to);
    for (int64_t number = 0; const ByteWindows::Segment &segment : w.segments) {
      call.setSize(TileCall::Lines, segment.lines());
      call.setData(TileCall::Lhs, from + segment.slice * strip.sliceBytes +
                                      segment.row * s.rows().dilation * w.rowBytes +
                                      segment.column * s.columns().dilation * s.channels());
      call.setData(TileCall::Rhs, lines + segment.line * kWidth * kPerWord);
      call.run(kernel, number++);
    }
  }

  const ByteWindows &w;
  const ByteWindowsShape &s;
  const char *const images, *const panels;
  const uint8_t pad;
  char *const copy;
  int32_t *const sums;
  const Take take;
  TileCall call;
  llvm::SmallVector<Strip, 4> strips;
};

void ByteWindows::run(const void *images, const void *packed, int32_t zero, void *workspace,
                      llvm::function_ref<void(const ByteTile &)> take) const {
  char *memory = static_cast<char *>(workspace) + ownWeightBytes();
  const int64_t wide = kernels.panels(), numWide = llvm::divideCeil(numPanels(), wide);
  auto panelOf = [&](unsigned part) { return std::min(placeOf(part, columnParts, numWide) * wide, numPanels()); };
  shareParts(numThreads, rowParts * columnParts, [&](unsigned part, unsigned thread) {
    const unsigned row = part % rowParts, column = part / rowParts;
    ByteWindowsWalk walk(*this, images, packed, zero, memory + thread * threadBytes, take);
    walk.run(placeOf(row, rowParts, totalRows()), placeOf(row + 1, rowParts, totalRows()), panelOf(column),
             panelOf(column + 1));
  });
}

} // namespace tess::runtime::contract
