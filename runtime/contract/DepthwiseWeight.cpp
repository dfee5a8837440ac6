//===- DepthwiseWeight.cpp - gradients of weights of single channels ------===//
#include "runtime/contract/DepthwiseWeight.h"

#include "runtime/contract/Lanes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <immintrin.h>

namespace tess::runtime::contract {

namespace {

/// Places whose sums a pass over a piece has in registers.
constexpr int64_t kMostPlaces = 10;
/// Windows of kSide rows of kSide places share elements, over so many rows of results.
constexpr unsigned kSide = 3, kSlice = kSide * kSide, kRows = 4;

size_t sumBytes(DType dtype) { return dtype == DType::Float64 ? 8 : 4; }

WindowAxes pointsOf(const WindowAxes &axes) {
  WindowAxes points;
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
    points[axis] = {axes[axis].results, axes[axis].results};
  return points;
}

template <typename T, typename Sum = Accumulator<T>> class Groups {
public:
  struct Memory {
    Sum *operand, *gradient;
    Lanes<Sum> *sums;
    double *totals;
  };

  Groups(const DepthwiseWeightShape &shape, const PaddedBoxes &boxes, const PaddedBoxes &gradients,
         llvm::ArrayRef<int64_t> placeAt, const T *operand, const T *gradient, Memory memory)
      : shape(shape), boxes(boxes), gradients(gradients), placeAt(placeAt), operand(operand), gradient(gradient),
        memory(memory) {}

  /// Writes the gradients of groups [begin, end).
  void run(int64_t begin, int64_t end, int64_t pieceImages, T *out) {
    std::fill_n(memory.totals, (end - begin) * numSums(), 0.0);
    for (int64_t number = 0; number < boxes.count(); ++number) {
      setBox(number);
      for (int64_t group = begin; group < end; ++group)
        for (int64_t image = 0; image < shape.batch; image += pieceImages)
          addPiece(image, std::min(image + pieceImages, shape.batch), group,
                   memory.totals + (group - begin) * numSums());
    }
    for (int64_t i = 0; i < (end - begin) * numSums(); ++i)
      out[begin * numSums() + i] = narrow<T>(Sum(memory.totals[i]));
  }

private:
  int64_t numPlaces() const { return int64_t(placeAt.size()); }
  int64_t numSums() const { return numPlaces() * shape.results; }

  /// Adds lanes by halves.
  static Sum added(Lanes<Sum> lanes) {
    using Half = Sum __attribute__((ext_vector_type(kLanesOf<Sum> / 2)));
    Half half = lanes.lo + lanes.hi;
    if constexpr (kLanesOf<Sum> == 8) {
      const auto quarter = half.lo + half.hi;
      return quarter[0] + quarter[1];
    } else {
      return half[0] + half[1];
    }
  }

  static Channels<T> channelOf(const ImageForm &form, const T *data, int64_t image, int64_t channel) {
    Channels<T> channels{data + image * form.batchStride, {form.channelAt(channel)}, {}};
    llvm::copy(form.strides, channels.strides);
    return channels;
  }

  void setBox(int64_t number) {
    box = boxes.box(number);
    gradientBox = gradients.box(number);
    boxes.clear(memory.operand);
  }

  /// Adds the products of the box of images [image, end).
  void addPiece(int64_t image, int64_t end, int64_t group, double *totals) {
    std::fill_n(memory.sums, numSums(), Lanes<Sum>(Sum(0)));
    for (; image < end; ++image)
      addImage(image, group);
    for (int64_t i = 0; i < numSums(); ++i)
      totals[i] += double(added(memory.sums[i]));
  }

  void addImage(int64_t image, int64_t group) {
    boxes.copy(box, channelOf(shape.operand, operand, image, group), memory.operand);
    for (int64_t i = 0; i < shape.results; ++i) {
      setGradient(channelOf(shape.result, gradient, image, group * shape.results + i));
      Lanes<Sum> *sums = memory.sums + i * numPlaces();
      const int64_t whole = box.counts[2] / kWidth * kWidth;
      for (int64_t column = 0; column < whole; column += kWidth)
        addColumn<false>(column, {}, sums);
      if (whole < box.counts[2])
        addColumn<true>(whole, maskOf(box.counts[2] - whole), sums);
    }
  }

  /// Reads a gradient in place where it need not be widened.
  void setGradient(const Channels<T> &channel) {
    if constexpr (std::is_same_v<T, Sum>) {
      factors = channel.data + channel.laneAt[0] + box.first[2];
      for (unsigned axis = 0; axis < 2; ++axis) {
        factorSteps[axis] = channel.strides[axis];
        factors += box.first[axis] * channel.strides[axis];
      }
      fetchFactors();
    } else {
      gradients.copy(gradientBox, channel, memory.gradient);
      factors = memory.gradient;
      factorSteps[0] = gradients.windowAt({1, 0, 0});
      factorSteps[1] = gradients.windowAt({0, 1, 0});
    }
  }

  /// Asks for the lines of a gradient in their order: columns of vectors would wait for each.
  void fetchFactors() const {
    constexpr int64_t kLine = 64 / int64_t(sizeof(Sum));
    for (int64_t depth = 0; depth < box.counts[0]; ++depth)
      for (int64_t row = 0; row < box.counts[1]; ++row)
        for (int64_t column = 0; column < box.counts[2]; column += kLine)
          __builtin_prefetch(factors + depth * factorSteps[0] + row * factorSteps[1] + column);
  }

  static constexpr int64_t kWidth = kLanesOf<Sum>;
  using Word = std::conditional_t<sizeof(Sum) == 8, long long, int>;
  using Mask = Word __attribute__((vector_size(32)));

  /// All bits of the first `count` lanes.
  static Mask maskOf(int64_t count) {
    Mask mask;
    for (int64_t i = 0; i < kWidth; ++i)
      mask[i] = i < count ? -1 : 0;
    return mask;
  }

  /// Zeros for what lies behind the last column: elements of other windows, or nothing.
  template <bool kIsMasked> static Lanes<Sum> load(const Sum *from, Mask mask) {
    if constexpr (!kIsMasked)
      return loadLanes(from);
    else if constexpr (sizeof(Sum) == 8)
      return std::bit_cast<Lanes<Sum>>(_mm256_maskload_pd(from, std::bit_cast<__m256i>(mask)));
    else
      return std::bit_cast<Lanes<Sum>>(_mm256_maskload_ps(from, std::bit_cast<__m256i>(mask)));
  }

  /// Whether windows of a row have the elements of the one before, one place on, at three by three places.
  bool sharesRows() const {
    const WindowAxis &rows = shape.axes[1];
    return rows.kernel == 3 && shape.axes[2].kernel == 3 && rows.stride == rows.dilation;
  }

  /// Adds the products of a column of vectors.
  template <bool kIsMasked> void addColumn(int64_t column, Mask mask, Lanes<Sum> *sums) const {
    if (sharesRows()) {
      for (int64_t first = 0; first < numPlaces(); first += kSlice)
        addShared<kIsMasked>(column, first, mask, sums + first);
      return;
    }
    const int64_t passes = llvm::divideCeil(numPlaces(), kMostPlaces);
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t first = pass * numPlaces() / passes, last = (pass + 1) * numPlaces() / passes;
      addPlaces<kIsMasked, kMostPlaces>(column, first, last - first, mask, sums + first);
    }
  }

