//===- OwnConv.cpp - convolutions by our own loops ------------------------===//
//
// Convolutions for dtypes that oneDNN does not convolve. Each element is one
// sum in a fixed order (channels, then window; for the weight's gradient batch,
// then rows) in the accumulator type. Threads split whole results only.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"

#include <vector>

namespace tess::runtime::cpu {

namespace {

/// The output columns [first, last) for which window column `k` is inside the input.
struct Columns {
  int64_t first, last, input; // `input`: the column that `first` reads
};

Columns columnsOf(const SpatialAxis &axis, int64_t k) {
  int64_t shift = k * axis.dilation - axis.pad;
  int64_t first = shift < 0 ? (-shift + axis.stride - 1) / axis.stride : 0;
  int64_t last = axis.size - 1 - shift < 0 ? 0 : (axis.size - 1 - shift) / axis.stride + 1;
  return {first, std::max(first, std::min(last, axis.results)), first * axis.stride + shift};
}

class OwnConv : public PreparedKernel {
public:
  enum Kind : uint8_t { Forward, BackwardData, BackwardWeight };

  /// `first`, `second`: the inputs that are the image or the weight, and the weight or the gradient of the result.
  OwnConv(const PrepareRequest &request, Kind kind, const ConvShape &shape, unsigned first, unsigned second)
      : kind(kind), firstAt(first), secondAt(second), s(shape), dtype(request.outputs[0].dtype) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withType(dtype, [&](auto tag) { compute<decltype(tag)>(inputs, outputs[0]); });
    return llvm::Error::success();
  }

private:
  template <typename T> void compute(llvm::ArrayRef<void *> inputs, void *output) const {
    auto *first = static_cast<const T *>(inputs[firstAt]), *second = static_cast<const T *>(inputs[secondAt]);
    auto *out = static_cast<T *>(output);
    int64_t results = kind == Forward        ? s.batch * s.groups * s.out
                      : kind == BackwardData ? s.batch * s.groups * s.in
                                             : s.groups * s.out * s.in;
    parallelFor(threadCount, results, 1, [&](int64_t begin, int64_t end, unsigned) {
      std::vector<Accumulator<T>> sums;
      for (int64_t i = begin; i < end; ++i)
        switch (kind) {
        case Forward:
          forwardPlane<T>(i, first, second, out, sums);
          break;
        case BackwardData:
          dataPlane<T>(i, first, second, out, sums);
          break;
        case BackwardWeight:
          weightPlane<T>(i, first, second, out);
          break;
        }
    });
  }

  const SpatialAxis &depth() const { return s.axes[0]; }
  const SpatialAxis &height() const { return s.axes[1]; }
  const SpatialAxis &width() const { return s.axes[2]; }

  /// A row of channel `i` of a group of the forward convolution's operand, and one of channel `o` of its result; rows
  /// count over depth and height.
  template <typename T> const T *sourceRow(const T *x, int64_t n, int64_t g, int64_t i, int64_t row) const {
    return x + ((n * s.groups + g) * s.in + i) * s.plane() + row * width().size;
  }
  template <typename T> const T *targetRow(const T *y, int64_t n, int64_t g, int64_t o, int64_t row) const {
    return y + ((n * s.groups + g) * s.out + o) * s.resultPlane() + row * width().results;
  }

  /// A place in a window, and its number in row-major order.
  struct Place {
    int64_t depth, row, column, index;
  };
  /// Calls fn for every place of the window in row-major order.
  template <typename Fn> void places(Fn &&fn) const {
    for (int64_t index = 0; index < s.window(); ++index) {
      int64_t row = index / width().kernel;
      fn(Place{row / height().kernel, row % height().kernel, index % width().kernel, index});
    }
  }

  template <typename T> auto weightAt(const T *w, int64_t g, int64_t o, int64_t i, const Place &place) const {
    return Accumulator<T>(widen(w[((g * s.out + o) * s.in + i) * s.window() + place.index]));
  }

