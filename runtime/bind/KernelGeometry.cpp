//===- KernelGeometry.cpp - the dims array of a kernel call ---------------===//
//
// The last check before generated code, which would read outside of memory
// where an assumption does not hold: every assumption of the code is checked
// here.
//
//===----------------------------------------------------------------------===//
#include "runtime/bind/KernelGeometry.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tess::runtime {

char RepeatedInputError::ID = 0;

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
  Geometry(const Step &step, const KernelOperands &operands)
      : step(step), operands(operands), groups(step.parallel), vector(step.parallel.size() - 1) {
    groups.append(step.reduced);
    if (step.vectorOnReduced)
      vector = groups.size() - 1;
  }
  llvm::Expected<KernelGeometry> run();

private:
  llvm::Error misfit(size_t operand, const llvm::Twine &message);
  static std::string internalText(const llvm::Twine &message) { return ("bind: kernel " + message).str(); }
  static llvm::Error bad(const llvm::Twine &message) { return makeError(ErrorCode::Internal, internalText(message)); }
  llvm::Error computeDomain();
  llvm::Error addGroup(unsigned number);
  llvm::Error checkCovered();
  std::optional<Shape> alignRight(const Layout &layout, bool exact) const;
  std::optional<Shape> alignKept(const Layout &layout) const;
  std::optional<Shape> alignPacked(const Layout &layout) const;
  std::optional<Shape> align(size_t operand) const;
  llvm::Error addStrides(size_t operand);
  llvm::Expected<int64_t> collapse(AxisGroup group, const Shape &strides, size_t operand);
  llvm::Error checkInner(size_t operand, int64_t stride);
  bool repeats(size_t operand) const;

  const Step &step;
  const KernelOperands &operands;
  AxisGroups groups; // parallel, then reduced
  size_t vector;     // the group that vectors walk
  Shape domain;
  llvm::SmallVector<bool, kMaxRank> isReduced, isCovered;
  KernelGeometry out;
};

} // namespace

llvm::Error Geometry::computeDomain() {
  for (llvm::ArrayRef<int64_t> shape : operands.shapes)
    if (!broadcastInto(domain, shape))
      return bad("domain must broadcast, got " + toString(shape));
  isReduced.assign(domain.size(), false);
  isCovered.assign(domain.size(), false);
  return llvm::Error::success();
}

/// The size of a group, and its part of the ranges.
llvm::Error Geometry::addGroup(unsigned number) {
  AxisGroup group = groups[number];
  if (group.last > domain.size())
    return bad("axis groups must lie in the domain " + toString(domain) + ", got an end of " +
               llvm::Twine(unsigned(group.last)));
  const bool reduces = number >= step.parallel.size();
  int64_t size = 1;
  for (unsigned axis = group.first; axis < group.last; ++axis) {
    isCovered[axis] = true;
    isReduced[axis] = reduces;
    size *= domain[axis];
  }
  out.dims[out.places.size(number)] = size;
  (reduces ? out.reduced : out.parallel) *= size;
  if (!reduces)
    (number == vector ? out.inner : out.outer) *= size;
  return llvm::Error::success();
}

llvm::Error Geometry::checkCovered() {
  for (size_t axis = 0; axis < domain.size(); ++axis)
    if (!isCovered[axis] && domain[axis] != 1)
      return bad("axis groups must cover the domain " + toString(domain) + ", got none for axis " + llvm::Twine(axis));
  return llvm::Error::success();
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
  int64_t count = llvm::product_of(layout.shape);
  bool whole = count == out.parallel * out.reduced;
  if (!layout.isContiguous() || (!whole && count != out.parallel))
    return std::nullopt;
  Shape sizes = domain;
  for (size_t axis = 0; axis < domain.size(); ++axis)
    if (!whole && isReduced[axis])
      sizes[axis] = 1;
  return Layout::contiguous(sizes).broadcastTo(domain).strides;
}

std::optional<Shape> Geometry::align(size_t operand) const {
  const Layout &layout = operands.layouts[operand];
  if (std::optional<Shape> strides = alignRight(layout, /*exact=*/operand >= operands.numInputs))
    return strides;
  if (std::optional<Shape> strides = alignKept(layout))
    return strides;
  return alignPacked(layout);
}

