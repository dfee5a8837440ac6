//===- Nms.cpp - boxes that overlap no better one much --------------------===//
//
// One box after the other, by falling score: whether a box is taken depends on
// those taken before it.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/device/Elements.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace tess::runtime::cpu {

namespace {

/// Numbers of float32 for those of 16 bits, which compute in it, and else of the dtype itself.
template <typename T> using Wide = decltype(widen(T()));

/// Whether `x` comes before `y`; NaN is larger than every number.
template <typename A> bool isAbove(A x, A y) { return x > y || (x != x && y == y); }

/// The area that boxes [x1, y1, x2, y2] share, divided by that of both together; NaN where they have none.
template <typename T> Wide<T> overlap(const T *a, const T *b) {
  using A = Wide<T>;
  auto at = [](const T *box, int i) { return A(widen(box[i])); };
  auto area = [&](const T *box) { return (at(box, 2) - at(box, 0)) * (at(box, 3) - at(box, 1)); };
  A width = std::min(at(a, 2), at(b, 2)) - std::max(at(a, 0), at(b, 0));
  A height = std::min(at(a, 3), at(b, 3)) - std::max(at(a, 1), at(b, 1));
  A shared = std::max(width, A(0)) * std::max(height, A(0));
  return shared / (area(a) + area(b) - shared);
}

class Nms : public PreparedKernel {
public:
  explicit Nms(const PrepareRequest &request)
      : dtype(request.inputs[0].dtype), count(request.inputs[0].shape[0]), most(request.outputs[0].shape[0]),
        threshold(request.op.f64("iou_thresh")) {
    implementationName = "own:nms";
    workspace = llvm::alignTo(size_t(count) * sizeof(int32_t) + 1, 64);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *order = static_cast<int32_t *>(context.workspace), *taken = static_cast<int32_t *>(outputs[0]);
    context.unknownExtent = withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      sort(static_cast<const T *>(inputs[1]), order);
      return take(static_cast<const T *>(inputs[0]), order, taken);
    });
    return llvm::Error::success();
  }

private:
  template <typename T> void sort(const T *scores, int32_t *order) const {
    std::iota(order, order + count, 0);
    std::sort(order, order + count, [&](int32_t a, int32_t b) {
      auto x = widen(scores[a]), y = widen(scores[b]);
      return isAbove(x, y) || (!isAbove(y, x) && a < b);
    });
  }
  /// Writes the boxes to take and returns their number.
  template <typename T> int64_t take(const T *boxes, const int32_t *order, int32_t *taken) const {
    int32_t *end = taken;
    for (int64_t i = 0; i < count && end - taken < most; ++i) {
      const T *box = boxes + int64_t(order[i]) * 4;
      auto covers = [&](int32_t better) { return double(overlap(boxes + int64_t(better) * 4, box)) > threshold; };
      if (std::none_of(taken, end, covers))
        *end++ = order[i];
    }
    return end - taken;
  }

  DType dtype;
  int64_t count, most;
  double threshold;
};

} // namespace

llvm::Expected<PreparedRef> prepareNms(const PrepareRequest &request) { return std::make_shared<Nms>(request); }

} // namespace tess::runtime::cpu