  /// Calls fn(output row, input row) for the rows where the place is inside the input.
  template <typename Fn> void rows(const Place &place, Fn &&fn) const {
    for (int64_t d = 0; d < depth().results; ++d) {
      int64_t slice = d * depth().stride - depth().pad + place.depth * depth().dilation;
      if (slice < 0 || slice >= depth().size)
        continue;
      for (int64_t row = 0; row < height().results; ++row) {
        int64_t input = row * height().stride - height().pad + place.row * height().dilation;
        if (input >= 0 && input < height().size)
          fn(d * height().results + row, slice * height().size + input);
      }
    }
  }

  template <typename T>
  void forwardPlane(int64_t index, const T *x, const T *w, T *out, std::vector<Accumulator<T>> &sums) const {
    int64_t o = index % s.out, g = index / s.out % s.groups, n = index / s.out / s.groups;
    int64_t plane = s.resultPlane(), stride = width().stride;
    sums.assign(plane, 0);
    for (int64_t i = 0; i < s.in; ++i)
      places([&](const Place &place) {
        Columns c = columnsOf(width(), place.column);
        auto factor = weightAt(w, g, o, i, place);
        rows(place, [&](int64_t row, int64_t inputRow) {
          const T *from = sourceRow(x, n, g, i, inputRow) + c.input;
          Accumulator<T> *to = sums.data() + row * width().results + c.first;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            to[j] += Accumulator<T>(factor * Accumulator<T>(widen(from[j * stride])));
        });
      });
    for (int64_t j = 0; j < plane; ++j)
      out[index * plane + j] = narrow<T>(sums[j]);
  }

  template <typename T>
  void dataPlane(int64_t index, const T *w, const T *dout, T *dx, std::vector<Accumulator<T>> &sums) const {
    int64_t i = index % s.in, g = index / s.in % s.groups, n = index / s.in / s.groups;
    int64_t plane = s.plane(), stride = width().stride;
    sums.assign(plane, 0);
    for (int64_t o = 0; o < s.out; ++o)
      places([&](const Place &place) {
        Columns c = columnsOf(width(), place.column);
        auto factor = weightAt(w, g, o, i, place);
        rows(place, [&](int64_t row, int64_t inputRow) {
          const T *from = targetRow(dout, n, g, o, row) + c.first;
          Accumulator<T> *to = sums.data() + inputRow * width().size + c.input;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            to[j * stride] += Accumulator<T>(factor * Accumulator<T>(widen(from[j])));
        });
      });
    for (int64_t j = 0; j < plane; ++j)
      dx[index * plane + j] = narrow<T>(sums[j]);
  }

  template <typename T> void weightPlane(int64_t index, const T *x, const T *dout, T *dw) const {
    int64_t i = index % s.in, o = index / s.in % s.out, g = index / s.in / s.out, stride = width().stride;
    places([&](const Place &place) {
      Columns c = columnsOf(width(), place.column);
      Accumulator<T> sum = 0;
      for (int64_t n = 0; n < s.batch; ++n)
        rows(place, [&](int64_t row, int64_t inputRow) {
          const T *a = sourceRow(x, n, g, i, inputRow) + c.input;
          const T *b = targetRow(dout, n, g, o, row) + c.first;
          for (int64_t j = 0; j < c.last - c.first; ++j)
            sum += Accumulator<T>(Accumulator<T>(widen(a[j * stride])) * Accumulator<T>(widen(b[j])));
        });
      dw[index * s.window() + place.index] = narrow<T>(sum);
    });
  }

  Kind kind;
  unsigned firstAt, secondAt;
  ConvShape s;
  DType dtype;
};

} // namespace

llvm::Expected<PreparedRef> prepareOwnConv(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::Forward, forwardShape(request), 0, 1);
}

llvm::Expected<PreparedRef> prepareOwnConvTranspose(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardData, transposedShape(request), 1, 0);
}

llvm::Expected<PreparedRef> prepareOwnConvBackwardData(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardData, backwardDataShape(request), 0, 1);
}

llvm::Expected<PreparedRef> prepareOwnConvBackwardWeight(const PrepareRequest &request) {
  return std::make_shared<OwnConv>(request, OwnConv::BackwardWeight, backwardWeightShape(request), 0, 1);
}

} // namespace tess::runtime::cpu
