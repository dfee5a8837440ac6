//===- IntegerConv.cpp - exact convolutions of bytes ----------------------===//
//
// A convolution is the product of the weight by the matrix of windows, whose
// columns are copied a block at a time; pads there are the zero point, and what it
// adds is taken from the sums. Convolutions of few channels, and transposed ones,
// go by plain loops.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Products.h"
#include "runtime/cpu/ConvLoops.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/cpu/StoredBytes.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tess::runtime::cpu {

namespace {

/// The zero point of a call.
int32_t zeroOf(llvm::ArrayRef<void *> inputs) {
  return inputs.size() > 2 ? *static_cast<const int32_t *>(inputs[2]) : 0;
}

/// Plane after plane by plain loops.
class PlainIntegerConv : public PreparedKernel {
public:
  PlainIntegerConv(const PrepareRequest &request, const ConvShape &shape, bool isTransposed)
      : s(shape), isTransposed(isTransposed), isUnsigned(isUnsignedByte(request.inputs[0].dtype)) {
    implementationName = kOwnConv;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    isUnsigned ? compute<uint8_t>(inputs, static_cast<uint32_t *>(outputs[0]))
               : compute<int8_t>(inputs, static_cast<uint32_t *>(outputs[0]));
    return llvm::Error::success();
  }

private:
  template <typename X> void compute(llvm::ArrayRef<void *> inputs, uint32_t *out) const {
    const auto *x = static_cast<const X *>(inputs[0]);
    const auto *weight = static_cast<const int8_t *>(inputs[1]);
    auto loadX = [zero = zeroOf(inputs)](X element) { return uint32_t(element - zero); };
    auto loadWeight = [](int8_t element) { return uint32_t(int32_t(element)); };
    const ConvLoops<uint32_t> loops(s);
    parallelFor(threadCount, s.batch * s.groups * (isTransposed ? s.in : s.out), 1,
                [&](int64_t begin, int64_t end, unsigned) {
                  std::vector<uint32_t> sums;
                  for (int64_t i = begin; i < end; ++i) {
                    if (isTransposed)
                      loops.dataPlane(i, weight, x, loadWeight, loadX, sums);
                    else
                      loops.forwardPlane(i, x, weight, loadX, loadWeight, sums);
                    std::copy(sums.begin(), sums.end(), out + size_t(i) * sums.size());
                  }
                });
  }

  const ConvShape s;
  const bool isTransposed, isUnsigned;
};

/// Whether windows are elements of the image in place.
bool isPointwise(const ConvShape &s) {
  return s.window() == 1 && llvm::all_of(s.axes, [](const SpatialAxis &axis) {
           return axis.stride == 1 && axis.pad == 0 && axis.size == axis.results;
         });
}

/// As products of the weight of each group by blocks of windows.
class WindowProducts : public PreparedKernel {
public:
  WindowProducts(const PrepareRequest &request, const ConvShape &shape)
      : s(shape), isInPlace(isPointwise(shape)), isUnsigned(isUnsignedByte(request.inputs[0].dtype)),
        depth(s.in * s.window()), plane(s.resultPlane()), columns(columnsOfBlock()),
        numBlocks((plane + columns - 1) / columns), numTasks(s.batch * s.groups * numBlocks),
        imageBytes(request.inputs[0].numElements()) {
    implementationName = kContract;
    threadCount = s.products() < kSerialProducts ? 1 : request.threads;
    const bool sharesProducts = numTasks < 2 * int64_t(threadCount);
    taskThreads = sharesProducts ? 1 : threadCount;
    productThreads = sharesProducts ? threadCount : 1;
    whole.emplace(productOf(std::min(columns, plane)), productThreads);
    if (plane % columns && plane > columns)
      last.emplace(productOf(plane % columns), productThreads);
    workspace = copyBytes() + taskThreads * taskBytes();
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    char *memory = static_cast<char *>(context.workspace);
    Call call = {static_cast<const int8_t *>(inputs[0]), static_cast<const int8_t *>(inputs[1]),
                 static_cast<uint32_t *>(outputs[0]), zeroOf(inputs)};
    if (isUnsigned) {
      copyAsSigned(static_cast<const uint8_t *>(inputs[0]), imageBytes, reinterpret_cast<int8_t *>(memory),
                   threadCount);
      call.image = reinterpret_cast<const int8_t *>(memory);
      call.zero -= 128;
    }
    parallelFor(taskThreads, numTasks, 1, [&](int64_t begin, int64_t end, unsigned part) {
      for (int64_t task = begin; task < end; ++task)
        runTask(task, call, memory + copyBytes() + part * taskBytes());
    });
    if (call.zero)
      takeZeros(call);
    return llvm::Error::success();
  }

private:
  struct Call {
    const int8_t *image, *weight;
    uint32_t *out;
    int32_t zero;
  };

  static constexpr int64_t kBlockBytes = 256 << 10; // of copied windows, for the second level of the caches

  int64_t columnsOfBlock() const {
    if (isInPlace)
      return plane;
    const int64_t fitting = int64_t(llvm::alignTo(uint64_t(kBlockBytes / depth), kLanes));
    return std::max<int64_t>(fitting, 4 * kLanes);
  }
  int64_t rowBytes() const {
    return isInPlace ? plane : int64_t(llvm::alignTo(uint64_t(std::min(columns, plane)), 64));
  }
  size_t copyBytes() const { return isUnsigned ? llvm::alignTo(size_t(imageBytes), 64) : 0; }
  size_t patchBytes() const { return isInPlace ? 0 : size_t(rowBytes() * depth); }
  size_t taskBytes() const {
    return patchBytes() + llvm::alignTo(std::max(whole->workspaceBytes(), last ? last->workspaceBytes() : 0), 64);
  }

