//===- OwnPool.cpp - pooling by our own loops -----------------------------===//
//
// Maximum pooling for every dtype, because oneDNN's loses NaN, and its
// gradient, which goes to the first element of the window that equals the
// maximum. Average pooling for dtypes that oneDNN does not average. A channel
// of one image is one unit of work, so threads do not change bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/OwnPool.h"
#include "runtime/Elements.h"
#include "runtime/ParallelFor.h"
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/Kernels.h"

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
  ChannelKernel(const PrepareRequest &request, PoolShape shape, const char *name)
      : s(shape), dtype(request.outputs[0].dtype) {
    implementationName = name;
    threadCount = threadsFor(s.windowElements() * kOwnPoolPicoseconds, request.threads);
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

llvm::Expected<PreparedRef> prepareOwnAvgPool2dBackward(const PrepareRequest &request) {
  return std::make_shared<AvgPool>(request, poolShape(request.op, request.outputs[0].shape, request.inputs[0].shape),
                                   true);
}

} // namespace tess::runtime::cpu
