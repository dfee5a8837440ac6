//===- ByteResults.cpp - what becomes of exact sums -----------------------===//
#include "runtime/contract/ByteResults.h"

#include "runtime/contract/ByteSquares.h"
#include "runtime/contract/Transpose.h"
#include "runtime/contract/WideLanes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes;
/// The largest float32 below 1/2: added away from 0, it takes halves and nothing less over the next integer.
constexpr float kBelowHalf = 0x1.fffffep-2f;

using Floats = float __attribute__((vector_size(64), aligned(4)));
using Integers = int32_t __attribute__((vector_size(64), aligned(4)));
using Wrapping = uint32_t __attribute__((vector_size(64), aligned(4)));

/// A vector of results for each window of a tile; of all operands and results there are kLanes bytes for each.
struct Column {
  const int32_t *sums;
  int64_t sumStride, windows, channel;
  const uint8_t *residual;
  int64_t residualStride;
  uint8_t *out;
  int64_t outStride;
};

template <ByteActivation kActivation> [[gnu::always_inline]] inline void activate(Floats &y) {
  if constexpr (kActivation == ByteActivation::Relu) {
    y = y < 0.0f ? Floats{} : y;
  } else if constexpr (kActivation == ByteActivation::Hswish) {
    Floats gate = y + 3.0f;
    gate = gate < 0.0f ? Floats{} : gate;
    gate = gate > 6.0f ? Floats{} + 6.0f : gate;
    y = y * gate / 6.0f;
  }
}

/// Bounds within which quotients by a scale may be products with its reciprocal: both are normal numbers, and a product
/// of at most kMostQuotient is off by at most three roundings, less than kBesideHalf.
constexpr float kLeastScale = 0x1p-100f, kMostScale = 0x1p100f, kMostQuotient = 511, kBesideHalf = 0x1p-12f;

/// Numbers as stored integers; 0 for NaN. Integers are those of quotients by the scale, rounded with halves away from
/// zero. A product with the reciprocal rounds alike unless it is beside a half; where one of a vector is, or is NaN,
/// the vector is divided.
class Quantizer {
public:
  explicit Quantizer(const QuantizedResults &r)
      : scale(r.result.scale), zero(float(r.result.zero)), lowest(float(r.lowest)), highest(float(r.highest)) {
    const bool isNear = std::max(std::abs(lowest - zero), std::abs(highest - zero)) <= kMostQuotient;
    const bool isPlain = isNear && scale >= kLeastScale && scale <= kMostScale;
    reciprocal = isPlain ? 1 / scale : std::numeric_limits<float>::quiet_NaN();
  }

  [[gnu::always_inline]] void run(const Floats &y, uint8_t *to) const {
    const Floats product = clamped(y * reciprocal, lowest - zero, highest - zero);
    const Floats integer = rounded(product);
    const Floats apart = (Floats)((Integers)(integer - product) & INT32_MAX);
    const Integers isSafe = apart < 0.5f - kBesideHalf;
    if (__builtin_expect(__builtin_reduce_and(isSafe) != 0, 1))
      store(integer + zero, to);
    else
      store(divided(y), to);
  }

private:
  [[gnu::always_inline]] static Floats clamped(Floats number, float lowest, float highest) {
    number = number < lowest ? Floats{} + lowest : number;
    return number > highest ? Floats{} + highest : number;
  }

  [[gnu::always_inline]] static Floats rounded(const Floats &number) {
    return __builtin_elementwise_trunc(number +
                                       (Floats)((Integers)(Floats{} + kBelowHalf) | ((Integers)number & INT32_MIN)));
  }

  [[gnu::always_inline]] Floats divided(const Floats &y) const {
    const Floats number = clamped(rounded(y / scale) + zero, lowest, highest);
    return number == number ? number : Floats{};
  }

  [[gnu::always_inline]] static void store(const Floats &number, uint8_t *to) {
    const Bytes bytes = __builtin_convertvector(__builtin_convertvector(number, Integers), Bytes);
    std::memcpy(to, &bytes, sizeof bytes);
  }

  float scale, zero, lowest, highest, reciprocal;
};

/// Bytes as the numbers that they stand for.
struct Dequantizer {
  float scale, zero;
  int32_t sign; // 0x80 where bytes have one

  [[gnu::always_inline]] void add(const uint8_t *from, Floats &y) const {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    const Integers stored = (__builtin_convertvector(bytes, Integers) ^ sign) - sign;
    y += (__builtin_convertvector(stored, Floats) - zero) * scale;
  }
};

template <ByteActivation kActivation, bool kAdds>
[[gnu::always_inline]] inline void finishColumn(const QuantizedResults &r, const Column &given) {
  const Column c = given;
  const Quantizer quantizer(r);
  const Dequantizer residual = {r.residualScale.scale, float(r.residualScale.zero),
                                r.residualScale.dtype == DType::Int8 ? 0x80 : 0};
  Wrapping offsets, sum;
  Floats scales;
  std::memcpy(&offsets, r.of.offsets + c.channel, sizeof offsets);
  std::memcpy(&scales, r.of.scales + c.channel, sizeof scales);
  for (int64_t window = 0; window < c.windows; ++window) {
    std::memcpy(&sum, c.sums + window * c.sumStride, sizeof sum);
    Floats y = __builtin_convertvector((Integers)(sum + offsets), Floats) * scales;
    if constexpr (kAdds)
      residual.add(c.residual + window * c.residualStride, y);
    activate<kActivation>(y);
    quantizer.run(y, c.out + window * c.outStride);
  }
}

using Finish = void (*)(const QuantizedResults &, const Column &);

template <ByteActivation kActivation, bool kAdds> void finishPlainly(const QuantizedResults &r, const Column &c) {
  finishColumn<kActivation, kAdds>(r, c);
}

