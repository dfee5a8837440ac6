//===- RegionRules.cpp - what movements copy, and where to ----------------===//
#include "ops/RegionRules.h"
#include "ops/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::regions {

using Layouts = llvm::ArrayRef<Layout>;

llvm::Expected<Regions> concat(const OpDef &op, Layouts operands, const Layout &result) {
  int64_t axis = op.i64("axis");
  axis += axis < 0 ? int64_t(result.shape.size()) : 0;
  Regions regions;
  int64_t position = 0;
  for (auto [index, layout] : llvm::enumerate(operands)) {
    Layout part{layout.shape, result.strides, result.offset + position * result.strides[axis]};
    regions.push_back({unsigned(index), layout, std::move(part)});
    position += layout.shape[axis];
  }
  return regions;
}

void add(Regions &all, unsigned operand, const Layout &source, const Layout &result, llvm::ArrayRef<int64_t> from,
         llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> size) {
  if (llvm::is_contained(size, 0))
    return;
  CopyRegion region{operand, source, result};
  for (size_t axis = 0; axis < size.size(); ++axis) {
    region.source.offset += from[axis] * source.strides[axis];
    region.destination.offset += to[axis] * result.strides[axis];
    region.source.shape[axis] = region.destination.shape[axis] = size[axis];
  }
  all.push_back(std::move(region));
}

/// The slice of the result that `op`, a slice_set, writes: the view that `slice` with equal attributes gives.
static llvm::Expected<Layout> sliceOf(const OpDef &op, const Layout &result) {
  OpDef slice = OpDef::get("slice");
  for (const AttrInfo &attr : op.info().attrs)
    slice.set(attr.name, op.attr(attr.name));
  llvm::Expected<Metas> metas = slice.infer({TensorMeta(DType::Float32, result.shape)});
  if (!metas)
    return metas.takeError();
  return slice.info().viewRule(slice, result, metas->front().shape);
}

llvm::Expected<Regions> sliceSet(const OpDef &op, Layouts operands, const Layout &result) {
  llvm::Expected<Layout> slice = sliceOf(op, result);
  if (!slice)
    return slice.takeError();
  if (operands[1].shape.size() > slice->shape.size())
    return makeError(ErrorCode::Internal, "slice_set: value must broadcast to " + toString(slice->shape) + ", got " +
                                              toString(operands[1].shape));
  CopyRegion value{1, operands[1].broadcastTo(slice->shape), std::move(*slice)};
  return Regions{{0, operands[0], result}, std::move(value)};
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
