//===- KernelGeometry.cpp - the dims array of a kernel call ---------------===//
//
// The last check before generated code, which would read outside of memory
// where an assumption does not hold: every assumption of the code is checked
// here.
//
//===----------------------------------------------------------------------===//
#include "runtime/bind/KernelGeometry.h"
#include "ops/Error.h"
#include "runtime/Device.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tess::runtime {

namespace {

using Strides = llvm::SmallVector<int64_t, kMaxRank>;

class Geometry {
public:
  Geometry(const Step &step, llvm::ArrayRef<Layout> operands, size_t numInputs)
      : step(step), operands(operands), numInputs(numInputs) {}
  llvm::Error run(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);
  KernelGeometry out;

private:
  llvm::Error bad(const llvm::Twine &message) { return makeError(ErrorCode::Internal, "bind: kernel " + message); }
  llvm::Error computeDomain(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);
  llvm::Error checkGroups();
  void computeRanges();
  int64_t sizeOf(AxisGroup group) const;
  std::optional<Strides> alignRight(const Layout &layout, bool exact) const;
  std::optional<Strides> alignKept(const Layout &layout) const;
  std::optional<Strides> alignPacked(const Layout &layout) const;
  std::optional<Strides> align(size_t operand) const;
  llvm::Error addStrides(size_t operand);
  llvm::Expected<int64_t> collapse(AxisGroup group, const Strides &strides, size_t operand);
  llvm::Error checkInner(size_t operand, int64_t stride);

  const Step &step;
  llvm::ArrayRef<Layout> operands;
  size_t numInputs;
  Shape domain;
  llvm::SmallVector<bool, kMaxRank> isReduced;
};

} // namespace

llvm::Error Geometry::computeDomain(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  for (llvm::ArrayRef<int64_t> shape : shapes) {
    if (shape.size() > domain.size())
      domain.insert(domain.begin(), shape.size() - domain.size(), 1);
    size_t lead = domain.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = domain[lead + i];
      if (size != shape[i] && size != 1 && shape[i] != 1)
        return bad("domain must broadcast, got " + toString(shape));
      size = size == 1 ? shape[i] : size;
    }
  }
  return llvm::Error::success();
}

llvm::Error Geometry::checkGroups() {
  llvm::SmallVector<bool, kMaxRank> covered(domain.size());
  isReduced.assign(domain.size(), false);
  for (const AxisGroups *list : {&step.parallel, &step.reduced})
    for (AxisGroup group : *list) {
      if (group.last > domain.size())
        return bad("axis groups must lie in the domain " + toString(domain) + ", got an end of " +
                   llvm::Twine(unsigned(group.last)));
      for (unsigned axis = group.first; axis < group.last; ++axis) {
        covered[axis] = true;
        isReduced[axis] = list == &step.reduced;
      }
    }
  for (size_t axis = 0; axis < domain.size(); ++axis)
    if (!covered[axis] && domain[axis] != 1)
      return bad("axis groups must cover the domain " + toString(domain) + ", got none for axis " + llvm::Twine(axis));
  return llvm::Error::success();
}

int64_t Geometry::sizeOf(AxisGroup group) const {
  int64_t size = 1;
  for (unsigned axis = group.first; axis < group.last; ++axis)
    size *= domain[axis];
  return size;
}

void Geometry::computeRanges() {
  unsigned place = 0;
  for (AxisGroup group : step.parallel) {
    out.dims[out.places.size(place++)] = sizeOf(group);
    out.parallel *= sizeOf(group);
  }
  for (AxisGroup group : step.reduced) {
    out.dims[out.places.size(place++)] = sizeOf(group);
    out.reduced *= sizeOf(group);
  }
  bool innerIsParallel = !step.vectorOnReduced;
  out.inner = innerIsParallel ? sizeOf(step.parallel.back()) : 1;
  for (AxisGroup group : llvm::ArrayRef(step.parallel).drop_back(innerIsParallel ? 1 : 0))
    out.outer *= sizeOf(group);
}

/// The strides of `layout` broadcast to the domain; `exact`: nothing may be repeated.
std::optional<Strides> Geometry::alignRight(const Layout &layout, bool exact) const {
  if (layout.shape.size() > domain.size() || (exact && layout.shape.size() != domain.size()))
    return std::nullopt;
  Strides strides(domain.size(), 0);
  size_t lead = domain.size() - layout.shape.size();
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    if (layout.shape[i] == domain[lead + i])
      strides[lead + i] = layout.strides[i];
    else if (layout.shape[i] != 1 || (exact && !isReduced[lead + i]))
      return std::nullopt;
  }
  return strides;
}

