//===- IndexArrays.cpp - elements by arrays of indices --------------------===//
//
// The result of index_get (and the shape that a written value broadcasts to) is
// before + indices + after: the axes of the indices replace the indexed axes
// when these are neighbours, and come first otherwise.
//
// Threads share what stays: rows of the leading axes, else columns of a line,
// and of what is only read the blocks, so that indices that point to one place
// are written in their order.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Indices.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace tess::runtime::cpu {

namespace {

enum class Mode : uint8_t { Get, Set, Add };
/// What threads share: each has some of them.
enum class Split : uint8_t { Leading, Blocks, Columns };
constexpr int64_t kColumns = 64; // the least of a line that a thread takes

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
    chooseSplit(request.threads);
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
    blockStep = stepOf(indexShape, blockStrides);
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

  /// The stride of the blocks in one piece, as they are numbered; none where they have no such stride.
  static std::optional<int64_t> stepOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
    std::optional<int64_t> step;
    int64_t next = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] == 1)
        continue;
      if (step && strides[axis] != next)
        return std::nullopt;
      step = step.value_or(strides[axis]);
      next = strides[axis] * shape[axis];
    }
    return step.value_or(0);
  }

  void chooseSplit(unsigned threads) {
    numLeading = countOfAxes(lead);
    numLines = line.size ? countOfAxes(rest) : 0;
    constexpr int64_t kElement = 1000, kLine = 100; // picoseconds of an element alone, and of one in a line
    int64_t each = line.size > 1 ? kLine : kElement;
    threads = threadsFor(numLeading * numBlocks * numLines * line.size * each, threads);
    if (numLeading >= int64_t(threads))
      split = Split::Leading;
    else
      split = mode == Mode::Get ? Split::Blocks : Split::Columns;
    threadCount = split == Split::Columns && line.size < int64_t(threads) * kColumns ? 1 : threads;
  }

  /// The offset along the indexed axes for each element of the indices. An index out of range is found before anything
  /// is written; as in NumPy, one without axes also beside others that have no element.
  llvm::Error locate(llvm::ArrayRef<void *> data, int64_t *places) const {
    std::fill_n(places, numBlocks, int64_t(0));
    for (auto [number, index] : llvm::enumerate(indices)) {
      llvm::Error error = index.dtype == DType::Int64
                              ? locateBy(number, static_cast<const int64_t *>(data[number]), places)
                              : locateBy(number, static_cast<const int32_t *>(data[number]), places);
      if (error)
        return error;
    }
    return llvm::Error::success();
  }

  template <typename Index> llvm::Error locateBy(size_t number, const Index *index, int64_t *places) const {
    int64_t size = indexedSizes[number], stride = indexedStrides[number];
    Shape shape = indexShape, steps = Layout::contiguous(indices[number].shape).broadcastTo(indexShape).strides;
    if (indices[number].shape.empty() && numBlocks == 0)
      shape.assign(shape.size(), 1);
    int64_t inner = shape.empty() ? 1 : shape.pop_back_val(), step = steps.empty() ? 0 : steps.pop_back_val();
    Odometer<1> rows(shape, {steps});
    for (int64_t i = 0, count = countOf(shape); i < count; ++i, rows.next())
      for (int64_t j = 0; j < inner; ++j) {
        int64_t raw = index[rows.offset(0) + j * step], position = raw;
        if (!wrapIndex(position, size))
          return indexError(name, raw, size);
        places[i * inner + j] += position * stride;
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

  /// What one thread does: so many of the leading rows, of the blocks, and of each line's columns.
  struct Part {
    int64_t leading, leadingEnd, block, blockEnd, column, columnEnd;
  };

  /// Calls onLine(place in x, place in its mate, elements) for each line, in the order of the mate in each thread.
  template <typename OnLine> void eachLine(const int64_t *places, OnLine onLine) const {
    Part whole{0, numLeading, 0, numBlocks, 0, line.size};
    int64_t count = split == Split::Leading ? numLeading : split == Split::Blocks ? numBlocks : line.size;
    parallelFor(threadCount, count, split == Split::Columns ? kColumns : 1, [&](int64_t begin, int64_t end, unsigned) {
      Part part = whole;
      if (split == Split::Leading)
        part.leading = begin, part.leadingEnd = end;
      else if (split == Split::Blocks)
        part.block = begin, part.blockEnd = end;
      else
        part.column = begin, part.columnEnd = end;
      eachLineOf(part, places, onLine);
    });
  }

  template <typename OnLine> void eachLineOf(const Part &part, const int64_t *places, OnLine onLine) const {
    Odometer<2> leading = walkOf(lead);
    leading.seek(part.leading);
    for (int64_t a = part.leading; a < part.leadingEnd; ++a, leading.next()) {
      int64_t x = leading.offset(0) + part.column * line.x, mate = leading.offset(1) + part.column * line.mate;
      if (numLines != 1 || !blockStep)
        eachOfBlocks(part, places, x, mate, onLine);
      else if (line.size == 1) // a count that the compiler knows
        for (int64_t b = part.block; b < part.blockEnd; ++b)
          onLine(x + places[b], mate + b * *blockStep, std::integral_constant<int64_t, 1>());
      else
        for (int64_t b = part.block; b < part.blockEnd; ++b)
          onLine(x + places[b], mate + b * *blockStep, part.columnEnd - part.column);
    }
  }

  /// The lines of blocks that have several, or that lie in no one piece.
  template <typename OnLine>
  void eachOfBlocks(const Part &part, const int64_t *places, int64_t x, int64_t mate, OnLine onLine) const {
    Odometer<2> inner = walkOf(rest);
    Odometer<1> block(indexShape, {blockStrides});
    block.seek(part.block);
    for (int64_t b = part.block; b < part.blockEnd; ++b, block.next())
      for (int64_t i = 0; i < numLines; ++i, inner.next())
        onLine(x + places[b] + inner.offset(0), mate + block.offset(0) + inner.offset(1), part.columnEnd - part.column);
  }

  /// Copies lines between x and its mate, to the one that is not const.
  template <typename X, typename Mate> void move(const int64_t *places, X *x, Mate *mate) const {
    eachLine(places, [&](int64_t inX, int64_t inMate, auto count) {
      if constexpr (std::is_const_v<X>)
        copyLine(x + inX, line.x, mate + inMate, line.mate, count);
      else
        copyLine(mate + inMate, line.mate, x + inX, line.x, count);
    });
  }

  template <typename T, typename Count>
  static void copyLine(const T *from, int64_t fromStep, T *to, int64_t toStep, Count count) {
    constexpr int64_t kShort = 8; // elements, whose copy takes less time than a call
    if (count > kShort && fromStep == 1 && toStep == 1)
      std::copy_n(from, int64_t(count), to);
    else
      for (int64_t i = 0; i < count; ++i)
        to[i * toStep] = from[i * fromStep];
  }

  template <typename T> void add(const int64_t *places, const void *value, void *output) const {
    auto *from = static_cast<const T *>(value);
    auto *to = static_cast<T *>(output);
    eachLine(places, [&](int64_t x, int64_t mate, auto count) {
      if (line.x == 1 && line.mate == 1)
        for (int64_t i = 0; i < count; ++i)
          to[x + i] = sum(to[x + i], from[mate + i]);
      else
        for (int64_t i = 0; i < count; ++i)
          to[x + i * line.x] = sum(to[x + i * line.x], from[mate + i * line.mate]);
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
  std::optional<int64_t> blockStep;                             // the stride of the mate from block to block
  llvm::SmallVector<Axis, 4> lead, rest;                        // `rest`: after the indices, without the innermost
  Axis line;                                                    // the innermost
  int64_t numLeading = 1, numLines = 1;                         // rows of `lead`; lines of a block
  Split split = Split::Leading;
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
