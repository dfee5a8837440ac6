//===- IndexArrays.cpp - elements by arrays of indices --------------------===//
//
// The result of index_get (and the shape that a written value broadcasts to) is
// before + indices + after: the axes of the indices replace the indexed axes
// when these are neighbours, and come first otherwise.
//
//===----------------------------------------------------------------------===//
#include "runtime/Elements.h"
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <type_traits>

namespace tess::runtime::cpu {

namespace {

enum class Mode : uint8_t { Get, Set, Add };

class IndexKernel : public PreparedKernel {
public:
  IndexKernel(const PrepareRequest &request, Mode mode)
      : mode(mode), name(request.op.name()), dtype(request.outputs[0].dtype) {
    implementationName = "own:" + name;
    looksAtData = true;
    isUpdate = mode != Mode::Get;
    firstIndex = isUpdate ? 2 : 1;
    indices.assign(request.inputs.begin() + firstIndex, request.inputs.end());
    for (const TensorMeta &index : indices)
      (void)broadcastInto(indexShape, index.shape); // inference has checked that they fit
    numBlocks = countOf(indexShape);
    layOut(request);
    workspace = llvm::alignTo(size_t(std::max<int64_t>(numBlocks, 1)) * sizeof(int64_t), 64);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    auto *places = static_cast<int64_t *>(context.workspace);
    if (llvm::Error error = locate(inputs.drop_front(size_t(firstIndex)), places))
      return error;
    if (mode == Mode::Add)
      withTypeOrComplex(dtype, [&](auto tag) { add<decltype(tag)>(places, inputs[1], outputs[0]); });
    else
      withWidth(dtype, [&](auto tag) {
        using T = decltype(tag);
        if (mode == Mode::Get)
          move(places, static_cast<const T *>(inputs[0]), static_cast<T *>(outputs[0]));
        else
          move(places, static_cast<T *>(outputs[0]), static_cast<const T *>(inputs[1]));
      });
    return llvm::Error::success();
  }

private:
  /// An axis that stays, with the strides of x and of its mate: of the result of Get, of the value that is written.
  struct Axis {
    int64_t size = 1, x = 1, mate = 1;
  };

  /// Finds the axes that stay before and after the indices, and the strides of every axis.
  void layOut(const PrepareRequest &request) {
    const Shape &x = request.inputs[0].shape;
    Shape strides = contiguousStrides(x), shape; // `shape`: before + indices + after
    llvm::SmallVector<int64_t, 4> sorted, before, after;
    for (int64_t axis : request.op.ints("axes")) {
      sorted.push_back(axis < 0 ? axis + int64_t(x.size()) : axis);
      indexedSizes.push_back(x[size_t(sorted.back())]);
      indexedStrides.push_back(strides[size_t(sorted.back())]);
    }
    llvm::sort(sorted);
    bool neighbours = sorted.empty() || sorted.back() - sorted.front() + 1 == int64_t(sorted.size());
    for (int64_t axis = 0; axis < int64_t(x.size()); ++axis)
      if (!llvm::is_contained(sorted, axis))
        (neighbours && !sorted.empty() && axis < sorted.front() ? before : after).push_back(axis);
    for (int64_t axis : before)
      shape.push_back(x[size_t(axis)]);
    shape.append(indexShape);
    for (int64_t axis : after)
      shape.push_back(x[size_t(axis)]);
    Layout mateLayout = Layout::contiguous(isUpdate ? llvm::ArrayRef<int64_t>(request.inputs[1].shape) : shape);
    Shape mate = mateLayout.broadcastTo(shape).strides;
    for (auto [i, axis] : llvm::enumerate(before))
      lead.push_back({x[size_t(axis)], strides[size_t(axis)], mate[i]});
    blockStrides.assign(mate.begin() + before.size(), mate.end() - after.size());
    for (auto [i, axis] : llvm::enumerate(after))
      append({x[size_t(axis)], strides[size_t(axis)], mate[mate.size() - after.size() + i]});
    if (!rest.empty())
      line = rest.pop_back_val();
  }

  /// Adds an axis to `rest`, as a part of the last one where both sides walk the two in one piece.
  void append(Axis axis) {
    if (axis.size == 1)
      return;
    if (!rest.empty() && rest.back().x == axis.x * axis.size && rest.back().mate == axis.mate * axis.size)
      rest.back() = {rest.back().size * axis.size, axis.x, axis.mate};
    else
      rest.push_back(axis);
  }