  /// The weight of a group by `count` windows.
  contract::ProductShape productOf(int64_t count) const {
    contract::ProductShape product{DType::Int8, s.out, count, depth, depth, 1, rowBytes(), 1};
    product.results = contract::ResultForm{{1, 1, 1, s.out}, {0, 0, 0, plane}, int64_t(kLanes), 1};
    return product;
  }

  void runTask(int64_t task, const Call &call, char *memory) const {
    const int64_t block = task % numBlocks, matrix = task / numBlocks, first = block * columns;
    const int64_t count = std::min(columns, plane - first);
    const int8_t *image = call.image + matrix * s.in * s.plane(), *windows = image;
    if (!isInPlace) {
      auto *patches = reinterpret_cast<int8_t *>(memory);
      copyWindows(image, first, count, int8_t(call.zero), patches);
      windows = patches;
    }
    const contract::Products &products = last && first + count == plane ? *last : *whole;
    products.run(call.weight + matrix % s.groups * s.out * depth, windows, call.out + matrix * s.out * plane + first,
                 memory + patchBytes());
  }

  /// Copies windows [first, first + count), as columns.
  void copyWindows(const int8_t *image, int64_t first, int64_t count, int8_t pad, int8_t *to) const {
    const int64_t width = s.axes[2].results, perSlice = s.axes[1].results * width;
    for (int64_t k = 0; k < depth; ++k, to += rowBytes()) {
      const int64_t place = k % s.window(), column = place % s.axes[2].kernel;
      const int64_t row = place / s.axes[2].kernel % s.axes[1].kernel,
                    slice = place / s.axes[2].kernel / s.axes[1].kernel;
      const int8_t *channel = image + k / s.window() * s.plane();
      for (int64_t at = first; at < first + count;) {
        const int64_t x = at % width, run = std::min(width - x, first + count - at);
        const int64_t z = inputOf(0, at / perSlice, slice), y = inputOf(1, at % perSlice / width, row);
        const bool isInside = z >= 0 && z < s.axes[0].size && y >= 0 && y < s.axes[1].size;
        const int8_t *from = isInside ? channel + (z * s.axes[1].size + y) * s.axes[2].size : nullptr;
        copyRun(from, x, run, column, pad, to + (at - first));
        at += run;
      }
    }
  }
  int64_t inputOf(unsigned axis, int64_t result, int64_t place) const {
    return result * s.axes[axis].stride - s.axes[axis].pad + place * s.axes[axis].dilation;
  }

  /// Copies the elements at `column` of windows [x, x + count) of a row; null: all of them are pads.
  void copyRun(const int8_t *row, int64_t x, int64_t count, int64_t column, int8_t pad, int8_t *to) const {
    const SpatialAxis &axis = s.axes[2];
    const Columns inside = columnsOf(axis, column);
    const int64_t begin = row ? std::clamp(inside.first - x, int64_t(0), count) : count;
    const int64_t end = row ? std::clamp(inside.last - x, begin, count) : count;
    std::memset(to, pad, size_t(begin));
    std::memset(to + end, pad, size_t(count - end));
    const int8_t *from = row + inputOf(2, x + begin, column);
    if (begin == end)
      return;
    if (axis.stride == 1)
      std::memcpy(to + begin, from, size_t(end - begin));
    else
      for (int64_t i = begin; i < end; ++i, from += axis.stride)
        to[i] = *from;
  }

  /// Takes from each sum the zero point times the sum of its weights: pads are zero points, too.
  void takeZeros(const Call &call) const {
    parallelFor(threadCount, s.groups * s.out, 1, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t channel = begin; channel < end; ++channel) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += uint32_t(int32_t(call.weight[channel * depth + k]));
        sum *= uint32_t(call.zero);
        for (int64_t n = 0; n < s.batch; ++n) {
          uint32_t *results = call.out + (n * s.groups * s.out + channel) * plane;
          for (int64_t i = 0; i < plane; ++i)
            results[i] -= sum;
        }
      }
    });
  }

  const ConvShape s;
  const bool isInPlace, isUnsigned;
  const int64_t depth, plane, columns, numBlocks, numTasks, imageBytes;
  unsigned taskThreads, productThreads;
  std::optional<contract::Products> whole, last; // of a block, and of the last one where it is smaller
};

} // namespace

llvm::Expected<PreparedRef> prepareIntegerConv(const PrepareRequest &request) {
  const ConvShape shape = forwardShape(request);
  constexpr int64_t kFewest = 16; // terms of a sum, and channels of results, that a product pays for
  if (shape.products() == 0 || shape.in * shape.window() < kFewest || shape.out < 4)
    return std::make_shared<PlainIntegerConv>(request, shape, /*isTransposed=*/false);
  return std::make_shared<WindowProducts>(request, shape);
}

llvm::Expected<PreparedRef> prepareIntegerConvTranspose(const PrepareRequest &request) {
  return std::make_shared<PlainIntegerConv>(request, transposedShape(request), /*isTransposed=*/true);
}

} // namespace tess::runtime::cpu
