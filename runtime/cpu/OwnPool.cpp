//===- OwnPool.cpp - pooling by our own loops -----------------------------===//
//
// Maximum pooling for every dtype, because oneDNN's loses NaN, and its
// gradient, which goes to the first element of the window that equals the
// maximum. Average pooling for dtypes that oneDNN does not average. A plane
// (one channel of one image) is one unit of work, so threads do not change
// bits.
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

/// A pooling kernel that works plane by plane.
class PlaneKernel : public PreparedKernel {
public:
  PlaneKernel(const PrepareRequest &request, PoolShape shape, const char *name)
      : s(shape), dtype(request.outputs[0].dtype) {
    implementationName = name;
    threadCount = threadsFor(s.windowElements() * kOwnPoolPicoseconds, request.threads);
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    parallelFor(threadCount, s.batch * s.channels, 1, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t plane = begin; plane < end; ++plane)
        computePlane(plane, inputs, outputs[0]);
    });
    return llvm::Error::success();
  }

protected:
  virtual void computePlane(int64_t plane, llvm::ArrayRef<void *> inputs, void *output) const = 0;

  /// A plane of images, and one of what the windows of an image give.
  template <typename T> T *imageAt(void *data, int64_t plane) const {
    return static_cast<T *>(data) + plane * s.rows.size * s.columns.size;
  }
  template <typename T> T *pooledAt(void *data, int64_t plane) const {
    return static_cast<T *>(data) + plane * s.rows.results * s.columns.results;
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

class MaxPool : public PlaneKernel {
public:
  using PlaneKernel::PlaneKernel;

private:
  void computePlane(int64_t plane, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      const T *x = imageAt<T>(inputs[0], plane);
      T *to = pooledAt<T>(out, plane);
      for (int64_t row = 0; row < s.rows.results; ++row)
        maxRow<T>(x, to + row * s.columns.results, row);
    });
  }

  template <typename T> void maxRow(const T *x, T *to, int64_t row) const {
    using A = decltype(widen(T()));
    Window rows = windowOf(s.rows, row);
    for (int64_t column = 0; column < s.columns.results; ++column) {
      Window columns = windowOf(s.columns, column);
      A best = lowest<T>();
      for (int64_t h = rows.first; h < rows.last; ++h)
        for (int64_t w = columns.first; w < columns.last; ++w) {
          A value = widen(x[h * s.columns.size + w]);
          best = value > best || value != value ? value : best; // NaN wins and stays
        }
      to[column] = narrow<T>(best);
    }
  }
};

/// The gradient of MaxPool; inputs are x, out and dout.
class MaxPoolBackward : public PlaneKernel {
public:
  using PlaneKernel::PlaneKernel;

private:
  void computePlane(int64_t plane, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      std::vector<Accumulator<T>> sums(s.rows.size * s.columns.size, 0);
      scatterPlane<T>(imageAt<T>(inputs[0], plane), pooledAt<T>(inputs[1], plane), pooledAt<T>(inputs[2], plane), sums);
      T *to = imageAt<T>(out, plane);
      for (size_t i = 0; i < sums.size(); ++i)
        to[i] = narrow<T>(sums[i]);
    });
  }

  template <typename T>
  void scatterPlane(const T *x, const T *result, const T *gradient, std::vector<Accumulator<T>> &sums) const {
    for (int64_t row = 0; row < s.rows.results; ++row)
      for (int64_t column = 0; column < s.columns.results; ++column) {
        int64_t index = row * s.columns.results + column;
        int64_t source = firstEqual<T>(x, widen(result[index]), windowOf(s.rows, row), windowOf(s.columns, column));
        if (source >= 0)
          sums[source] += Accumulator<T>(widen(gradient[index]));
      }
  }

  template <typename T, typename A> int64_t firstEqual(const T *x, A wanted, Window rows, Window columns) const {
    for (int64_t h = rows.first; h < rows.last; ++h)
      for (int64_t w = columns.first; w < columns.last; ++w) {
        A value = widen(x[h * s.columns.size + w]);
        if (value == wanted || (value != value && wanted != wanted))
          return h * s.columns.size + w;
      }
    return -1;
  }
};

class AvgPool : public PlaneKernel {
public:
  AvgPool(const PrepareRequest &request, PoolShape shape, bool backward)
      : PlaneKernel(request, shape, "own:avg_pool2d"), backward(backward),
        includePad(request.op.boolean("count_include_pad")) {}

private:
  int64_t count(Window rows, Window columns) const {
    return includePad ? s.rows.kernel * s.columns.kernel : (rows.last - rows.first) * (columns.last - columns.first);
  }

  void computePlane(int64_t plane, llvm::ArrayRef<void *> inputs, void *out) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      if (backward)
        spread<T>(pooledAt<T>(inputs[0], plane), imageAt<T>(out, plane));
      else
        average<T>(imageAt<T>(inputs[0], plane), pooledAt<T>(out, plane));
    });
  }

  template <typename T> void average(const T *x, T *to) const {
    for (int64_t row = 0; row < s.rows.results; ++row)
      for (int64_t column = 0; column < s.columns.results; ++column) {
        Window rows = windowOf(s.rows, row), columns = windowOf(s.columns, column);
        Accumulator<T> sum = 0;
        for (int64_t h = rows.first; h < rows.last; ++h)
          for (int64_t w = columns.first; w < columns.last; ++w)
            sum += Accumulator<T>(widen(x[h * s.columns.size + w]));
        *to++ = narrow<T>(Accumulator<T>(sum / Accumulator<T>(count(rows, columns))));
      }
  }

  template <typename T> void spread(const T *gradient, T *to) const {
    std::vector<Accumulator<T>> sums(s.rows.size * s.columns.size, 0);
    for (int64_t row = 0; row < s.rows.results; ++row)
      for (int64_t column = 0; column < s.columns.results; ++column) {
        Window rows = windowOf(s.rows, row), columns = windowOf(s.columns, column);
        auto part = Accumulator<T>(Accumulator<T>(widen(*gradient++)) / Accumulator<T>(count(rows, columns)));
        for (int64_t h = rows.first; h < rows.last; ++h)
          for (int64_t w = columns.first; w < columns.last; ++w)
            sums[h * s.columns.size + w] += part;
      }
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