  /// The offset along the indexed axes for each element of the indices. An index out of range is found before anything
  /// is written; as in NumPy, one without axes also beside others that have no element.
  llvm::Error locate(llvm::ArrayRef<void *> data, int64_t *places) const {
    std::fill_n(places, numBlocks, int64_t(0));
    for (auto [number, index] : llvm::enumerate(indices)) {
      Odometer<1> walk(indexShape, {Layout::contiguous(index.shape).broadcastTo(indexShape).strides});
      int64_t numChecked = index.shape.empty() ? std::max<int64_t>(numBlocks, 1) : numBlocks;
      for (int64_t i = 0; i < numChecked; ++i, walk.next()) {
        int64_t raw = indexAt(index.dtype, data[number], walk.offset(0)), position = raw;
        if (!wrapIndex(position, indexedSizes[number]))
          return indexError(name, raw, indexedSizes[number]);
        if (i < numBlocks)
          places[i] += position * indexedStrides[number];
      }
    }
    return llvm::Error::success();
  }

  static Odometer<2> walkOf(llvm::ArrayRef<Axis> axes) {
    Shape shape, x, mate;
    for (const Axis &axis : axes) {
      shape.push_back(axis.size);
      x.push_back(axis.x);
      mate.push_back(axis.mate);
    }
    return {shape, {x, mate}};
  }
  static int64_t countOfAxes(llvm::ArrayRef<Axis> axes) {
    int64_t count = 1;
    for (const Axis &axis : axes)
      count *= axis.size;
    return count;
  }

  /// Calls onLine(place in x, place in its mate) for each line, in the order of the mate.
  template <typename OnLine> void eachLine(const int64_t *places, OnLine onLine) const {
    Odometer<2> leading = walkOf(lead), inner = walkOf(rest);
    Odometer<1> block(indexShape, {blockStrides});
    int64_t numLeading = countOfAxes(lead), numLines = line.size ? countOfAxes(rest) : 0;
    for (int64_t a = 0; a < numLeading; ++a, leading.next())
      for (int64_t b = 0; b < numBlocks; ++b, block.next())
        for (int64_t i = 0; i < numLines; ++i, inner.next())
          onLine(leading.offset(0) + places[b] + inner.offset(0),
                 leading.offset(1) + block.offset(0) + inner.offset(1));
  }

  /// Copies lines between x and its mate, to the one that is not const.
  template <typename X, typename Mate> void move(const int64_t *places, X *x, Mate *mate) const {
    eachLine(places, [&](int64_t inX, int64_t inMate) {
      if constexpr (std::is_const_v<X>)
        copyLine(x + inX, line.x, mate + inMate, line.mate);
      else
        copyLine(mate + inMate, line.mate, x + inX, line.x);
    });
  }

  template <typename T> void copyLine(const T *from, int64_t fromStep, T *to, int64_t toStep) const {
    constexpr int64_t kShort = 8; // elements, whose copy takes less time than a call
    if (fromStep == 1 && toStep == 1 && line.size > kShort)
      std::copy_n(from, line.size, to);
    else
      for (int64_t i = 0; i < line.size; ++i)
        to[i * toStep] = from[i * fromStep];
  }

  template <typename T> void add(const int64_t *places, const void *value, void *output) const {
    eachLine(places, [&, from = static_cast<const T *>(value), to = static_cast<T *>(output)](int64_t x, int64_t mate) {
      for (int64_t i = 0; i < line.size; ++i) {
        T &element = to[x + i * line.x];
        element = sum(element, from[mate + i * line.mate]);
      }
    });
  }

  template <typename T> static T sum(T a, T b) {
    return narrow<T>(Accumulator<T>(Accumulator<T>(widen(a)) + Accumulator<T>(widen(b))));
  }

  Mode mode;
  std::string name;
  DType dtype;
  int64_t firstIndex; // among the operands
  Metas indices;
  Shape indexShape, indexedSizes, indexedStrides, blockStrides; // the last: of the mate, along the axes of the indices
  int64_t numBlocks;                                            // elements that the indices broadcast to
  llvm::SmallVector<Axis, 4> lead, rest;                        // `rest`: after the indices, without the innermost
  Axis line;                                                    // the innermost
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