  template <bool kIsMasked, unsigned kCount>
  void addPlaces(int64_t column, int64_t first, int64_t count, Mask mask, Lanes<Sum> *to) const {
    if constexpr (kCount > 1)
      if (count < kCount)
        return addPlaces<kIsMasked, kCount - 1>(column, first, count, mask, to);
    Lanes<Sum> sums[kCount];
    std::copy_n(to, kCount, sums);
    for (int64_t depth = 0; depth < box.counts[0]; ++depth)
      for (int64_t row = 0; row < box.counts[1]; ++row) {
        const Sum *from = memory.operand + boxes.windowAt({depth, row, column});
        const Lanes<Sum> factor =
            load<kIsMasked>(factors + depth * factorSteps[0] + row * factorSteps[1] + column, mask);
        for (unsigned i = 0; i < kCount; ++i)
          sums[i] = __builtin_elementwise_fma(load<kIsMasked>(from + placeAt[first + i], mask), factor, sums[i]);
      }
    std::copy_n(sums, kCount, to);
  }

  /// Adds products at the kSlice places from `first` on, kRows rows of results at a time.
  template <bool kIsMasked> void addShared(int64_t column, int64_t first, Mask mask, Lanes<Sum> *to) const {
    Lanes<Sum> sums[kSlice];
    std::copy_n(to, kSlice, sums);
    const Sum *operands = memory.operand + placeAt[first];
    for (int64_t depth = 0; depth < box.counts[0]; ++depth) {
      int64_t row = 0;
      for (; row + kRows <= box.counts[1]; row += kRows)
        addRows<kIsMasked, kRows>(operands, {depth, row, column}, mask, sums);
      for (; row < box.counts[1]; ++row)
        addRows<kIsMasked, 1>(operands, {depth, row, column}, mask, sums);
    }
    std::copy_n(sums, kSlice, to);
  }

