//===- Subscript.cpp - x[key] and x[key] = value --------------------------===//
#include "eager/subscript/Subscript.h"

#include "eager/dispatch/InPlace.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/Tracer.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

namespace {

template <typename Op> llvm::Expected<TensorRef> withAxes(TensorRef x, const IntList &axes) {
  if (axes.empty())
    return x;
  return applyOne(Op(axes), {Operand(x)});
}

llvm::Expected<TensorRef> applyAll(llvm::ArrayRef<OpDef> ops, TensorRef x) {
  for (const OpDef &op : ops) {
    llvm::Expected<TensorRef> next = applyExpressions(op, {Operand(x)});
    if (!next)
      return next;
    x = std::move(*next);
  }
  return x;
}

llvm::Expected<TensorRef> basicView(TensorRef x, const Key &key) { return applyAll(viewOps(key), std::move(x)); }

/// The axes of the index arrays after the removed axes are gone and the added ones are inserted, in their order. The
/// arrays join `operands`.
IntList indexAxes(const Key &key, llvm::SmallVectorImpl<Operand> &operands) {
  llvm::SmallVector<std::pair<int64_t, TensorImpl *>, 4> placed;
  for (const auto &[axis, array] : key.indices) {
    int64_t moved = axis;
    for (int64_t removed : key.removed)
      moved -= removed < axis;
    for (int64_t added : key.added)
      moved += added <= moved;
    placed.push_back({moved, array.get()});
  }
  for (const auto &[place, array] : key.scalarIndices)
    placed.push_back({key.added[place], array.get()});
  llvm::sort(placed, llvm::less_first());
  IntList axes;
  for (auto [axis, array] : placed) {
    axes.push_back(axis);
    operands.push_back(Operand(array));
  }
  return axes;
}

/// How many axes that no index array takes are before the one that parts the arrays.
int64_t keptBeforeParting(const Key &key, const IntList &axes) {
  int64_t parting = key.added[key.parting];
  return parting - llvm::count_if(axes, [&](int64_t axis) { return axis < parting; });
}

llvm::Expected<TensorRef> takeIndices(const TensorRef &x, const Key &key) {
  llvm::SmallVector<Operand, 4> operands = {Operand(x)};
  IntList axes = indexAxes(key, operands);
  llvm::Expected<Tensors> results = apply(builtin::IndexGet(axes), operands, {1, unsigned(axes.size())});
  if (!results)
    return results.takeError();
  if (key.parting < 0)
    return std::move(results->front());
  int64_t arrays = int64_t(results->front()->rank()) - int64_t(x->rank() - axes.size()); // their axes come first
  return applyOne(builtin::Squeeze(IntList{arrays + keptBeforeParting(key, axes)}), {Operand(results->front())});
}

/// The value with an axis for the one that parts index arrays, where it has the axes around it.
llvm::Expected<TensorRef> partedValue(TensorRef value, const TensorImpl &x, const Key &key, const IntList &axes) {
  int64_t behind = int64_t(x.rank() - axes.size()) - keptBeforeParting(key, axes) - 1;
  int64_t before = int64_t(value->rank()) - behind;
  return before > 0 ? applyOne(builtin::ExpandDims(IntList{before}), {Operand(value)})
                    : llvm::Expected<TensorRef>(std::move(value));
}

/// The elements of one mask over the first axes. One of rank 0 takes all of x or nothing, along a new first axis.
llvm::Expected<TensorRef> takeMasked(TensorImpl &tensor, const TensorRef &mask) {
  if (mask->rank())
    return applyOne(builtin::MaskGet(), {Operand(&tensor), Operand(mask)});
  llvm::Expected<TensorRef> whole = applyOne(builtin::ExpandDims(IntList{0}), {Operand(&tensor)});
  if (!whole)
    return whole;
  llvm::Expected<TensorRef> row = applyOne(builtin::ExpandDims(IntList{0}), {Operand(mask)});
  return row ? applyOne(builtin::MaskGet(), {Operand(*whole), Operand(*row)}) : std::move(row);
}

} // namespace

ViewOps viewOps(const Key &key) {
  ViewOps ops;
  if (key.isSliced)
    ops.push_back(builtin::Slice(key.opStarts(), key.opStops(), key.steps, key.opInBounds()));
  if (!key.removed.empty())
    ops.push_back(builtin::Squeeze(key.removed));
  if (!key.added.empty())
    ops.push_back(builtin::ExpandDims(key.added));
  return ops;
}

llvm::Expected<TensorRef> viewBy(TensorImpl &tensor, llvm::ArrayRef<OpDef> ops) {
  if (!ops.empty())
    return applyAll(ops, TensorRef(&tensor));
  if (Tracer *tracer = activeTracer())
    tracer->noteUse(tensor);
  tensor.storage().noteView();
  return tensor.dup();
}

llvm::Expected<TensorRef> getItem(TensorImpl &tensor, Key &&key) {
  if (key.isMask() && (!key.masks[0].isKnown || !key.masks[0].array->rank()))
    return takeMasked(tensor, key.masks[0].array);
  ViewOps ops = viewOps(key);
  if (key.isBasic())
    return viewBy(tensor, ops);
  if (llvm::Error e = key.masksToIndices())
    return std::move(e);
  llvm::Expected<TensorRef> view = applyAll(ops, TensorRef(&tensor));
  return view ? takeIndices(*view, key) : std::move(view);
}