/// Whether the operand is an input that has size 1 along an axis where the domain has not, and no axis that indices
/// count along, which a copy over the domain would not have.
bool Geometry::repeats(size_t operand) const {
  llvm::ArrayRef<int64_t> shape = operands.layouts[operand].shape;
  if (llvm::any_of(step.lookups, [&](const LookupDecl &lookup) { return lookup.operand == operand; }))
    return false;
  return operand < operands.numInputs && shape.size() <= domain.size() &&
         llvm::any_of(
             llvm::zip(llvm::reverse(shape), llvm::reverse(domain)),
             [](auto sizes) { return std::get<0>(sizes) == 1 && std::get<1>(sizes) != 1; });
}

/// The error about strides that the code does not walk: our own bug, unless an input repeats.
llvm::Error Geometry::misfit(size_t operand, const llvm::Twine &message) {
  if (repeats(operand))
    return llvm::make_error<RepeatedInputError>(operand, domain, internalText(message));
  return bad(message);
}

llvm::Expected<int64_t> Geometry::collapse(AxisGroup group, const Shape &strides, size_t operand) {
  int64_t innermost = 0, count = 1;
  for (unsigned axis = group.last; axis-- > group.first;) {
    if (domain[axis] == 1)
      continue;
    if (count == 1)
      innermost = strides[axis];
    if (strides[axis] != innermost * count)
      return misfit(operand, "axes " + llvm::Twine(unsigned(group.first)) + ".." + llvm::Twine(unsigned(group.last)) +
                                 " of " + toString(domain) + " must collapse for operand " + llvm::Twine(operand) +
                                 ", got strides " + toString(llvm::ArrayRef<int64_t>(strides)));
    count *= domain[axis];
  }
  return innermost;
}

llvm::Error Geometry::checkInner(size_t operand, int64_t stride) {
  if (step.innerClasses.empty())
    return llvm::Error::success();
  constexpr const char *kStrides[] = {"1", "0", "any", "a mask"}; // by inner class
  InnerClass inner = step.innerClasses[operand];
  if (!fitsInner(inner, stride))
    return misfit(operand, "operand " + llvm::Twine(operand) +
                               " must have the inner stride that its code was made for (" + kStrides[unsigned(inner)] +
                               "), got " + llvm::Twine(stride));
  return llvm::Error::success();
}

llvm::Error Geometry::addStrides(size_t operand) {
  std::optional<Shape> strides = align(operand);
  if (!strides)
    return bad("operand " + llvm::Twine(operand) + " must fit the domain " + toString(domain) + ", got " +
               toString(operands.layouts[operand].shape));
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (out.dims[out.places.size(unsigned(number))] == 0) // no step is taken there
      continue;
    llvm::Expected<int64_t> stride = collapse(group, *strides, operand);
    if (!stride)
      return stride.takeError();
    out.dims[out.places.stride(unsigned(operand), unsigned(number))] = *stride;
    if (number == vector && out.dims[out.places.size(unsigned(number))] > 1)
      if (llvm::Error error = checkInner(operand, *stride))
        return error;
  }
  return llvm::Error::success();
}

llvm::Expected<KernelGeometry> Geometry::run() {
  if (llvm::Error error = computeDomain())
    return std::move(error);
  out.places = KernelDims(unsigned(groups.size()), unsigned(operands.layouts.size()), unsigned(operands.bounds.size()));
  out.dims.assign(out.places.count(unsigned(step.scalars.size())), 0);
  for (auto [index, bound] : llvm::enumerate(operands.bounds))
    llvm::copy(bound, out.dims.begin() + out.places.bound(unsigned(index), BoundNumber(0)));
  for (unsigned number = 0; number < groups.size(); ++number)
    if (llvm::Error error = addGroup(number))
      return std::move(error);
  if (llvm::Error error = checkCovered())
    return std::move(error);
  // An empty domain reads nothing; a reduction over nothing still writes, and reads what has elements for it.
  for (size_t operand = 0; operand < operands.layouts.size(); ++operand)
    if (out.parallel != 0 && (operand >= operands.numInputs || !llvm::is_contained(operands.layouts[operand].shape, 0)))
      if (llvm::Error error = addStrides(operand))
        return std::move(error);
  out.isTiled = step.reduced.empty() && wantsTiles(out.dims.data(), step.parallel.size(), operands.layouts.size());
  return std::move(out);
}

llvm::Expected<KernelGeometry> kernelGeometry(const Step &step, const KernelOperands &operands) {
  return Geometry(step, operands).run();
}

} // namespace tess::runtime
