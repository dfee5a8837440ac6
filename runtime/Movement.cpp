//===- Movement.cpp - operators that only copy regions --------------------===//
#include "runtime/Movement.h"
#include "ops/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

static MovementPlan planConcat(const OpDef &op, llvm::ArrayRef<Layout> layouts, const Layout &result) {
  int64_t axis = op.i64("axis");
  axis += axis < 0 ? int64_t(result.shape.size()) : 0;
  MovementPlan plan;
  int64_t position = 0;
  for (auto [index, layout] : llvm::enumerate(layouts)) {
    Layout part{layout.shape, result.strides, result.offset + position * result.strides[axis]};
    plan.regions.push_back({unsigned(index), layout, std::move(part)});
    position += layout.shape[axis];
  }
  return plan;
}

/// The operand inside a filled result, `low[i]` elements from the start of axis i; negative ones crop.
static MovementPlan planPad(const OpDef &op, const Layout &source, const Layout &result) {
  MovementPlan plan;
  plan.fill = true;
  CopyRegion region{0, source, result};
  const IntList &low = op.ints("low");
  for (size_t axis = 0; axis < source.shape.size(); ++axis) {
    int64_t begin = std::max<int64_t>(0, -low[axis]); // first element that stays
    int64_t end = std::min(source.shape[axis], result.shape[axis] - low[axis]);
    region.source.offset += begin * source.strides[axis];
    region.destination.offset += (begin + low[axis]) * result.strides[axis];
    region.source.shape[axis] = region.destination.shape[axis] = std::max<int64_t>(0, end - begin);
  }
  plan.regions.push_back(std::move(region));
  return plan;
}

/// Two pieces that change places: what leaves at the end of the axis comes in at its start.
static MovementPlan planRoll(const OpDef &op, const Layout &source, const Layout &result) {
  int64_t axis = op.i64("axis"), rank = result.shape.size();
  axis += axis < 0 ? rank : 0;
  int64_t size = result.shape[axis], shift = size ? (op.i64("shift") % size + size) % size : 0;
  MovementPlan plan;
  auto move = [&](int64_t from, int64_t to, int64_t count) {
    CopyRegion region{0, source, result};
    region.source.shape[axis] = region.destination.shape[axis] = count;
    region.source.offset += from * source.strides[axis];
    region.destination.offset += to * result.strides[axis];
    if (count)
      plan.regions.push_back(std::move(region));
  };
  move(size - shift, 0, shift);
  move(0, shift, size - shift);
  return plan;
}

/// The slice of the result that `op`, a slice_set, writes: what the view `slice` of equal attributes shows.
static llvm::Expected<Layout> sliceOf(const OpDef &op, const Layout &result) {
  OpDef slice = OpDef::get("slice");
  for (const AttrInfo &attr : op.info().attrs)
    slice.set(attr.name, op.attr(attr.name));
  llvm::Expected<Metas> metas = slice.infer({TensorMeta(DType::Float32, result.shape)});
  if (!metas)
    return metas.takeError();
  return slice.info().viewRule(slice, result, metas->front().shape);
}

/// `layout` repeated over `shape` (right-aligned, axes of size 1 repeat).
static Layout repeated(const Layout &layout, const Shape &shape) {
  Layout out{shape, Shape(shape.size(), 0), layout.offset};
  size_t lead = shape.size() - layout.shape.size();
  for (size_t i = 0; i < layout.shape.size(); ++i)
    out.strides[lead + i] = layout.shape[i] == 1 ? 0 : layout.strides[i];
  return out;
}

static llvm::Expected<MovementPlan> planSliceSet(const OpDef &op, llvm::ArrayRef<Layout> layouts,
                                                 const Layout &result) {
  llvm::Expected<Layout> slice = sliceOf(op, result);
  if (!slice)
    return slice.takeError();
  if (layouts[1].shape.size() > slice->shape.size())
    return makeError(ErrorCode::Internal, "slice_set: value must broadcast to " + toString(slice->shape) + ", got " +
                                              toString(layouts[1].shape));
  MovementPlan plan;
  plan.regions.push_back({0, layouts[0], result});
  plan.regions.push_back({1, repeated(layouts[1], slice->shape), std::move(*slice)});
  return plan;
}

llvm::Expected<MovementPlan> planMovement(const OpDef &op, llvm::ArrayRef<TensorMeta>, llvm::ArrayRef<Layout> layouts,
                                          const Layout &result) {
  if (op.name() == "concat")
    return planConcat(op, layouts, result);
  if (op.name() == "pad")
    return planPad(op, layouts[0], result);
  if (op.name() == "slice_set")
    return planSliceSet(op, layouts, result);
  if (op.name() == "roll")
    return planRoll(op, layouts[0], result);
  return makeError(ErrorCode::Unimplemented,
                   op.name() + ": movement must be concat, pad, roll or slice_set, got another");
}

} // namespace tess::runtime