WIDE_BEGIN

template <ByteActivation kActivation, bool kAdds> void finishWidely(const QuantizedResults &r, const Column &c) {
  finishColumn<kActivation, kAdds>(r, c);
}

WIDE_END

template <ByteActivation kActivation> Finish finishBy(bool isWide, bool adds) {
  if (isWide)
    return adds ? finishWidely<kActivation, true> : finishWidely<kActivation, false>;
  return adds ? finishPlainly<kActivation, true> : finishPlainly<kActivation, false>;
}

Finish finishOf(const QuantizedResults &r) {
  const bool isWide = hasWideVectors(), adds = r.residual;
  switch (r.activation) {
  case ByteActivation::Relu:
    return finishBy<ByteActivation::Relu>(isWide, adds);
  case ByteActivation::Hswish:
    return finishBy<ByteActivation::Hswish>(isWide, adds);
  default:
    return finishBy<ByteActivation::Identity>(isWide, adds);
  }
}

/// Where the element of a window and a channel lies.
int64_t placeIn(const ByteImages &images, const ByteTile &tile, int64_t channel) {
  const int64_t first = tile.image * images.plane * images.channels;
  return first +
         (images.isChannelsLast ? tile.window * images.channels + channel : channel * images.plane + tile.window);
}

/// Copies the elements of some windows and `channels` channels to vectors, one for each window.
void gatherColumn(const ByteImages &images, const uint8_t *from, int64_t windows, int64_t channels, uint8_t *to) {
  if (images.isChannelsLast) {
    for (int64_t window = 0; window < windows; ++window)
      std::memcpy(to + window * kWidth, from + window * images.channels, size_t(channels));
    return;
  }
  Bytes square[kLanes] = {};
  for (int64_t channel = 0; channel < channels; ++channel)
    if (windows >= kLeastBytes)
      square[channel] = loadBytes(from + channel * images.plane, windows);
    else
      std::memcpy(&square[channel], from + channel * images.plane, size_t(windows));
  transpose(square);
  std::memcpy(to, square, size_t(windows * kWidth));
}

/// Copies the first `channels` elements of vectors to where they lie in images.
void scatterColumn(const ByteImages &images, const uint8_t *vectors, int64_t windows, int64_t channels, uint8_t *to) {
  if (images.isChannelsLast) {
    for (int64_t window = 0; window < windows; ++window)
      std::memcpy(to + window * images.channels, vectors + window * kWidth, size_t(channels));
    return;
  }
  Bytes square[kLanes] = {};
  std::memcpy(square, vectors, size_t(windows * kWidth));
  transpose(square);
  for (int64_t channel = 0; channel < channels; ++channel)
    std::memcpy(to + channel * images.plane, &square[channel], size_t(windows));
}

} // namespace

void setOffsets(int64_t channels, const float *bias, int32_t zero, const int32_t *weightSums, const ByteChannels &to) {
  constexpr float kMostBias = 0x1p30f;
  for (int64_t c = 0; c < channels; ++c) {
    float integer = 0;
    if (bias) {
      const float scaled = bias[c] / to.scales[c];
      integer = std::clamp(std::trunc(scaled + std::copysign(kBelowHalf, scaled)), -kMostBias, kMostBias);
    }
    const int32_t ofBias = std::isnan(integer) ? 0 : int32_t(integer);
    to.offsets[c] = int32_t(uint32_t(ofBias) - (zero ? uint32_t(zero) * uint32_t(weightSums[c]) : 0));
  }
}

void QuantizedResults::write(const ByteTile &tile) const {
  static_assert(Kernels::kMostRows <= kLanes);
  const Finish finish = finishOf(*this);
  uint8_t added[kLanes * kLanes], made[kLanes * kLanes];
  for (int64_t done = 0; done < tile.channels; done += kWidth) {
    const int64_t channel = tile.channel + done, count = std::min(kWidth, tile.channels - done);
    Column column = {tile.sums + done, tile.stride, tile.windows, channel, added, kWidth, made, kWidth};
    if (residual) {
      const auto *from = static_cast<const uint8_t *>(residual) + placeIn(residualImages, tile, channel);
      if (residualImages.isChannelsLast && count == kWidth) {
        column.residual = from;
        column.residualStride = residualImages.channels;
      } else {
        gatherColumn(residualImages, from, tile.windows, count, added);
      }
    }
    auto *to = static_cast<uint8_t *>(out) + placeIn(images, tile, channel);
    const bool isDirect = images.isChannelsLast && count == kWidth;
    if (isDirect) {
      column.out = to;
      column.outStride = images.channels;
    }
    finish(*this, column);
    if (!isDirect)
      scatterColumn(images, made, tile.windows, count, to);
  }
}

void IntegerResults::write(const ByteTile &tile) const {
  constexpr int64_t kSide = 8;
  int32_t *first = out + (tile.image * channels + tile.channel) * plane + tile.window;
  for (int64_t channel = 0; channel < tile.channels; channel += kSide)
    for (int64_t window = 0; window < tile.windows; window += kSide) {
      const int64_t columns = std::min(kSide, tile.channels - channel), rows = std::min(kSide, tile.windows - window);
      Words square[kSide] = {}, added;
      std::memcpy(&added, offsets + tile.channel + channel, sizeof added);
      for (int64_t i = 0; i < rows; ++i) {
        std::memcpy(&square[i], tile.sums + (window + i) * tile.stride + channel, sizeof(Words));
        square[i] += added;
      }
      transpose(square);
      for (int64_t i = 0; i < columns; ++i)
        std::memcpy(first + (channel + i) * plane + window, &square[i], size_t(rows) * sizeof(int32_t));
    }
}

} // namespace tess::runtime::contract
