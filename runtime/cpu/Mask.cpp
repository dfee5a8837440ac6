//===- Mask.cpp - kernels whose result is as long as the data says --------===//
#include "runtime/Elements.h"
#include "runtime/StridedCopy.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"

namespace tess::runtime::cpu {

namespace {

/// The rows of x (its axes after those of the mask) where the mask is true; inputs are x and mask.
class MaskGet : public PreparedKernel {
public:
  explicit MaskGet(const PrepareRequest &request)
      : x(request.layouts[0]), mask(request.layouts[1]), width(byteWidth(request.outputs[0].dtype)) {
    implementationName = "own:mask_get";
    size_t masked = mask.shape.size();
    lead.assign(x.strides.begin(), x.strides.begin() + long(masked));
    row = {Shape(x.shape.begin() + long(masked), x.shape.end()),
           Shape(x.strides.begin() + long(masked), x.strides.end()), 0};
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *from = static_cast<const char *>(inputs[0]);
    auto *to = static_cast<char *>(outputs[0]);
    auto *flags = static_cast<const uint8_t *>(inputs[1]);
    Layout packed = Layout::contiguous(row.shape);
    int64_t size = countOf(row.shape) * width, count = 0;
    Odometer<2> walk(mask.shape, {mask.strides, lead});
    for (int64_t i = 0, n = countOf(mask.shape); i < n; ++i, walk.next())
      if (flags[walk.offset(0)])
        copyStrided(to + count++ * size, packed, from + walk.offset(1) * width, row, width);
    context.unknownExtent = count;
    return llvm::Error::success();
  }

private:
  Layout x, mask, row;
  Shape lead;
  int64_t width;
};

/// One row of int32 positions for each element that is not zero; NaN counts as not zero.
class NonZero : public PreparedKernel {
public:
  explicit NonZero(const PrepareRequest &request) : x(request.layouts[0]), dtype(request.inputs[0].dtype) {
    implementationName = "own:non_zero";
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *to = static_cast<int32_t *>(outputs[0]);
    int64_t count = 0;
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      auto *from = static_cast<const T *>(inputs[0]);
      Odometer<1> walk(x.shape, {x.strides});
      for (int64_t i = 0, n = countOf(x.shape); i < n; ++i, walk.next()) {
        if (widen(from[walk.offset(0)]) == 0)
          continue;
        for (size_t axis = 0; axis < x.shape.size(); ++axis)
          *to++ = int32_t(walk.at(axis));
        ++count;
      }
    });
    context.unknownExtent = count;
    return llvm::Error::success();
  }

private:
  Layout x;
  DType dtype;
};

} // namespace

llvm::Expected<PreparedRef> prepareMaskGet(const PrepareRequest &request) { return std::make_shared<MaskGet>(request); }
llvm::Expected<PreparedRef> prepareNonZero(const PrepareRequest &request) { return std::make_shared<NonZero>(request); }

} // namespace tess::runtime::cpu
