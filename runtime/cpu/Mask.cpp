//===- Mask.cpp - kernels whose result is as long as the data says --------===//
#include "ops/inference/ShapeRules.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/device/Elements.h"

#include <algorithm>

namespace tess::runtime::cpu {

namespace {

/// The rows of x (its axes after those of the mask) where the mask is true; inputs are x and mask.
class MaskGet : public PreparedKernel {
public:
  explicit MaskGet(const PrepareRequest &request) : dtype(request.outputs[0].dtype) {
    implementationName = "own:mask_get";
    const Shape &x = request.inputs[0].shape, &mask = request.inputs[1].shape;
    rows = countOf(mask);
    size = countOf(llvm::ArrayRef(x).drop_front(mask.size()));
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *flags = static_cast<const uint8_t *>(inputs[1]);
    context.unknownExtent = withWidth(dtype, [&](auto tag) {
      using T = decltype(tag);
      return take(flags, static_cast<const T *>(inputs[0]), static_cast<T *>(outputs[0]));
    });
    return llvm::Error::success();
  }

private:
  /// Copies the rows whose flag is set, and returns their number.
  template <typename T> int64_t take(const uint8_t *flags, const T *from, T *to) const {
    int64_t count = 0;
    if (size == 1) // every element is written, and the next one over it where it is not taken: no branch is guessed
      for (int64_t i = 0; i < rows; ++i) {
        to[count] = from[i];
        count += flags[i] != 0;
      }
    else
      for (int64_t i = 0; i < rows; ++i)
        if (flags[i])
          std::copy_n(from + i * size, size, to + count++ * size);
    return count;
  }

  DType dtype;
  int64_t rows, size; // of x as the mask sees it, and elements of each
};

/// One row of int32 positions for each element that is not zero; NaN counts as not zero.
class NonZero : public PreparedKernel {
public:
  explicit NonZero(const PrepareRequest &request) : x(request.inputs[0]) { implementationName = "own:non_zero"; }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    context.unknownExtent = withTypeOrComplex(x.dtype, [&](auto tag) {
      return find(static_cast<const decltype(tag) *>(inputs[0]), static_cast<int32_t *>(outputs[0]));
    });
    return llvm::Error::success();
  }

private:
  /// Writes the positions, and returns their number. Those of every element are written, and the next ones over them
  /// where it is zero: no branch is guessed.
  template <typename T> int64_t find(const T *from, int32_t *to) const {
    int64_t rank = int64_t(x.rank()), count = 0;
    Shape rows = x.shape;
    int64_t line = rank ? rows.pop_back_val() : 1;
    Odometer<0> walk(rows, {});
    for (int64_t i = 0, n = countOf(rows); i < n; ++i, walk.next(), from += line)
      for (int64_t j = 0; j < line; ++j) {
        for (int64_t axis = 0; axis + 1 < rank; ++axis)
          to[count * rank + axis] = int32_t(walk.at(axis));
        if (rank)
          to[count * rank + rank - 1] = int32_t(j);
        auto element = widen(from[j]);
        count += !(element == decltype(element)(0));
      }
    return count;
  }

  TensorMeta x;
};

/// As many rows without elements as the number says.
class Extent : public PreparedKernel {
public:
  explicit Extent(const PrepareRequest &request) : dtype(request.inputs[0].dtype) {
    implementationName = "own:extent";
    looksAtData = true;
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *>) const override {
    int64_t n =
        dtype == DType::Int32 ? *static_cast<const int32_t *>(inputs[0]) : *static_cast<const int64_t *>(inputs[0]);
    if (n < 0 || n > shapes::kNoBound)
      return invalidArgument("extent: n must be in [0, " + llvm::Twine(shapes::kNoBound) + "], got " + llvm::Twine(n));
    context.unknownExtent = n;
    return llvm::Error::success();
  }

private:
  DType dtype;
};

} // namespace

llvm::Expected<PreparedRef> prepareMaskGet(const PrepareRequest &request) { return std::make_shared<MaskGet>(request); }
llvm::Expected<PreparedRef> prepareNonZero(const PrepareRequest &request) { return std::make_shared<NonZero>(request); }
llvm::Expected<PreparedRef> prepareExtent(const PrepareRequest &request) { return std::make_shared<Extent>(request); }

} // namespace tess::runtime::cpu
