//===- OwnPool.cpp - pooling by our own loops -----------------------------===//
//
// Maximum pooling for every dtype, because oneDNN's loses NaN, and its
// gradient, which goes to the first element of the window that equals the
// maximum. Average pooling for dtypes that oneDNN does not average, and along
// rows alone, where oneDNN takes the elements one by one in the same order. A
// channel of one image is one unit of work, so threads do not change bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/OwnPool.h"
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tess::runtime::cpu {

namespace {

/// The window of one output position along one axis, cut at the ends of the input.
struct Window {
  int64_t first, last;
};

Window windowOf(const SpatialAxis &axis, int64_t index) {
  int64_t begin = index * axis.stride - axis.pad;
  return {std::max<int64_t>(begin, 0), std::min(begin + axis.kernel, axis.size)};
}

/// The window of one output position.
struct Box {
  Window depths, rows, columns;

  int64_t size() const {
    return (depths.last - depths.first) * (rows.last - rows.first) * (columns.last - columns.first);
  }
};

/// A pooling kernel that works channel by channel.
class ChannelKernel : public PreparedKernel {
public:
  ChannelKernel(const PrepareRequest &request, PoolShape shape, const char *name,
                int64_t picoseconds = kOwnPoolPicoseconds)
      : s(shape), dtype(request.outputs[0].dtype) {
    implementationName = name;
    threadCount = threadsFor(s.windowElements() * picoseconds, request.threads);
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    parallelFor(threadCount, s.batch * s.channels, 1, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t channel = begin; channel < end; ++channel)
        computeChannel(channel, inputs, outputs[0]);
    });
    return llvm::Error::success();
  }

protected:
  virtual void computeChannel(int64_t channel, llvm::ArrayRef<void *> inputs, void *output) const = 0;

  /// A channel of images, and one of what the windows of an image give.
  template <typename T> T *imageAt(void *data, int64_t channel) const {
    return static_cast<T *>(data) + channel * s.imageSize();
  }
  template <typename T> T *pooledAt(void *data, int64_t channel) const {
    return static_cast<T *>(data) + channel * s.pooledSize();
  }

  /// Calls visit(index, window) for each output position of a channel, in order.
  template <typename F> void forEachWindow(F visit) const {
    int64_t index = 0;
    for (int64_t depth = 0; depth < s.depth.results; ++depth)
      for (int64_t row = 0; row < s.rows.results; ++row)
        for (int64_t column = 0; column < s.columns.results; ++column)
          visit(index++, Box{windowOf(s.depth, depth), windowOf(s.rows, row), windowOf(s.columns, column)});
  }
  /// Calls visit(place) for each element of a window, in order, until one call returns true.
  template <typename F> void forEachElement(const Box &box, F visit) const {
    for (int64_t d = box.depths.first; d < box.depths.last; ++d)
      for (int64_t h = box.rows.first; h < box.rows.last; ++h)
        for (int64_t w = box.columns.first; w < box.columns.last; ++w)
          if (visit((d * s.rows.size + h) * s.columns.size + w))
            return;
  }

  PoolShape s;
  DType dtype;
};

template <typename T> auto lowest() {
  using A = decltype(widen(T()));
  if constexpr (std::numeric_limits<A>::has_infinity)
    return -std::numeric_limits<A>::infinity();
  else
    return std::numeric_limits<A>::lowest();
}

class MaxPool : public ChannelKernel {
public:
  using ChannelKernel::ChannelKernel;

private:
  void computeChannel(int64_t channel, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      const T *x = imageAt<T>(inputs[0], channel);
      T *to = pooledAt<T>(out, channel);
      forEachWindow([&](int64_t index, const Box &box) {
        auto best = lowest<T>();
        forEachElement(box, [&](int64_t place) {
          auto value = widen(x[place]);
          best = value > best || value != value ? value : best; // NaN wins and stays
          return false;
        });
        to[index] = narrow<T>(best);
      });
    });
  }
};

/// The gradient of MaxPool; inputs are x, out and dout.
class MaxPoolBackward : public ChannelKernel {
public:
  using ChannelKernel::ChannelKernel;

private:
  void computeChannel(int64_t channel, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      std::vector<Accumulator<T>> sums(size_t(s.imageSize()), 0);
      scatter<T>(imageAt<T>(inputs[0], channel), pooledAt<T>(inputs[1], channel), pooledAt<T>(inputs[2], channel),
                 sums);
      T *to = imageAt<T>(out, channel);
      for (size_t i = 0; i < sums.size(); ++i)
        to[i] = narrow<T>(sums[i]);
    });
  }

  template <typename T>
  void scatter(const T *x, const T *result, const T *gradient, std::vector<Accumulator<T>> &sums) const {
    forEachWindow([&](int64_t index, const Box &box) {
      auto wanted = widen(result[index]);
      forEachElement(box, [&](int64_t place) {
        auto value = widen(x[place]);
        bool isIt = value == wanted || (value != value && wanted != wanted);
        if (isIt)
          sums[size_t(place)] += Accumulator<T>(widen(gradient[index]));
        return isIt;
      });
    });
  }
};

class AvgPool : public ChannelKernel {
public:
  AvgPool(const PrepareRequest &request, PoolShape shape, bool backward)
      : ChannelKernel(request, shape, "own:avg_pool2d"), backward(backward),
        includePad(request.op.boolean("count_include_pad")) {}

private:
  int64_t count(const Box &box) const {
    return includePad ? s.depth.kernel * s.rows.kernel * s.columns.kernel : box.size();
  }

