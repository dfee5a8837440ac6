//===- Windows.cpp - windows of images as a matrix ------------------------===//
#include "runtime/contract/Windows.h"

#include "runtime/contract/Copies.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::contract {

namespace {

using Axis = WindowAxis;

using Numbers = Windows::Numbers;
using Place = Windows::Place;

/// Numbers `index` of a box of these sizes.
Numbers numbersIn(const Numbers &sizes, int64_t index) {
  Numbers numbers;
  for (unsigned axis = Windows::kAxes; axis-- > 0; index /= sizes[axis])
    numbers[axis] = index % sizes[axis];
  return numbers;
}

Numbers sizesOf(const Windows &windows, int64_t Axis::*size) {
  Numbers sizes;
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
    sizes[axis] = windows.axes[axis].*size;
  return sizes;
}

using Run = WindowRun;
using Runs = WindowRuns;

} // namespace

Windows::Windows(int64_t batch, int64_t channels, const std::array<WindowAxis, kAxes> &axes, const ImageForm &form)
    : batch(batch), channels(channels), axes(axes), form(form) {
  const Numbers sizes = sizesOf(*this, &Axis::kernel);
  for (int64_t number = 0; number < sizes[0] * sizes[1] * sizes[2]; ++number) {
    Place place{numbersIn(sizes, number), 0};
    for (unsigned axis = 0; axis < kAxes; ++axis) {
      place.steps[axis] *= axes[axis].dilation;
      place.at += place.steps[axis] * form.strides[axis];
    }
    places.push_back(place);
  }
}

bool Windows::areElements() const {
  int64_t apart = form.block; // elements that follow each other
  for (unsigned axis = kAxes; axis-- > 0; apart *= axes[axis].size) {
    const WindowAxis &along = axes[axis];
    if (along.kernel != 1 || along.stride != 1 || along.pad != 0 || along.results != along.size ||
        (along.size != 1 && form.strides[axis] != apart))
      return false;
  }
  return true;
}

WindowRuns runsOf(const Windows &windows, int64_t firstRow, int64_t rows) {
  const Numbers results = sizesOf(windows, &Axis::results);
  const int64_t perImage = results[0] * results[1] * results[2];
  Runs runs;
  for (int64_t row = 0; row < rows; row += runs.back().count) {
    const Numbers place = numbersIn(results, (firstRow + row) % perImage);
    Run run{row,
            std::min(results[2] - place[2], rows - row),
            (firstRow + row) / perImage * windows.form.batchStride,
            {},
            true};
    for (unsigned axis = 0; axis < Windows::kAxes; ++axis) {
      const Axis &along = windows.axes[axis];
      const int64_t last = (axis + 1 == Windows::kAxes ? run.count - 1 : 0) * along.stride;
      const int64_t reach = (along.kernel - 1) * along.dilation;
      run.origin[axis] = place[axis] * along.stride - along.pad;
      run.at += run.origin[axis] * windows.form.strides[axis];
      run.isInside &= run.origin[axis] + std::min<int64_t>(reach, 0) >= 0 &&
                      run.origin[axis] + last + std::max<int64_t>(reach, 0) < along.size;
    }
    runs.push_back(run);
  }
  return runs;
}

