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

bool fitsInner(InnerClass inner, int64_t stride) {
  switch (inner) {
  case InnerClass::Contiguous:
    return stride == 1;
  case InnerClass::Broadcast:
    return stride == 0;
  case InnerClass::Strided:
    return true;
  case InnerClass::Repeated:
    return uint64_t(stride) < kLanes && (stride & (stride + 1)) == 0;
  }
  llvm_unreachable("inner class out of range");
}

namespace {

class Geometry {
public:
  Geometry(const Step &step, llvm::ArrayRef<Layout> operands, size_t numInputs)
      : step(step), operands(operands), numInputs(numInputs) {}
  llvm::Expected<KernelGeometry> run(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                                     llvm::ArrayRef<KernelBound> bounds);

private:
  llvm::Error bad(const llvm::Twine &message) { return makeError(ErrorCode::Internal, "bind: kernel " + message); }
  llvm::Error computeDomain(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);
  llvm::Error checkGroups();
  void computeRanges();
  int64_t sizeOf(AxisGroup group) const;
  std::optional<Shape> alignRight(const Layout &layout, bool exact) const;
  std::optional<Shape> alignKept(const Layout &layout) const;
  std::optional<Shape> alignPacked(const Layout &layout) const;
  std::optional<Shape> align(size_t operand) const;
  llvm::Error addStrides(size_t operand);
  llvm::Expected<int64_t> collapse(AxisGroup group, const Shape &strides, size_t operand);
  llvm::Error checkInner(size_t operand, int64_t stride);

  const Step &step;
  llvm::ArrayRef<Layout> operands;
  size_t numInputs;
  Shape domain;
  llvm::SmallVector<bool, kMaxRank> isReduced;
  KernelGeometry out;
};

} // namespace

llvm::Error Geometry::computeDomain(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  for (llvm::ArrayRef<int64_t> shape : shapes)
    if (!broadcastInto(domain, shape))
      return bad("domain must broadcast, got " + toString(shape));
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
  for (const AxisGroups *list : {&step.parallel, &step.reduced})
    for (AxisGroup group : *list) {
      out.dims[out.places.size(place++)] = sizeOf(group);
      (list == &step.parallel ? out.parallel : out.reduced) *= sizeOf(group);
    }
  out.inner = step.vectorOnReduced ? 1 : sizeOf(step.parallel.back());
  for (AxisGroup group : llvm::ArrayRef(step.parallel).drop_back(step.vectorOnReduced ? 0 : 1))
    out.outer *= sizeOf(group);
}

/// The strides of `layout` broadcast to the domain; `exact`: nothing but reduced axes may be repeated.
std::optional<Shape> Geometry::alignRight(const Layout &layout, bool exact) const {
  if (!broadcastsTo(layout.shape, domain) || (exact && layout.shape.size() != domain.size()))
    return std::nullopt;
  for (size_t axis = 0; exact && axis < domain.size(); ++axis)
    if (layout.shape[axis] != domain[axis] && !isReduced[axis])
      return std::nullopt;
  return layout.broadcastTo(domain).strides;
}

/// The strides of `layout` when its axes are exactly the axes of the domain that are not reduced.
std::optional<Shape> Geometry::alignKept(const Layout &layout) const {
  Shape strides(domain.size(), 0);
  size_t next = 0;
  for (size_t axis = 0; axis < domain.size(); ++axis) {
    if (isReduced[axis])
      continue;
    if (next == layout.shape.size() || layout.shape[next] != domain[axis])
      return std::nullopt;
    strides[axis] = layout.strides[next++];
  }
  return next == layout.shape.size() ? std::optional<Shape>(strides) : std::nullopt;
}

/// The strides of a contiguous operand with as many elements as the domain or its parallel part, but another shape.
std::optional<Shape> Geometry::alignPacked(const Layout &layout) const {
  int64_t count = 1;
  for (int64_t size : layout.shape)
    count *= size;
  bool whole = count == out.parallel * out.reduced;
  if (!layout.isContiguous() || (!whole && count != out.parallel))
    return std::nullopt;
  Shape strides(domain.size(), 0);
  int64_t stride = 1;
  for (size_t axis = domain.size(); axis-- > 0;)
    if (whole || !isReduced[axis]) {
      strides[axis] = stride;
      stride *= domain[axis];
    }
  return strides;
}

std::optional<Shape> Geometry::align(size_t operand) const {
  const Layout &layout = operands[operand];
  bool isResult = operand >= numInputs;
  if (std::optional<Shape> strides = alignRight(layout, isResult))
    return strides;
  if (std::optional<Shape> strides = alignKept(layout))
    return strides;
  return alignPacked(layout);
}

llvm::Expected<int64_t> Geometry::collapse(AxisGroup group, const Shape &strides, size_t operand) {
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
  constexpr const char *kStrides[] = {"1", "0", "any", "a mask"}; // by inner class
  InnerClass inner = step.innerClasses[operand];
  if (!fitsInner(inner, stride))
    return bad("operand " + llvm::Twine(operand) + " must have the inner stride that its code was made for (" +
               kStrides[unsigned(inner)] + "), got " + llvm::Twine(stride));
  return llvm::Error::success();
}

llvm::Error Geometry::addStrides(size_t operand) {
  std::optional<Shape> strides = align(operand);
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

llvm::Expected<KernelGeometry> Geometry::run(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                                             llvm::ArrayRef<KernelBound> bounds) {
  if (llvm::Error error = computeDomain(shapes))
    return std::move(error);
  if (llvm::Error error = checkGroups())
    return std::move(error);
  out.places = KernelDims(unsigned(step.parallel.size() + step.reduced.size()), unsigned(operands.size()),
                          unsigned(bounds.size()));
  out.dims.assign(out.places.count(unsigned(step.scalars.size())), 0);
  for (auto [index, bound] : llvm::enumerate(bounds))
    llvm::copy(bound, out.dims.begin() + out.places.bound(unsigned(index), BoundNumber(0)));
  computeRanges();
  for (size_t operand = 0; operand < operands.size(); ++operand) {
    bool isRead = operand < numInputs; // an empty domain reads nothing; a reduction over nothing still writes
    if (out.parallel != 0 && (out.reduced != 0 || !isRead))
      if (llvm::Error error = addStrides(operand))
        return std::move(error);
  }
  out.isTiled = step.reduced.empty() && wantsTiles(out.dims.data(), step.parallel.size(), operands.size());
  return std::move(out);
}

llvm::Expected<KernelGeometry> kernelGeometry(const Step &step, llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                                              llvm::ArrayRef<Layout> operands, size_t numInputs,
                                              llvm::ArrayRef<KernelBound> bounds) {
  return Geometry(step, operands, numInputs).run(shapes, bounds);
}

} // namespace tess::runtime