/// The strides of `layout` when its axes are exactly the axes of the domain that are not reduced.
std::optional<Strides> Geometry::alignKept(const Layout &layout) const {
  Strides strides(domain.size(), 0);
  size_t next = 0;
  for (size_t axis = 0; axis < domain.size(); ++axis) {
    if (isReduced[axis])
      continue;
    if (next == layout.shape.size() || layout.shape[next] != domain[axis])
      return std::nullopt;
    strides[axis] = layout.strides[next++];
  }
  return next == layout.shape.size() ? std::optional<Strides>(strides) : std::nullopt;
}

/// The strides of a contiguous operand with as many elements as the domain or its parallel part, but another shape.
std::optional<Strides> Geometry::alignPacked(const Layout &layout) const {
  int64_t count = 1;
  for (int64_t size : layout.shape)
    count *= size;
  bool whole = count == out.parallel * out.reduced;
  if (!layout.isContiguous() || (!whole && count != out.parallel))
    return std::nullopt;
  Strides strides(domain.size(), 0);
  int64_t stride = 1;
  for (size_t axis = domain.size(); axis-- > 0;)
    if (whole || !isReduced[axis]) {
      strides[axis] = stride;
      stride *= domain[axis];
    }
  return strides;
}

std::optional<Strides> Geometry::align(size_t operand) const {
  const Layout &layout = operands[operand];
  bool isResult = operand >= numInputs;
  if (std::optional<Strides> strides = alignRight(layout, isResult))
    return strides;
  if (std::optional<Strides> strides = alignKept(layout))
    return strides;
  return alignPacked(layout);
}

llvm::Expected<int64_t> Geometry::collapse(AxisGroup group, const Strides &strides, size_t operand) {
  int64_t innermost = 0, expected = 0;
  bool first = true;
  for (unsigned axis = group.last; axis-- > group.first;) {
    if (domain[axis] == 1)
      continue;
    if (first)
      innermost = strides[axis];
    else if (strides[axis] != expected)
      return bad("axes " + llvm::Twine(unsigned(group.first)) + ".." + llvm::Twine(unsigned(group.last)) + " of " +
                 toString(domain) + " must collapse for operand " + llvm::Twine(operand) + ", got strides " +
                 toString(llvm::ArrayRef<int64_t>(strides)));
    first = false;
    expected = strides[axis] * domain[axis];
  }
  return innermost;
}

llvm::Error Geometry::checkInner(size_t operand, int64_t stride) {
  if (step.innerClasses.empty())
    return llvm::Error::success();
  InnerClass inner = step.innerClasses[operand];
  if ((inner == InnerClass::Contiguous && stride != 1) || (inner == InnerClass::Broadcast && stride != 0))
    return bad("operand " + llvm::Twine(operand) + " must have the inner stride that its code was made for (" +
               (inner == InnerClass::Contiguous ? "1" : "0") + "), got " + llvm::Twine(stride));
  return llvm::Error::success();
}

llvm::Error Geometry::addStrides(size_t operand) {
  std::optional<Strides> strides = align(operand);
  if (!strides)
    return bad("operand " + llvm::Twine(operand) + " must fit the domain " + toString(domain) + ", got " +
               toString(operands[operand].shape));
  AxisGroup vector = step.vectorOnReduced ? step.reduced.back() : step.parallel.back();
  unsigned place = 0;
  for (const AxisGroups *list : {&step.parallel, &step.reduced})
    for (const AxisGroup &group : *list) {
      llvm::Expected<int64_t> stride = collapse(group, *strides, operand);
      if (!stride)
        return stride.takeError();
      out.dims[out.places.stride(unsigned(operand), place++)] = *stride;
      bool isVector = group.first == vector.first && group.last == vector.last &&
                      (list == &step.reduced) == step.vectorOnReduced && sizeOf(group) > 1;
      if (isVector)
        if (llvm::Error error = checkInner(operand, *stride))
          return error;
    }
  return llvm::Error::success();
}

llvm::Error Geometry::run(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  if (llvm::Error error = computeDomain(shapes))
    return error;
  if (llvm::Error error = checkGroups())
    return error;
  out.places = KernelDims(unsigned(step.parallel.size() + step.reduced.size()), unsigned(operands.size()));
  out.dims.assign(out.places.count(unsigned(step.scalars.size())), 0);
  computeRanges();
  for (size_t operand = 0; operand < operands.size(); ++operand) {
    bool isRead = operand < numInputs; // an empty domain reads nothing; a reduction over nothing still writes
    if (out.parallel != 0 && (out.reduced != 0 || !isRead))
      if (llvm::Error error = addStrides(operand))
        return error;
  }
  return llvm::Error::success();
}

llvm::Expected<KernelGeometry> kernelGeometry(const Step &step, llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                                              llvm::ArrayRef<Layout> operands, size_t numInputs) {
  Geometry geometry(step, operands, numInputs);
  if (llvm::Error error = geometry.run(shapes))
    return std::move(error);
  geometry.out.isTiled =
      step.reduced.empty() && wantsTiles(geometry.out.dims.data(), step.parallel.size(), operands.size());
  return std::move(geometry.out);
}

} // namespace tess::runtime
