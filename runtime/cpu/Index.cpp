//===- Index.cpp - elements by arrays of indices along some axes ----------===//
//
// The result of index_get (and the shape that a written value broadcasts to) is
// before + indices + after: the axes of the indices replace the indexed axes
// when these are neighbours, and come first otherwise.
//
//===----------------------------------------------------------------------===//
#include "runtime/Elements.h"
#include "runtime/StridedCopy.h"
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime::cpu {

namespace {

enum class Mode : uint8_t { Get, Set, Add };

class IndexKernel : public PreparedKernel {
public:
  IndexKernel(const PrepareRequest &request, Mode mode)
      : mode(mode), name(request.op.name()), x(request.layouts[0]), output(request.outputs[0]) {
    implementationName = "own:" + name;
    looksAtData = true;
    size_t first = mode == Mode::Get ? 1 : 2;
    for (size_t i = first; i < request.inputs.size(); ++i) {
      indices.push_back(request.layouts[i]);
      indexTypes.push_back(request.inputs[i].dtype);
    }
    firstIndex = first;
    for (int64_t axis : request.op.ints("axes"))
      axes.push_back(axis < 0 ? axis + int64_t(x.shape.size()) : axis);
    layOut();
    if (mode != Mode::Get)
      setValue(request.layouts[1]);
    workspace = llvm::alignTo(size_t(std::max<int64_t>(countOf(indexShape), 1)) * sizeof(int64_t), 64);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *places = static_cast<int64_t *>(context.workspace);
    bool writes = mode != Mode::Get;
    const Shape &strides = writes ? target.strides : x.strides;
    if (llvm::Error error = locate(inputs.drop_front(firstIndex), strides, places))
      return error;
    if (writes && outputs[0] != inputs[0])
      copyStrided(outputs[0], target, inputs[0], x, byteWidth(output.dtype));
    if (mode == Mode::Add)
      withType(output.dtype, [&](auto tag) { each<decltype(tag)>(places, inputs, outputs[0]); });
    else
      withWidth(output.dtype, [&](auto tag) { each<decltype(tag)>(places, inputs, outputs[0]); });
    return llvm::Error::success();
  }

private:
  /// Finds the axes of x that stay before and after the indices, and the shape that the indices broadcast to.
  void layOut() {
    for (const Layout &index : indices)
      (void)broadcastInto(indexShape, index.shape); // inference has checked that they fit
    llvm::SmallVector<int64_t, 4> sorted(axes.begin(), axes.end());
    llvm::sort(sorted);
    bool neighbours = sorted.empty() || sorted.back() - sorted.front() + 1 == int64_t(sorted.size());
    for (int64_t axis = 0; axis < int64_t(x.shape.size()); ++axis)
      if (!llvm::is_contained(axes, axis))
        (neighbours && !sorted.empty() && axis < sorted.front() ? before : after).push_back(axis);
    target = Layout::contiguous(mode == Mode::Get ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(output.shape));
  }

  /// Broadcasts the written value to before + indices + after.
  void setValue(const Layout &layout) {
    Shape shape;
    for (int64_t axis : before)
      shape.push_back(x.shape[axis]);
    shape.append(indexShape.begin(), indexShape.end());
    for (int64_t axis : after)
      shape.push_back(x.shape[axis]);
    value = layout.broadcastTo(shape);
  }

  /// The offset along the indexed axes for each element of the indices. An index out of range is found before anything
  /// is written.
  llvm::Error locate(llvm::ArrayRef<void *> data, const Shape &strides, int64_t *places) const {
    std::fill_n(places, countOf(indexShape), int64_t(0));
    for (auto [number, layout] : llvm::enumerate(indices)) {
      Odometer<1> walk(indexShape, {layout.broadcastTo(indexShape).strides});
      int64_t size = x.shape[axes[number]];
      for (int64_t i = 0, n = countOf(indexShape); i < n; ++i, walk.next()) {
        int64_t raw = indexAt(indexTypes[number], data[number], walk.offset(0)), position = raw;
        if (!wrapIndex(position, size))
          return indexError(name, raw, size);
        places[i] += position * strides[axes[number]];
      }
    }
    return llvm::Error::success();
  }

  Shape pick(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> which) const {
    Shape out;
    for (int64_t axis : which)
      out.push_back(from[axis]);
    return out;
  }

  template <typename T> void each(const int64_t *places, llvm::ArrayRef<void *> inputs, void *output) const {
    const Shape &strides = mode == Mode::Get ? x.strides : target.strides;
    Shape outerShape = pick(x.shape, before), innerShape = pick(x.shape, after);
    Shape outerStrides = pick(strides, before), innerStrides = pick(strides, after);
    int64_t blocks = countOf(indexShape), size = countOf(innerShape);
    Shape plain = contiguousStrides(innerShape);
    Odometer<1> outer(outerShape, {outerStrides});
    for (int64_t a = 0, n = countOf(outerShape); a < n; ++a, outer.next())
      for (int64_t b = 0; b < blocks && size; ++b) {
        int64_t place = outer.offset(0) + places[b];
        if (mode == Mode::Get)
          copyStrided(static_cast<T *>(output) + (a * blocks + b) * size, {innerShape, plain, 0},
                      static_cast<const T *>(inputs[0]) + place, {innerShape, innerStrides, 0}, sizeof(T));
        else
          write<T>(static_cast<T *>(output) + place, {innerShape, innerStrides, 0}, static_cast<const T *>(inputs[1]),
                   a, b);
      }
  }

  /// Writes block (a, b) of the value to `to`.
  template <typename T> void write(T *to, const Layout &layout, const T *from, int64_t a, int64_t b) const {
    size_t first = before.size(), second = first + indexShape.size();
    for (size_t axis = second; axis-- > first;) {
      from += b % value.shape[axis] * value.strides[axis];
      b /= value.shape[axis];
    }
    for (size_t axis = first; axis-- > 0;) {
      from += a % value.shape[axis] * value.strides[axis];
      a /= value.shape[axis];
    }
    Layout source{layout.shape, Shape(value.strides.begin() + long(second), value.strides.end()), 0};
    if (mode == Mode::Set)
      return copyStrided(to, layout, from, source, sizeof(T));
    Odometer<2> walk(layout.shape, {layout.strides, source.strides});
    for (int64_t i = 0, n = countOf(layout.shape); i < n; ++i, walk.next()) {
      T &element = to[walk.offset(0)];
      element = sum(element, from[walk.offset(1)]);
    }
  }

  template <typename T> static T sum(T a, T b) {
    return narrow<T>(Accumulator<T>(Accumulator<T>(widen(a)) + Accumulator<T>(widen(b))));
  }

  Mode mode;
  std::string name;
  Layout x, target, value; // `target`: the result that is written
  TensorMeta output;
  llvm::SmallVector<Layout, 4> indices;
  llvm::SmallVector<DType, 4> indexTypes;
  llvm::SmallVector<int64_t, 4> axes, before, after;
  Shape indexShape;
  size_t firstIndex;
};

} // namespace

llvm::Expected<PreparedRef> prepareIndexGet(const PrepareRequest &request) {
  return std::make_shared<IndexKernel>(request, Mode::Get);
}

llvm::Expected<PreparedRef> prepareIndexSet(const PrepareRequest &request) {
  return std::make_shared<IndexKernel>(request, Mode::Set);
}

llvm::Expected<PreparedRef> prepareIndexAdd(const PrepareRequest &request) {
  return std::make_shared<IndexKernel>(request, Mode::Add);
}

} // namespace tess::runtime::cpu