namespace {

/// The value with the rank of the region. What is written down does not read the region's sizes: its operator repeats
/// the value.
llvm::Expected<TensorRef> fullValue(TensorRef value, const Shape &region, bool isWrittenDown) {
  if (!isWrittenDown || value->rank() > region.size())
    return applyOne(builtin::BroadcastTo(region), {Operand(value)});
  IntList missing;
  for (unsigned axis = 0; axis < region.size() - value->rank(); ++axis)
    missing.push_back(axis);
  return withAxes<builtin::ExpandDims>(std::move(value), missing);
}

/// The value with the axes that ints removed put back, so that it broadcasts to the region.
llvm::Expected<TensorRef> shapedValue(TensorRef value, const TensorImpl &x, const Key &key) {
  Shape region;
  for (unsigned i = 0; i < x.rank(); ++i)
    if (!llvm::is_contained(key.removed, int64_t(i))) {
      int64_t step = key.steps[i], start = key.starts[i], stop = key.stops[i];
      if (step < 0 && stop < 0)
        stop = -1;
      int64_t span = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
      region.push_back(span <= 0 ? 0 : (span + size - 1) / size);
    }
  for (unsigned i = 0; i < key.added.size(); ++i)
    region.insert(region.begin() + key.added[i], 1);
  llvm::Expected<TensorRef> full = fullValue(std::move(value), region, key.isWrittenDown);
  if (!full)
    return full;
  full = withAxes<builtin::Squeeze>(std::move(*full), key.added);
  return full ? withAxes<builtin::ExpandDims>(std::move(*full), key.removed) : std::move(full);
}

llvm::Expected<TensorRef> setRegion(TensorImpl &x, TensorRef value, const Key &key) {
  llvm::Expected<TensorRef> shaped = shapedValue(std::move(value), x, key);
  if (!shaped)
    return shaped;
  builtin::Slice region(key.opStarts(), key.opStops(), key.steps, key.opInBounds());
  llvm::Expected<bool> done = updateRegion(x, region, **shaped, builtin::SliceSet::record());
  if (!done)
    return done.takeError();
  if (*done)
    return TensorRef(&x);
  builtin::SliceSet op(region.getStarts(), region.getStops(), region.getSteps(), region.getInBounds());
  return applyExpressions(op, {Operand(&x), Operand(*shaped)});
}

llvm::Expected<TensorRef> setIndices(TensorImpl &x, TensorRef value, const Key &key) {
  llvm::SmallVector<Operand, 4> operands = {Operand(&x), Operand(value)};
  IntList axes = indexAxes(key, operands);
  if (key.parting >= 0) {
    if (llvm::Error e = partedValue(value, x, key, axes).moveInto(value))
      return std::move(e);
    operands[1] = Operand(value);
  }
  return updated(x, builtin::IndexSet(axes), operands, {1, 1, unsigned(axes.size())});
}

/// Whether the value is the same for every element of a mask over the first `rank` axes of x; a size of 1 that data
/// decided may be another in a later run.
bool isOneForAll(const TensorImpl &value, const TensorImpl &x, unsigned rank) {
  unsigned rest = x.rank() - rank;
  return value.rank() <= rest || (value.rank() == rest + 1 && recordedShape(value)[0] == 1);
}

/// Computes where(mask, value, x); the mask gets trailing axes of size 1.
llvm::Expected<TensorRef> setMasked(TensorImpl &x, const TensorRef &value, const TensorRef &mask) {
  IntList row(recordedShape(x).drop_front(mask->rank())), added;
  for (unsigned axis = mask->rank(); axis < x.rank(); ++axis)
    added.push_back(axis);
  if (value->rank() > row.size() && mask->rank())
    row.insert(row.begin(), 1);
  llvm::Expected<TensorRef> full = applyExpressions(builtin::BroadcastTo(row), {Operand(value)});
  if (!full)
    return full;
  llvm::Expected<TensorRef> wide = added.empty() ? mask : applyOne(builtin::ExpandDims(added), {Operand(mask)});
  if (!wide)
    return wide;
  return updated(x, builtin::Where(), {Operand(*wide), Operand(*full), Operand(&x)});
}

/// x with the value in the place of what the key takes.
llvm::Expected<TensorRef> withItem(TensorImpl &x, Key &key, TensorRef value) {
  if (key.isBasic())
    return setRegion(x, std::move(value), key);
  unsigned maskRank = key.isMask() ? key.masks[0].array->rank() : 0;
  if (key.isMask() && (maskRank == 0 || isOneForAll(*value, x, maskRank)))
    return setMasked(x, value, key.masks[0].array);
  if (llvm::Error e = key.masksToIndices())
    return std::move(e);
  if (!key.isSliced && key.removed.empty() && key.added.empty())
    return setIndices(x, value, key);
  // The region of slices and ints is read, its elements are replaced, and it is written back as a whole.
  llvm::Expected<TensorRef> region = basicView(TensorRef(&x), key);
  if (region)
    region = setIndices(**region, value, key);
  return region ? setRegion(x, std::move(*region), key) : std::move(region);
}

} // namespace

llvm::Error setItem(TensorImpl &x, Key &&key, TensorRef value) {
  if (value->dtype() != x.dtype())
    if (llvm::Error e = applyOne(builtin::Cast(x.dtype()), {Operand(value)}).moveInto(value))
      return e;
  llvm::Expected<TensorRef> result = withItem(x, key, std::move(value));
  if (!result)
    return result.takeError();
  assign(x, **result);
  return llvm::Error::success();
}

} // namespace tess::eager
