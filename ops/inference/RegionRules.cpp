//===- RegionRules.cpp - what movements copy, and where to ----------------===//
#include "ops/inference/RegionRules.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::regions {

void add(Regions &all, unsigned operand, const Layout &source, const Layout &result, llvm::ArrayRef<int64_t> from,
         llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> steps) {
  if (llvm::is_contained(size, 0))
    return;
  CopyRegion region{operand, from.empty() ? source.broadcastTo(size) : source, result};
  for (size_t axis = 0; axis < size.size(); ++axis) {
    region.source.offset += from.empty() ? 0 : from[axis] * source.strides[axis];
    region.source.shape[axis] = region.destination.shape[axis] = size[axis];
    region.destination.offset += to[axis] * result.strides[axis];
    region.destination.strides[axis] *= steps.empty() ? 1 : steps[axis];
  }
  all.push_back(std::move(region));
}

const AttrInfo *fillOf(const OpInfo &info) {
  const AttrInfo *fill = llvm::find_if(info.attrs, [](const AttrInfo &attr) { return attr.isRuntime; });
  return fill == info.attrs.end() ? nullptr : fill;
}

bool writesStrided(const OpDef &op) {
  if (op.info().regionSteps < 0)
    return false;
  const IntList &steps = op.attr(unsigned(op.info().regionSteps)).ints();
  return !steps.empty() && steps.back() != 1;
}

} // namespace tess::regions