  void computeChannel(int64_t channel, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      if (backward)
        spread<T>(pooledAt<T>(inputs[0], channel), imageAt<T>(out, channel));
      else
        average<T>(imageAt<T>(inputs[0], channel), pooledAt<T>(out, channel));
    });
  }

  template <typename T> void average(const T *x, T *to) const {
    forEachWindow([&](int64_t index, const Box &box) {
      Accumulator<T> sum = 0;
      forEachElement(box, [&](int64_t place) {
        sum += Accumulator<T>(widen(x[place]));
        return false;
      });
      to[index] = narrow<T>(Accumulator<T>(sum / Accumulator<T>(count(box))));
    });
  }

  template <typename T> void spread(const T *gradient, T *to) const {
    std::vector<Accumulator<T>> sums(size_t(s.imageSize()), 0);
    forEachWindow([&](int64_t index, const Box &box) {
      auto part = Accumulator<T>(Accumulator<T>(widen(gradient[index])) / Accumulator<T>(count(box)));
      forEachElement(box, [&](int64_t place) {
        sums[size_t(place)] += part;
        return false;
      });
    });
    for (size_t i = 0; i < sums.size(); ++i)
      to[i] = narrow<T>(sums[i]);
  }

  bool backward, includePad;
};

/// The average of windows along the rows of float32 images.
class RowAverage : public ChannelKernel {
public:
  RowAverage(const PrepareRequest &request, PoolShape shape)
      : ChannelKernel(request, shape, "own:avg_pool2d", kRowPoolPicoseconds),
        includePad(request.op.boolean("count_include_pad")) {}

private:
  void computeChannel(int64_t channel, llvm::ArrayRef<void *> inputs, void *out) const override {
    const float *x = imageAt<float>(inputs[0], channel);
    float *to = pooledAt<float>(out, channel);
    for (int64_t depth = 0; depth < s.depth.results; ++depth)
      for (int64_t row = 0; row < s.rows.results; ++row, to += s.columns.results)
        averageRow(x + (depth * s.depth.stride * s.rows.size + row * s.rows.stride) * s.columns.size, to);
  }

  void averageRow(const float *x, float *to) const {
    const SpatialAxis &axis = s.columns;
    int64_t first = std::min((axis.pad + axis.stride - 1) / axis.stride, axis.results);
    int64_t room = axis.size + axis.pad - axis.kernel; // windows that start here or before are whole
    int64_t last = std::max(first, room < 0 ? 0 : std::min(room / axis.stride + 1, axis.results));
    averageCut(x, to, 0, first);
    switch (axis.stride) {
    case 1:
      averageWhole<1>(x, to, first, last);
      break;
    case 2:
      averageWhole<2>(x, to, first, last);
      break;
    default:
      averageCut(x, to, first, last);
    }
    averageCut(x, to, last, axis.results);
  }

  void averageCut(const float *x, float *to, int64_t first, int64_t last) const {
    for (int64_t i = first; i < last; ++i) {
      Window window = windowOf(s.columns, i);
      float sum = 0;
      for (int64_t place = window.first; place < window.last; ++place)
        sum += x[place];
      to[i] = sum / float(includePad ? s.columns.kernel : window.last - window.first);
    }
  }

  /// Windows inside of the row, kStride apart.
  template <int64_t kStride> void averageWhole(const float *x, float *to, int64_t first, int64_t last) const {
    for (; first + 32 <= last; first += 32)
      averageSome<kStride, 32>(x + first * kStride - s.columns.pad, to + first);
    for (; first + 8 <= last; first += 8)
      averageSome<kStride, 8>(x + first * kStride - s.columns.pad, to + first);
    averageCut(x, to, first, last);
  }

  /// kSums of them, the first of which begins at `x`: vectors of neighbouring sums, each in the order of its window.
  template <int64_t kStride, int64_t kSums> void averageSome(const float *x, float *to) const {
    float sums[kSums] = {};
    for (int64_t k = 0; k < s.columns.kernel; ++k)
      for (int64_t i = 0; i < kSums; ++i)
        sums[i] += x[i * kStride + k];
    for (int64_t i = 0; i < kSums; ++i)
      to[i] = sums[i] / float(s.columns.kernel);
  }

  bool includePad;
};

} // namespace

llvm::Expected<PreparedRef> prepareMaxPool2d(const PrepareRequest &request) {
  return std::make_shared<MaxPool>(request, poolShape(request.op, request.inputs[0].shape, request.outputs[0].shape),
                                   "own:max_pool2d");
}

llvm::Expected<PreparedRef> prepareMaxPool2dBackward(const PrepareRequest &request) {
  return std::make_shared<MaxPoolBackward>(
      request, poolShape(request.op, request.inputs[0].shape, request.inputs[1].shape), "own:max_pool2d_backward");
}

llvm::Expected<PreparedRef> prepareOwnAvgPool2d(const PrepareRequest &request) {
  return std::make_shared<AvgPool>(request, poolShape(request.op, request.inputs[0].shape, request.outputs[0].shape),
                                   false);
}

llvm::Expected<PreparedRef> prepareRowAverage(const PrepareRequest &request) {
  return std::make_shared<RowAverage>(request,
                                      poolShape(request.op, request.inputs[0].shape, request.outputs[0].shape));
}

llvm::Expected<PreparedRef> prepareOwnAvgPool2dBackward(const PrepareRequest &request) {
  return std::make_shared<AvgPool>(request, poolShape(request.op, request.outputs[0].shape, request.inputs[0].shape),
                                   true);
}

} // namespace tess::runtime::cpu