  template <bool kIsMasked, unsigned kCount>
  [[gnu::always_inline]] void addRows(const Sum *operands, const Numbers &window, Mask mask,
                                      Lanes<Sum> (&sums)[kSlice]) const {
    const Sum *from = operands + boxes.windowAt(window);
    const Sum *factor = factors + window[0] * factorSteps[0] + window[1] * factorSteps[1] + window[2];
    const int64_t rowStep = placeAt[kSide] - placeAt[0];
    Lanes<Sum> ofRows[kCount];
    for (unsigned i = 0; i < kCount; ++i)
      ofRows[i] = load<kIsMasked>(factor + int64_t(i) * factorSteps[1], mask);
#pragma unroll
    for (unsigned row = 0; row < kCount + kSide - 1; ++row, from += rowStep)
#pragma unroll
      for (unsigned k = 0; k < kSide; ++k) {
        const Lanes<Sum> elements = load<kIsMasked>(from + (placeAt[k] - placeAt[0]), mask);
#pragma unroll
        for (unsigned i = 0; i < kCount; ++i)
          if (i <= row && row < i + kSide) {
            Lanes<Sum> &sum = sums[(row - i) * kSide + k];
            sum = __builtin_elementwise_fma(elements, ofRows[i], sum);
          }
      }
  }

  const DepthwiseWeightShape &shape;
  const PaddedBoxes &boxes, &gradients;
  const llvm::ArrayRef<int64_t> placeAt;
  const T *const operand;
  const T *const gradient;
  const Memory memory;
  WindowBox box, gradientBox;
  const Sum *factors = nullptr; // of the box: rows that are `factorSteps` apart
  int64_t factorSteps[2] = {};
};

constexpr BoxLimits kPiece = {INT64_MAX, DepthwiseWeight::kPieceVectors};

} // namespace

DepthwiseWeight::DepthwiseWeight(const DepthwiseWeightShape &given)
    : shape(given), isWide(takesWide(shape)), boxes(shape.axes, 1, int64_t(32 / sumBytes(shape.dtype)), kPiece),
      gradients(pointsOf(shape.axes), 1, int64_t(32 / sumBytes(shape.dtype)), kPiece) {
  const Numbers &most = boxes.counts();
  pieceImages = std::max<int64_t>(1, kPieceVectors / (most[0] * most[1] * boxes.vectors(most[2])));
  if (boxes.count() > 1)
    pieceImages = 1;
  if (isWide)
    zeros.resize(size_t(shape.axes[2].size) * byteWidth(shape.dtype));
  Numbers sizes;
  for (unsigned axis = 0; axis < Windows::kAxes; ++axis)
    sizes[axis] = shape.axes[axis].kernel;
  for (int64_t place = 0; place < sizes[0] * sizes[1] * sizes[2]; ++place)
    placeAt.push_back(boxes.placeAt({place / sizes[2] / sizes[1], place / sizes[2] % sizes[1], place % sizes[2]}));
}

size_t DepthwiseWeight::workspaceBytes() const {
  const size_t sums = placeAt.size() * size_t(shape.results);
  return llvm::alignTo(sums * (sizeof(Lanes<float>) + size_t(shape.groups) * sizeof(double)) +
                           size_t(boxes.elements() + gradients.elements()) * sumBytes(shape.dtype),
                       64);
}

void DepthwiseWeight::run(int64_t begin, int64_t end, const void *operand, const void *gradient, void *out,
                          void *workspace) const {
  if (isWide)
    return runWide(begin, end, operand, gradient, out);
  withFloatType(shape.dtype, [&]<typename T>(T) {
    using Sum = Accumulator<T>;
    const int64_t numSums = int64_t(placeAt.size()) * shape.results;
    auto *sums = static_cast<Lanes<Sum> *>(workspace);
    auto *copies = reinterpret_cast<Sum *>(sums + numSums);
    auto *totals = reinterpret_cast<double *>(copies + boxes.elements() + gradients.elements());
    Groups<T>(shape, boxes, gradients, placeAt, static_cast<const T *>(operand), static_cast<const T *>(gradient),
              {copies, copies + boxes.elements(), sums, totals})
        .run(begin, end, pieceImages, static_cast<T *>(out));
  });
}

} // namespace tess::runtime::contract
