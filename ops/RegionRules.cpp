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

/// Copies the operand into a filled result, `low[i]` elements from the start of axis i; a negative number crops.
llvm::Expected<Regions> pad(const OpDef &op, Layouts operands, const Layout &result) {
  const Layout &source = operands[0];
  CopyRegion region{0, source, result};
  const IntList &low = op.ints("low");
  for (size_t axis = 0; axis < source.shape.size(); ++axis) {
    int64_t begin = std::max<int64_t>(0, -low[axis]); // the first element that stays
    int64_t end = std::min(source.shape[axis], result.shape[axis] - low[axis]);
    region.source.offset += begin * source.strides[axis];
    region.destination.offset += (begin + low[axis]) * result.strides[axis];
    region.source.shape[axis] = region.destination.shape[axis] = std::max<int64_t>(0, end - begin);
  }
  return Regions{std::move(region)};
}

/// Copies two pieces that change places: the elements that leave at the end of the axis return at its start.
llvm::Expected<Regions> roll(const OpDef &op, Layouts operands, const Layout &result) {
  const Layout &source = operands[0];
  int64_t axis = op.i64("axis"), rank = result.shape.size();
  axis += axis < 0 ? rank : 0;
  int64_t size = result.shape[axis], shift = size ? (op.i64("shift") % size + size) % size : 0;
  Regions regions;
  auto move = [&](int64_t from, int64_t to, int64_t count) {
    CopyRegion region{0, source, result};
    region.source.shape[axis] = region.destination.shape[axis] = count;
    region.source.offset += from * source.strides[axis];
    region.destination.offset += to * result.strides[axis];
    if (count)
      regions.push_back(std::move(region));
  };
  move(size - shift, 0, shift);
  move(0, shift, size - shift);
  return regions;
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
