//===- ByteCases.h - convolutions of bytes by plain loops -------*- C++ -*-===//
//
// Exact sums and quantized results that those of runtime/contract must equal, of
// all levels, layouts and numbers of threads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteResults.h"
#include "runtime/threads/Worker.h"

#include "llvm/Support/MathExtras.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace tess::test {

using namespace runtime;
using namespace runtime::contract;

constexpr const char *kLevels[] = {"x86-64-v4+avx512bf16", "x86-64-v4", "x86-64-v3"};

/// Products of a level and of those below, while it lives.
class LevelUpTo {
public:
  explicit LevelUpTo(const char *name) { llvm::cantFail(limitLevel(name)); }
  ~LevelUpTo() { llvm::cantFail(limitLevel(kLevels[0])); }
};

/// Memory that is aligned to 64.
class Memory {
public:
  explicit Memory(size_t size) : bytes(size + 64) {}
  char *get() { return reinterpret_cast<char *>(llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64)); }

private:
  std::vector<char> bytes;
};

struct Sizes {
  int64_t batch, groups, in, out;
  WindowAxis rows, columns;
  WindowAxis slices = {};
};

/// An axis whose last windows end with its pads, or before.
inline WindowAxis axis(int64_t size, int64_t kernel, int64_t stride = 1, int64_t pad = 0, int64_t dilation = 1) {
  return {size, (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1, kernel, stride, pad, dilation};
}

using Numbers = std::vector<int32_t>;

/// A convolution of random bytes. Images are kept as [batch, channels, rows, columns].
class Case {
public:
  Case(Sizes sizes, DType dtype, unsigned seed) : z(sizes), dtype(dtype), random(seed) {
    images = numbers(z.batch * z.groups * z.in * imagePlane(), dtype);
    weight = numbers(z.groups * z.out * z.in * places(), DType::Int8);
    zero = numbers(1, dtype)[0];
  }

  int64_t imagePlane() const { return z.slices.size * z.rows.size * z.columns.size; }
  int64_t plane() const { return z.slices.results * z.rows.results * z.columns.results; }
  int64_t places() const { return z.slices.kernel * z.rows.kernel * z.columns.kernel; }
  int64_t results() const { return z.batch * z.groups * z.out * plane(); }

  Numbers numbers(int64_t count, DType of) {
    Numbers out(static_cast<size_t>(count));
    for (int32_t &each : out)
      each = int32_t(random() % 256) - (of == DType::Int8 ? 128 : 0);
    return out;
  }

  Numbers sums() const {
    Numbers out;
    for (int64_t n = 0; n < z.batch; ++n)
      for (int64_t channel = 0; channel < z.groups * z.out; ++channel)
        for (int64_t window = 0; window < plane(); ++window)
          out.push_back(sumOf(n, channel, window));
    return out;
  }

  ByteWindowsShape shape(bool isChannelsLast, bool hasPanels) const {
    return {dtype, z.batch, z.groups, z.in, z.out, {z.slices, z.rows, z.columns}, isChannelsLast, hasPanels};
  }

  /// Runs it by `Convolution`, ByteWindows or ByteDepthwise, and hands tiles to `results`.
  template <typename Convolution, typename Results>
  void run(bool isChannelsLast, bool hasPanels, unsigned threads, Results &&results) const {
    Convolution windows(shape(isChannelsLast, hasPanels), threads);
    Memory workspace(windows.workspaceBytes()), panels(windows.weightBytes());
    std::vector<char> x = stored(images, z.groups * z.in, imagePlane(), isChannelsLast);
    std::vector<char> w(weight.begin(), weight.end());
    if (hasPanels)
      windows.pack(w.data(), panels.get());
    llvm::cantFail(Worker::global().call([&] {
      const void *packed = windows.packed(hasPanels ? panels.get() : w.data(), workspace.get());
      results.start(windows.weightSums(packed), windows.zeroOfSums(zero));
      windows.run(x.data(), packed, zero, workspace.get(), [&](const ByteTile &tile) { results.get().write(tile); });
      return llvm::Error::success();
    }));
  }

  /// Numbers of images as bytes.
  static std::vector<char> stored(const Numbers &numbers, int64_t channels, int64_t plane, bool isChannelsLast) {
    std::vector<char> bytes(numbers.begin(), numbers.end());
    for (size_t i = 0; isChannelsLast && i < numbers.size(); ++i)
      bytes[placeOf(int64_t(i), channels, plane)] = char(numbers[i]);
    return bytes;
  }
  static size_t placeOf(int64_t i, int64_t channels, int64_t plane) {
    const int64_t image = i / (channels * plane), channel = i / plane % channels;
    return size_t((image * plane + i % plane) * channels + channel);
  }

  const Sizes z;
  const DType dtype;
  int32_t zero;

private:
  /// The element along an axis that a window has at a place; -1: a pad.
  static int64_t elementOf(const WindowAxis &axis, int64_t window, int64_t place) {
    const int64_t at = window * axis.stride - axis.pad + place * axis.dilation;
    return at < axis.size ? std::max<int64_t>(at, -1) : -1;
  }

  int32_t sumOf(int64_t n, int64_t channel, int64_t window) const {
    int64_t sum = 0;
    for (int64_t place = 0; place < places(); ++place) {
      const int64_t ofRow = place / z.columns.kernel, windowRow = window / z.columns.results;
      const int64_t d = elementOf(z.slices, windowRow / z.rows.results, ofRow / z.rows.kernel);
      const int64_t r = elementOf(z.rows, windowRow % z.rows.results, ofRow % z.rows.kernel);
      const int64_t s = elementOf(z.columns, window % z.columns.results, place % z.columns.kernel);
      for (int64_t c = 0; c < z.in && std::min({d, r, s}) >= 0; ++c) {
        const int64_t image = n * z.groups * z.in + channel / z.out * z.in + c;
        const int64_t at = ((image * z.slices.size + d) * z.rows.size + r) * z.columns.size + s;
        sum += int64_t(images[size_t(at)] - zero) * weight[size_t((channel * z.in + c) * places() + place)];
      }
    }
    return int32_t(sum);
  }

  std::mt19937 random;
  Numbers images, weight;
};

/// Exact sums of a case.
struct Sums {
  IntegerResults results;
  Numbers offsets, out;
  int64_t channels;

  void start(const int32_t *weightSums, int32_t zero) {
    offsets.assign(size_t(channels) + kLanes, 0);
    for (int64_t c = 0; c < channels; ++c)
      offsets[size_t(c)] = zero ? -zero * weightSums[c] : 0;
    results.offsets = offsets.data();
  }
  const IntegerResults &get() const { return results; }
};

/// The exact sums by `Convolution`.
template <typename Convolution>
Numbers computedSums(const Case &c, bool isChannelsLast, bool hasPanels, unsigned threads) {
  const int64_t channels = c.z.groups * c.z.out;
  Sums sums{{}, {}, Numbers(size_t(c.results()), -1), channels};
  sums.results = {nullptr, channels, c.plane(), sums.out.data()};
  c.run<Convolution>(isChannelsLast, hasPanels, threads, sums);
  return sums.out;
}

/// Results as bytes, by the formulas of docs/reference/quantized.md.
class Quantized {
public:
  Quantized(const Case &c, unsigned seed) : c(c), channels(c.z.groups * c.z.out), random(seed) {
    results.activation = ByteActivation(seed % 3);
    results.result = {seed % 2 ? DType::Int8 : DType::UInt8, 0.37f, seed % 2 ? -3 : 120};
    results.lowest = seed % 2 ? -127 : 0;
    results.highest = seed % 2 ? 127 : 255;
    results.residualScale = {seed % 4 > 1 ? DType::Int8 : DType::UInt8, 0.21f, 17};
    hasBias = seed % 5;
    hasResidual = seed % 3;
    std::uniform_real_distribution<float> ofScales(1e-4f, 2e-3f), ofBiases(-20, 20);
    for (int64_t i = 0; i < channels + kLanes; ++i) {
      scales.push_back(ofScales(random));
      biases.push_back(ofBiases(random));
    }
    scales[0] = 0x1p-10f; // halves
    results.result.scale = seed % 7 == 0 ? 0x1p-3f : results.result.scale;
    residual.resize(size_t(c.results()));
    for (int32_t &each : residual)
      each = int32_t(random() % 256) - (results.residualScale.dtype == DType::Int8 ? 128 : 0);
  }

  Numbers expected() const {
    Numbers out = c.sums();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = expectedOf(out[i], size_t(int64_t(i) / c.plane() % channels), residual[i]);
    return out;
  }

  /// The results in the order of the expected ones. `isChannelsLast`: images, residual and results.
  template <typename Convolution> Numbers computed(bool isChannelsLast, bool hasPanels, unsigned threads) {
    std::vector<char> out(size_t(c.results())), z = Case::stored(residual, channels, c.plane(), isChannelsLast);
    offsets.assign(size_t(channels) + kLanes, 0);
    results.of = {offsets.data(), scales.data()};
    results.images = results.residualImages = {channels, c.plane(), isChannelsLast};
    results.out = out.data();
    results.residual = hasResidual ? z.data() : nullptr;
    c.run<Convolution>(isChannelsLast, hasPanels, threads, *this);
    Numbers found;
    for (int64_t i = 0; i < c.results(); ++i) {
      const char stored = out[isChannelsLast ? Case::placeOf(i, channels, c.plane()) : size_t(i)];
      found.push_back(results.result.dtype == DType::Int8 ? int32_t(int8_t(stored)) : int32_t(uint8_t(stored)));
    }
    return found;
  }

  void start(const int32_t *weightSums, int32_t zero) {
    setOffsets(channels, hasBias ? biases.data() : nullptr, zero, weightSums, results.of);
  }
  const QuantizedResults &get() const { return results; }

private:
  static float rounded(float x) { return std::trunc(x + std::copysign(0x1.fffffep-2f, x)); }

  int32_t expectedOf(int32_t sum, size_t channel, int32_t added) const {
    if (hasBias)
      sum += int32_t(std::clamp(rounded(biases[channel] / scales[channel]), -0x1p30f, 0x1p30f));
    float y = float(sum) * scales[channel];
    if (hasResidual)
      y = y + (float(added) - float(results.residualScale.zero)) * results.residualScale.scale;
    if (results.activation == ByteActivation::Relu)
      y = std::max(y, 0.0f);
    if (results.activation == ByteActivation::Hswish)
      y = y * std::min(std::max(y + 3.0f, 0.0f), 6.0f) / 6.0f;
    const float integer = rounded(y / results.result.scale) + float(results.result.zero);
    return int32_t(std::clamp(integer, float(results.lowest), float(results.highest)));
  }

  const Case &c;
  const int64_t channels;
  std::mt19937 random;
  QuantizedResults results{};
  bool hasBias, hasResidual;
  std::vector<float> scales, biases;
  Numbers residual, offsets;
};

} // namespace tess::test
