//===- OwnConv.cpp - two-dimensional convolutions by our own loops --------===//
//
// Convolutions for dtypes that oneDNN does not convolve. Each element is one
// sum in a fixed order (channels, then window; for the weight's gradient batch,
// then rows) in the accumulator type. Threads split whole results only.
//
//===----------------------------------------------------------------------===//
#include "runtime/Elements.h"
#include "runtime/ParallelFor.h"
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"

#include <vector>

namespace tess::runtime::cpu {

namespace {

/// The output columns [first, last) for which window column `k` is inside the input.
struct Columns {
  int64_t first, last, input; // `input`: the column that `first` reads
};

Columns columnsOf(const ConvShape &s, int64_t k) {
  int64_t shift = k * s.dilation[1] - s.pad[1];
  int64_t first = shift < 0 ? (-shift + s.stride[1] - 1) / s.stride[1] : 0;
  int64_t last = s.width - 1 - shift < 0 ? 0 : (s.width - 1 - shift) / s.stride[1] + 1;
  return {first, std::max(first, std::min(last, s.outWidth)), first * s.stride[1] + shift};
}

class OwnConv : public PreparedKernel {
public:
  enum Kind : uint8_t { Forward, BackwardData, BackwardWeight };

  OwnConv(const PrepareRequest &request, Kind kind, const ConvShape &shape)
      : kind(kind), s(shape), dtype(request.outputs[0].dtype) {
    implementationName = "own:conv2d";
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withType(dtype, [&](auto tag) { compute<decltype(tag)>(inputs, outputs[0]); });
    return llvm::Error::success();
  }

private:
  template <typename T> void compute(llvm::ArrayRef<void *> inputs, void *output) const {
    auto *first = static_cast<const T *>(inputs[0]), *second = static_cast<const T *>(inputs[1]);
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

  /// A row of channel `i` of a group of the forward convolution's operand, and one of channel `o` of its result.
  template <typename T> const T *sourceRow(const T *x, int64_t n, int64_t g, int64_t i, int64_t row) const {
    return x + (((n * s.groups + g) * s.in + i) * s.height + row) * s.width;
  }
  template <typename T> const T *targetRow(const T *y, int64_t n, int64_t g, int64_t o, int64_t row) const {
    return y + (((n * s.groups + g) * s.out + o) * s.outHeight + row) * s.outWidth;
  }

  template <typename T> auto weightAt(const T *w, int64_t g, int64_t o, int64_t i, int64_t kh, int64_t kw) const {
    return Accumulator<T>(widen(w[(((g * s.out + o) * s.in + i) * s.kernel[0] + kh) * s.kernel[1] + kw]));
  }

  /// Calls fn(output row, input row) for the rows where window row `kh` is inside the input.
  template <typename Fn> void rows(int64_t kh, Fn &&fn) const {
    for (int64_t row = 0; row < s.outHeight; ++row) {
      int64_t input = row * s.stride[0] - s.pad[0] + kh * s.dilation[0];
      if (input >= 0 && input < s.height)
        fn(row, input);
    }
  }

  template <typename T>
  void forwardPlane(int64_t index, const T *x, const T *w, T *out, std::vector<Accumulator<T>> &sums) const {
    int64_t o = index % s.out, g = index / s.out % s.groups, n = index / s.out / s.groups;
    int64_t plane = s.outHeight * s.outWidth;
    sums.assign(plane, 0);
    for (int64_t i = 0; i < s.in; ++i)
      for (int64_t kh = 0; kh < s.kernel[0]; ++kh)
        for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
          Columns c = columnsOf(s, kw);
          auto factor = weightAt(w, g, o, i, kh, kw);
          rows(kh, [&](int64_t row, int64_t inputRow) {
            const T *from = sourceRow(x, n, g, i, inputRow) + c.input;
            Accumulator<T> *to = sums.data() + row * s.outWidth + c.first;
            for (int64_t j = 0; j < c.last - c.first; ++j)
              to[j] += Accumulator<T>(factor * Accumulator<T>(widen(from[j * s.stride[1]])));
          });
        }
    for (int64_t j = 0; j < plane; ++j)
      out[index * plane + j] = narrow<T>(sums[j]);
  }

  template <typename T>
  void dataPlane(int64_t index, const T *w, const T *dout, T *dx, std::vector<Accumulator<T>> &sums) const {
    int64_t i = index % s.in, g = index / s.in % s.groups, n = index / s.in / s.groups;
    int64_t plane = s.height * s.width;
    sums.assign(plane, 0);
    for (int64_t o = 0; o < s.out; ++o)
      for (int64_t kh = 0; kh < s.kernel[0]; ++kh)
        for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
          Columns c = columnsOf(s, kw);
          auto factor = weightAt(w, g, o, i, kh, kw);
          rows(kh, [&](int64_t row, int64_t inputRow) {
            const T *from = targetRow(dout, n, g, o, row) + c.first;
            Accumulator<T> *to = sums.data() + inputRow * s.width + c.input;
            for (int64_t j = 0; j < c.last - c.first; ++j)
              to[j * s.stride[1]] += Accumulator<T>(factor * Accumulator<T>(widen(from[j])));
          });
        }
    for (int64_t j = 0; j < plane; ++j)
      dx[index * plane + j] = narrow<T>(sums[j]);
  }

  template <typename T> void weightPlane(int64_t index, const T *x, const T *dout, T *dw) const {
    int64_t i = index % s.in, o = index / s.in % s.out, g = index / s.in / s.out;
    T *to = dw + index * s.kernel[0] * s.kernel[1];
    for (int64_t kh = 0; kh < s.kernel[0]; ++kh)
      for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
        Columns c = columnsOf(s, kw);
        Accumulator<T> sum = 0;
        for (int64_t n = 0; n < s.batch; ++n)
          rows(kh, [&](int64_t row, int64_t inputRow) {
            const T *a = sourceRow(x, n, g, i, inputRow) + c.input;
            const T *b = targetRow(dout, n, g, o, row) + c.first;
            for (int64_t j = 0; j < c.last - c.first; ++j)
              sum += Accumulator<T>(Accumulator<T>(widen(a[j * s.stride[1]])) * Accumulator<T>(widen(b[j])));
          });
        *to++ = narrow<T>(sum);
      }
  }

  Kind kind;
  ConvShape s;
  DType dtype;
};

llvm::Expected<PreparedRef> prepareOwn(const PrepareRequest &request, OwnConv::Kind kind, const ConvShape &shape) {
  return std::make_shared<OwnConv>(request, kind, shape);
}

} // namespace

llvm::Expected<PreparedRef> prepareOwnConv2d(const PrepareRequest &request) {
  return prepareOwn(request, OwnConv::Forward,
                    convShape(request.op, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape));
}

llvm::Expected<PreparedRef> prepareOwnConv2dBackwardData(const PrepareRequest &request) {
  return prepareOwn(request, OwnConv::BackwardData,
                    convShape(request.op, request.outputs[0].shape, request.inputs[0].shape, request.inputs[1].shape));
}

llvm::Expected<PreparedRef> prepareOwnConv2dBackwardWeight(const PrepareRequest &request) {
  return prepareOwn(request, OwnConv::BackwardWeight,
                    convShape(request.op, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape));
}

} // namespace tess::runtime::cpu