namespace {

/// Which windows of a run have the place inside of the image.
struct Inside {
  int64_t first, last;
};

Inside insideOf(const Windows &windows, const Run &run, const Place &place) {
  if (run.isInside)
    return {0, run.count};
  for (unsigned axis = 0; axis + 1 < Windows::kAxes; ++axis)
    if (uint64_t(run.origin[axis] + place.steps[axis]) >= uint64_t(windows.axes[axis].size))
      return {0, 0};
  const Axis &axis = windows.axes[Windows::kAxes - 1];
  const int64_t begin = run.origin[Windows::kAxes - 1] + place.steps[Windows::kAxes - 1];
  auto windowsBefore = [&](int64_t element) { // that begin before it
    const int64_t distance = element - begin;
    const int64_t before = axis.stride == 1 ? distance : (distance + axis.stride - 1) / axis.stride;
    return distance <= 0 ? 0 : std::min(before, run.count);
  };
  const int64_t first = windowsBefore(0);
  return {first, std::max(first, windowsBefore(axis.size))};
}

/// Calls fn(place, first channel, last channel) for the places that columns [begin, end) belong to.
template <typename Fn> void visitPlaces(const Windows &windows, int64_t begin, int64_t end, Fn &&fn) {
  int64_t place = begin / windows.channels, channel = begin % windows.channels;
  for (int64_t column = begin; column < end;) {
    const int64_t last = std::min(windows.channels, channel + end - column);
    fn(windows.places[size_t(place)], channel, last);
    column += last - channel;
    channel = 0;
    ++place;
  }
}

constexpr int64_t kVector = kCopyVector, kHalf = kVector / 2;

/// Copies elements 0, 2, 4 .. of more than eight, reading none beyond the last one.
template <typename W, typename T> void copyEverySecond(const T *from, int64_t count, W *to) {
  T first[2 * kVector], last[2 * kVector];
  W lower[kVector], upper[kVector];
  std::memcpy(first, from, sizeof first);
  std::memcpy(last, from + 2 * (count - kVector) - 1, sizeof last);
  for (int64_t i = 0; i < kVector; ++i) {
    lower[i] = worded<W>(first[2 * i]);
    upper[i] = worded<W>(last[2 * i + 1]);
  }
  std::memcpy(to, lower, sizeof lower);
  std::memcpy(to + count - kVector, upper, sizeof upper);
}

/// Copies the elements of one run for `channels` channels, which are `apart` apart, to lines.
template <typename W, typename T>
void copyLines(const T *from, int64_t apart, int64_t step, int64_t count, int64_t channels, W *to) {
  auto eachLine = [&](auto copy) {
    for (int64_t channel = 0; channel < channels; ++channel, from += apart, to += kLanes)
      copy();
  };
  auto byVectors = [&]<unsigned Vector>() {
    const int64_t rest = count - Vector;
    eachLine([&] {
      copyFixed<Vector>(from, to);
      copyFixed<Vector>(from + rest, to + rest);
    });
  };
  if (step == 1 && count >= kVector)
    byVectors.template operator()<kVector>();
  else if (step == 1 && count >= kHalf)
    byVectors.template operator()<kHalf>();
  else if (step == 2 && count > kVector && std::is_same_v<T, float>)
    eachLine([&] { copyEverySecond(from, count, to); });
  else
    eachLine([&] { copyStrided(from, step, count, to); });
}

/// Words of the pairs of a run of two channels.
void copyPairedRun(const BF16 *even, const BF16 *odd, int64_t step, int64_t count, uint32_t *to) {
  if (step == 1 && count >= kVector) {
    copyPairs(even, odd, to);
    copyPairs(even + count - kVector, odd + count - kVector, to + count - kVector);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = uint32_t(odd[i * step].bits) << 16 | even[i * step].bits;
}

/// Copies a run of one channel to every second half of words.
void copyHalves(const BF16 *from, int64_t step, int64_t count, BF16 *to) {
  for (int64_t i = 0; i < count; ++i)
    to[i * 2] = from[i * step];
}

/// Gathers rows of images whose channels are apart, line by line.
template <typename T> class LineGather {
public:
  using W = typename WordOf<T>::type;

  LineGather(const Windows &windows, const T *image, const Runs &runs, W *to)
      : windows(windows), image(image), runs(runs), to(to),
        isInside(llvm::all_of(runs, [](const Run &run) { return run.isInside; })) {}

  void run(int64_t begin, int64_t end) {
    int64_t offset = 0;
    if (kPairs && (end - begin) % 2)
      std::fill_n(at(end - begin - 1), 2 * kLanes, W{});
    visitPlaces(windows, begin, end, [&](const Place &place, int64_t first, int64_t last) {
      copyPlace(place, first, last - first, offset);
      offset += last - first;
    });
  }

private:
  static constexpr bool kPairs = WordOf<T>::kPerWord == 2;

  W *at(int64_t offset) const {
    return kPairs ? to + offset / 2 * 2 * int64_t(kLanes) + offset % 2 : to + offset * int64_t(kLanes);
  }

  /// Clears the lines of a place that some windows have beyond an edge.
  void clearOutside(const Place &place, int64_t offset, int64_t channels) const {
    if (llvm::all_of(runs, [&](const Run &run) {
          const Inside inside = insideOf(windows, run, place);
          return inside.last - inside.first == run.count;
        }))
      return;
    if constexpr (kPairs)
      for (int64_t i = offset; i < offset + channels; ++i)
        for (int64_t row = 0; row < int64_t(kLanes); ++row)
          at(i)[row * 2] = W{};
    else
      std::fill_n(at(offset), channels * int64_t(kLanes), W{});
  }

  void copyPlace(const Place &place, int64_t channel, int64_t channels, int64_t offset) const {
    const int64_t step = windows.axes[2].stride * windows.form.strides[2], apart = windows.form.blockStride;
    if (!isInside)
      clearOutside(place, offset, channels);
    for (const Run &run : runs) {
      const Inside inside = insideOf(windows, run, place);
      const int64_t count = inside.last - inside.first, row = run.row + inside.first;
      const T *from = image + run.at + place.at + inside.first * step + channel * apart;
      if (!count)
        continue;
      if constexpr (kPairs)
        copyChannels(from, step, count, channels, offset, row);
      else
        copyLines(from, apart, step, count, channels, at(offset) + row);
    }
  }

  /// Copies a run of bfloat16, two channels at a time where each word has both of its own.
  void copyChannels(const T *from, int64_t step, int64_t count, int64_t channels, int64_t offset, int64_t row) const
    requires kPairs
  {
    const int64_t apart = windows.form.blockStride, paired = offset % 2 ? 0 : channels / 2 * 2;
    for (int64_t i = 0; i < paired; i += 2)
      copyPairedRun(from + i * apart, from + (i + 1) * apart, step, count,
                    reinterpret_cast<uint32_t *>(at(offset + i)) + row);
    for (int64_t i = paired; i < channels; ++i)
      copyHalves(from + i * apart, step, count, at(offset + i) + row * 2);
  }

  const Windows &windows;
  const T *const image;
  const Runs &runs;
  W *const to;
  const bool isInside; // all places of all windows
};

/// Gathers rows of images in blocks of kLanes channels, row by row.
template <typename T>
void gatherBlocks(const Windows &windows, const T *image, const Runs &runs, int64_t begin, int64_t end,
                  typename WordOf<T>::type *to) {
  using W = typename WordOf<T>::type;
  constexpr int64_t kApart = kCopiedRowWords * WordOf<T>::kPerWord;
  const int64_t step = windows.axes[2].stride * windows.form.strides[2];
  visitPlaces(windows, begin, end, [&](const Place &place, int64_t first, int64_t last) {
    const int64_t blocks = (last - first) / kLanes;
    for (const Run &run : runs) {
      const Inside inside = insideOf(windows, run, place);
      const T *from = image + run.at + place.at + windows.form.channelAt(first);
      for (int64_t i = 0; i < run.count; ++i, from += step) {
        W *row = to + (run.row + i) * kApart;
        if (i < inside.first || i >= inside.last)
          std::fill_n(row, blocks * int64_t(kLanes), W{});
        else
          for (int64_t block = 0; block < blocks; ++block)
            copyFixed<kLanes>(from + block * windows.form.blockStride, row + block * kLanes);
      }
    }
    to += last - first;
  });
}

/// Gathers rows that are elements of one image in blocks of kLanes channels.
template <typename T>
void gatherElements(const T *from, int64_t blockStride, unsigned rows, int64_t channels, typename WordOf<T>::type *to) {
  for (unsigned row = 0; row < rows; ++row, from += kLanes, to += kCopiedRowWords * WordOf<T>::kPerWord)
    for (int64_t channel = 0; channel < channels; channel += kLanes)
      copyFixed<kLanes>(from + channel / int64_t(kLanes) * blockStride, to + channel);
}

template <typename T>
RowStrides gatherRowsOf(const Windows &windows, const T *image, int64_t firstRow, unsigned rows, int64_t begin,
                        int64_t end, void *to) {
  auto *words = static_cast<typename WordOf<T>::type *>(to);
  const int64_t perImage = windows.rows() / windows.batch, row = firstRow % perImage;
  if (windows.form.block != 1 && row + rows <= perImage && windows.areElements()) {
    const ImageForm &form = windows.form;
    gatherElements(image + firstRow / perImage * form.batchStride + row * form.block + form.channelAt(begin),
                   form.blockStride, rows, end - begin, words);
    return {kCopiedRowWords, 1};
  }
  const Runs runs = runsOf(windows, firstRow, rows);
  if (windows.form.block == 1) {
    LineGather<T>(windows, image, runs, words).run(begin, end);
    return {1, kLanes};
  }
  gatherBlocks(windows, image, runs, begin, end, words);
  return {kCopiedRowWords, 1};
}

template <typename T>
RowStrides gatherColumnsOf(const Windows &windows, const Runs &runs, const T *image, int64_t firstColumn,
                           unsigned columns, void *to) {
  using W = typename WordOf<T>::type;
  constexpr int64_t kPerWord = WordOf<T>::kPerWord;
  const int64_t places = int64_t(windows.places.size()), step = windows.axes[2].stride * windows.form.strides[2];
  const int64_t rows = runs.back().row + runs.back().count;
  auto *row = static_cast<W *>(to);
  for (int64_t column = firstColumn; column < firstColumn + columns; ++column, row += kCopiedRowWords * kPerWord) {
    const Place &place = windows.places[size_t(column % places)];
    const T *channel = image + column / places * windows.form.blockStride + place.at;
    for (const Run &run : runs) {
      const Inside inside = insideOf(windows, run, place);
      W *line = row + run.row;
      for (int64_t i = 0; i < inside.first; ++i)
        line[i] = W{};
      copyStrided(channel + run.at + inside.first * step, step, inside.last - inside.first, line + inside.first);
      for (int64_t i = inside.last; i < run.count; ++i)
        line[i] = W{};
    }
    if (rows % kPerWord)
      row[rows] = W{};
  }
  return {kCopiedRowWords, 1};
}

} // namespace

RowStrides gatherRows(const LineForm &form, const Windows &windows, const void *image, int64_t firstRow, unsigned rows,
                      int64_t begin, int64_t end, void *to) {
  return withFloatType(form.dtype, [&]<typename T>(T) {
    return gatherRowsOf(windows, static_cast<const T *>(image), firstRow, rows, begin, end, to);
  });
}

RowStrides gatherColumns(const LineForm &form, const Windows &windows, const WindowRuns &runs, const void *image,
                         int64_t firstColumn, unsigned columns, void *to) {
  return withFloatType(form.dtype, [&]<typename T>(T) {
    return gatherColumnsOf(windows, runs, static_cast<const T *>(image), firstColumn, columns, to);
  });
}

} // namespace tess::runtime::contract
