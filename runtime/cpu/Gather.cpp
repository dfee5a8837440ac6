//===- Gather.cpp - elements along an axis, an index for each -------------===//
#include "runtime/Elements.h"
#include "runtime/StridedCopy.h"
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"

namespace tess::runtime::cpu {

namespace {

/// gather (x, index) or scatter (x, index, source).
class GatherScatter : public PreparedKernel {
public:
  GatherScatter(const PrepareRequest &request, bool scatter)
      : scatter(scatter), name(request.op.name()), x(request.layouts[0]), index(request.layouts[1]),
        indexType(request.inputs[1].dtype), output(request.outputs[0]),
        source(scatter ? request.layouts[2] : Layout()) {
    axis = request.op.i64("axis");
    axis += axis < 0 ? int64_t(x.shape.size()) : 0;
    implementationName = "own:" + name;
    looksAtData = true;
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (llvm::Error error = check(inputs[1]))
      return error;
    if (scatter && outputs[0] != inputs[0])
      copyStrided(outputs[0], Layout::contiguous(output.shape), inputs[0], x, byteWidth(output.dtype));
    withWidth(output.dtype, [&](auto tag) {
      using T = decltype(tag);
      if (scatter)
        move<T>(inputs[1], static_cast<const T *>(inputs[2]), source, static_cast<T *>(outputs[0]),
                Layout::contiguous(output.shape));
      else
        move<T>(inputs[1], static_cast<const T *>(inputs[0]), x, static_cast<T *>(outputs[0]),
                Layout::contiguous(output.shape));
    });
    return llvm::Error::success();
  }

private:
  llvm::Error check(const void *indices) const {
    Odometer<1> walk(index.shape, {index.strides});
    for (int64_t i = 0, n = countOf(index.shape); i < n; ++i, walk.next()) {
      int64_t raw = indexAt(indexType, indices, walk.offset(0)), position = raw;
      if (!wrapIndex(position, x.shape[axis]))
        return indexError(name, raw, x.shape[axis]);
    }
    return llvm::Error::success();
  }

  /// Moves elements: the position along `axis` of the indexed side comes from the index; all other positions are those
  /// of the index's element.
  template <typename T>
  void move(const void *indices, const T *from, const Layout &fromLayout, T *to, const Layout &toLayout) const {
    const Layout &indexed = scatter ? toLayout : fromLayout;
    Shape strides = indexed.strides;
    strides[axis] = 0;
    const Shape &other = scatter ? fromLayout.strides : toLayout.strides;
    Odometer<3> walk(index.shape, {index.strides, strides, other});
    for (int64_t i = 0, n = countOf(index.shape); i < n; ++i, walk.next()) {
      int64_t position = indexAt(indexType, indices, walk.offset(0));
      wrapIndex(position, x.shape[axis]);
      int64_t place = walk.offset(1) + position * indexed.strides[axis];
      if (scatter)
        to[place] = from[walk.offset(2)];
      else
        to[walk.offset(2)] = from[place];
    }
  }

  bool scatter;
  std::string name;
  Layout x, index;
  DType indexType;
  TensorMeta output;
  Layout source;
  int64_t axis;
};

} // namespace

llvm::Expected<PreparedRef> prepareGather(const PrepareRequest &request) {
  return std::make_shared<GatherScatter>(request, false);
}

llvm::Expected<PreparedRef> prepareScatter(const PrepareRequest &request) {
  return std::make_shared<GatherScatter>(request, true);
}

} // namespace tess::runtime::cpu
