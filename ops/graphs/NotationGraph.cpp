//===- NotationGraph.cpp - results in index notation as operators --------===//
#include "ops/graphs/NotationGraph.h"

#include "ops/graphs/GraphPieces.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess {

using namespace pieces;
using Value = NotationGraph::Value;

NotationGraph::NotationGraph(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> operands)
    : b(b), op(op), operands(operands) {
  llvm::SmallVector<TensorMeta, 4> metas = llvm::map_to_vector<4>(operands, [&](int id) { return b.meta(id); });
  llvm::Expected<BoundNotation> found = BoundNotation::of(op, metas);
  if (!found) {
    b.fail(found.takeError());
    return;
  }
  bound = std::move(*found);
  auto add = [&](llvm::ArrayRef<NotationAxis> axes) {
    for (const NotationAxis &axis : axes)
      for (NotationDim dim : axis.dims)
        if ((!axis.place || axis.place->index < 0) && !llvm::is_contained(order, dim))
          order.push_back(dim);
  };
  add(bound->resultAxes());
  for (size_t read = 0; read < op.info().notation->reads.size(); ++read)
    add(bound->axesOf(read));
}

/// The place of a dimension among all: those of the result first, in its order.
int NotationGraph::orderOf(NotationDim dim) const { return int(llvm::find(order, dim) - order.begin()); }

Value NotationGraph::read(unsigned number) {
  const NotationAccess &access = op.info().notation->reads[number];
  Value value;
  value.isGiven = access.value < operands.size();
  if (!bound || !value.isGiven)
    return value;
  value.id = operands[access.value];
  llvm::ArrayRef<NotationAxis> axes = bound->axesOf(number);
  for (unsigned axis = axes.size(); axis-- > 0;)
    value = split(std::move(value), axis, axes[axis]);
  auto isComputed = [](const NotationAxis &axis) { return axis.place->index >= 0; };
  return llvm::any_of(axes, isComputed) ? taken(std::move(value), axes) : value;
}

/// The elements of `value` at the indices by which some of its axes are read. Such an axis stands for one of its
/// indices' that `value` does not have, or before all others.
Value NotationGraph::taken(Value value, llvm::ArrayRef<NotationAxis> axes) {
  llvm::SmallVector<NotationDim, 8> dims, computed; // of the result, in order; the axes that indices count along
  llvm::SmallVector<Value, 2> indices;
  for (const NotationAxis &axis : axes)
    if (axis.place->index >= 0) {
      computed.push_back(axis.dims[0]);
      indices.push_back(read(unsigned(axis.place->index)));
    }
  for (NotationDim dim : order)
    if (value.has(dim) || llvm::any_of(indices, [&](const Value &index) { return index.has(dim); }))
      dims.push_back(dim);
  auto spots = dims;
  llvm::erase_if(spots, [&](NotationDim dim) { return value.has(dim); });
  size_t added = computed.size() - std::min(computed.size(), spots.size());
  auto orderIn = [&](NotationDim dim) { // among the axes of the result, the added ones first
    auto *own = llvm::find(computed, dim);
    if (own == computed.end())
      return int64_t(added) + (llvm::find(dims, dim) - dims.begin());
    size_t number = size_t(own - computed.begin());
    return number < added ? int64_t(number) : int64_t(added) + (llvm::find(dims, spots[number - added]) - dims.begin());
  };
  IntList pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, value.axes.size())), missing, along;
  llvm::sort(pattern, [&](int64_t x, int64_t y) { return orderIn(value.axes[x].dim) < orderIn(value.axes[y].dim); });
  if (!llvm::is_sorted(pattern))
    value.id = pieces::call(b, "transpose", {value.id}, {{"pattern", pattern}});
  for (int64_t place = 0; place < int64_t(added + dims.size()); ++place)
    if (llvm::none_of(value.axes, [&](const Value::Axis &axis) { return orderIn(axis.dim) == place; }))
      missing.push_back(place);
  if (!missing.empty())
    value.id = pieces::call(b, "expand_dims", {value.id}, {{"axis", missing}});
  llvm::SmallVector<int, 3> ids = {value.id};
  for (auto [index, dim] : llvm::zip_equal(indices, computed)) {
    sortAxes(index);
    ids.push_back(spread(index, dims));
    along.push_back(orderIn(dim));
  }
  value.id = pieces::call(b, "take_along_axes", ids, {{"axes", along}, {"caller", op.info().name}});
  if (added) {
    IntList before = llvm::to_vector<4>(llvm::seq<int64_t>(0, added));
    value.id = pieces::call(b, "squeeze", {value.id}, {{"axis", before}});
  }
  value.axes = llvm::map_to_vector<8>(dims, [](NotationDim dim) { return Value::Axis{dim}; });
  return value;
}

/// The part of an axis that a place means. An axis of unknown size becomes two, of which the first one counts parts.
int NotationGraph::partOf(int value, unsigned axis, const NotationPlace &place) {
  IntList shape = shapeOf(b, value);
  int64_t length = sizes::floorDivide(shape[axis], place.parts);
  if (shape[axis] != kUnknown) {
    int64_t stop = place.part + 1 == place.parts ? INT64_MAX : sizes::multiply(length, place.part + 1);
    return sliceOf(b, value, axis, sizes::multiply(length, place.part), stop);
  }
  if (llvm::count(shape, kUnknown) > 1)
    b.fail(invalidArgument(op.name() + ": sizes of all axes but one must be known, got " + toString(b.meta(value))));
  shape[axis] = -1;
  shape.insert(shape.begin() + axis, place.parts);
  int parts = pieces::call(b, "reshape", {value}, {{"shape", shape}});
  return pieces::call(b, "squeeze", {sliceOf(b, parts, axis, place.part, place.part + 1)}, {{"axis", IntList{axis}}});
}

/// Takes axis `axis` for its dimensions; those behind it are taken already.
Value NotationGraph::split(Value value, unsigned axis, const NotationAxis &as) {
  if (as.place->parts > 1)
    value.id = partOf(value.id, axis, *as.place);
  for (size_t inner = 1; inner < as.dims.size(); ++inner) {
    int64_t rest = 1;
    for (NotationDim dim : llvm::ArrayRef(as.dims).drop_front(inner))
      rest = sizes::multiply(rest, bound->sizeOf(dim));
    value.id = splitAxis(b, op, value.id, axis + inner - 1, bound->sizeOf(as.dims[inner - 1]), rest);
  }
  llvm::SmallVector<Value::Axis, 3> axes =
      llvm::map_to_vector<3>(as.dims, [](NotationDim dim) { return Value::Axis{dim}; });
  value.axes.insert(value.axes.begin(), axes.begin(), axes.end());
  return value;
}

/// A number or an index as a value of the dtype of `like`.
Value NotationGraph::settled(const Value &value, const Value &like) {
  Value made;
  if (value.number)
    made.id = constantLike(b, *value.number, like.id);
  if (value.index) {
    NotationDim dim{*value.index, 0};
    if (!llvm::is_contained(order, dim)) { // of size 1, which the result has without a dimension
      made.id = constantLike(b, 0, like.id);
      return made;
    }
    made.id = pieces::call(b, "arange", {}, {{"num", bound->sizeOf(dim)}, {"dtype", b.meta(like.id).dtype}});
    made.axes = {{dim}};
  }
  return made;
}

/// Brings the axes into the order of all dimensions.
void NotationGraph::sortAxes(Value &value) {
  IntList pattern = llvm::to_vector<4>(llvm::seq<int64_t>(0, value.axes.size()));
  llvm::sort(pattern, [&](int64_t x, int64_t y) { return orderOf(value.axes[x].dim) < orderOf(value.axes[y].dim); });
  if (llvm::is_sorted(pattern))
    return;
  value.axes = llvm::map_to_vector<8>(pattern, [&](int64_t axis) { return value.axes[axis]; });
  value.id = pieces::call(b, "transpose", {value.id}, {{"pattern", pattern}});
}

/// The value, whose axes are in order, with an axis of size 1 for each of `dims` that it lacks, but for leading ones.
int NotationGraph::spread(Value value, llvm::ArrayRef<NotationDim> dims) {
  auto has = [&](NotationDim dim) { return value.has(dim); };
  IntList added;
  llvm::ArrayRef<NotationDim> behind = dims.drop_until(has);
  for (auto [axis, dim] : llvm::enumerate(behind))
    if (!has(dim))
      added.push_back(int64_t(axis));
  return added.empty() ? value.id : pieces::call(b, "expand_dims", {value.id}, {{"axis", added}});
}

Value NotationGraph::call(const char *name, llvm::ArrayRef<Value> given) {
  if (!bound)
    return {};
  if (given.size() == 2 && !given[1].isGiven)
    return given[0];
  const Value *like = llvm::find_if(given, [](const Value &value) { return !value.number && !value.index; });
  llvm::SmallVector<Value, 3> values;
  Value made;
  for (const Value &value : given) {
    values.push_back(value.number || value.index ? settled(value, *like) : value);
    sortAxes(values.back());
    for (const Value::Axis &axis : values.back().axes) {
      auto *known = llvm::find_if(made.axes, [&](const Value::Axis &own) { return own.dim == axis.dim; });
      if (known == made.axes.end())
        made.axes.push_back(axis);
      else
        known->isReduced &= axis.isReduced;
    }
  }
  llvm::sort(made.axes, [&](const Value::Axis &x, const Value::Axis &y) { return orderOf(x.dim) < orderOf(y.dim); });
  auto dims = llvm::map_to_vector<8>(made.axes, [](const Value::Axis &axis) { return axis.dim; });
  auto ids = llvm::map_to_vector<3>(values, [&](const Value &value) { return spread(value, dims); });
  made.id = pieces::call(b, name, ids);
  return made;
}

Value NotationGraph::reduce(const char *name, llvm::ArrayRef<uint8_t> symbols, Value value) {
  IntList axes;
  for (auto [number, axis] : llvm::enumerate(value.axes))
    if (llvm::is_contained(symbols, axis.dim.symbol)) {
      axes.push_back(int64_t(number));
      axis.isReduced = true;
    }
  if (!axes.empty())
    value.id = pieces::call(b, name, {value.id}, {{"axes", axes}, {"keepdims", true}});
  return value;
}

/// Takes away the axes that are left of reduced dimensions.
void NotationGraph::dropReduced(Value &value) {
  IntList reduced;
  for (auto [number, axis] : llvm::enumerate(value.axes))
    if (axis.isReduced)
      reduced.push_back(int64_t(number));
  if (!reduced.empty())
    value.id = pieces::call(b, "squeeze", {value.id}, {{"axis", reduced}});
  llvm::erase_if(value.axes, [](const Value::Axis &axis) { return axis.isReduced; });
}

int NotationGraph::result(Value value) {
  if (!bound)
    return -1;
  dropReduced(value);
  sortAxes(value);
  auto present = llvm::map_to_vector<8>(value.axes, [](const Value::Axis &axis) { return axis.dim; });
  for (auto [number, axis] : llvm::enumerate(bound->resultAxes()))
    value.id = join(value.id, unsigned(number), axis, present);
  return value.id;
}

/// Dimensions that the result has not stand in their order at the last axes that indices count along, and those for
/// which there is none before all axes.
NotationGraph::Slots NotationGraph::slotsFor(llvm::ArrayRef<int64_t> counted, llvm::ArrayRef<Value> values) const {
  Slots slots;
  llvm::SmallVector<unsigned, 3> spots;
  for (auto [number, axis] : llvm::enumerate(bound->resultAxes())) {
    bool isCounted = llvm::is_contained(counted, int64_t(number));
    if (isCounted)
      spots.push_back(unsigned(number));
    slots.push_back(isCounted || axis.dims.empty() ? std::nullopt : std::optional(axis.dims[0]));
  }
  llvm::SmallVector<NotationDim, 4> own;
  for (NotationDim dim : order)
    if (!llvm::is_contained(slots, dim) && llvm::any_of(values, [&](const Value &value) { return value.has(dim); }))
      own.push_back(dim);
  size_t added = own.size() - std::min(own.size(), spots.size());
  for (auto [spot, dim] : llvm::zip(llvm::reverse(spots), llvm::reverse(own)))
    slots[spot] = dim;
  slots.insert(slots.begin(), own.begin(), own.begin() + added);
  return slots;
}

/// The value with an axis for each slot, of size 1 where it has none or, with `isWhole`, where none is.
int NotationGraph::slotted(const Value &value, const Slots &slots, bool isWhole) {
  IntList places, shape;
  for (const Value::Axis &axis : value.axes)
    places.push_back(llvm::find(slots, axis.dim) - slots.begin());
  int id = arranged(b, value.id, places, int64_t(slots.size()));
  for (const std::optional<NotationDim> &dim : slots)
    shape.push_back(dim ? bound->sizeOf(*dim) : 1);
  bool isLacking = llvm::any_of(slots, [&](auto dim) { return dim && !value.has(*dim); });
  return isWhole && isLacking ? pieces::call(b, "broadcast_to", {id}, {{"shape", shape}}) : id;
}

int NotationGraph::write(const char *name, int into, llvm::ArrayRef<Position> positions, Value value) {
  if (!bound || into < 0)
    return -1; // the builder has an error
  dropReduced(value);
  llvm::SmallVector<Value, 3> values = {std::move(value)};
  IntList counted;
  for (auto [place, number] : positions) {
    const NotationPlace *of = &op.info().notation->result.places[place];
    auto *axis = llvm::find_if(bound->resultAxes(), [&](const NotationAxis &each) { return each.place == of; });
    counted.push_back(axis - bound->resultAxes().begin());
    values.push_back(read(number));
  }
  Slots slots = slotsFor(counted, values);
  const int64_t added = int64_t(slots.size() - bound->resultAxes().size());
  const IntList front = llvm::to_vector<4>(llvm::seq(int64_t(0), added));
  llvm::SmallVector<int, 4> ids = {added ? pieces::call(b, "expand_dims", {into}, {{"axis", front}}) : into};
  for (const Value &each : values)
    ids.push_back(slotted(each, slots, /*isWhole=*/&each == values.begin()));
  for (int64_t &axis : counted)
    axis += added;
  int out = pieces::callWrite(b, name, ids, {{"axes", counted}, {"caller", op.info().name}});
  return added ? pieces::call(b, "squeeze", {out}, {{"axis", front}}) : out;
}

/// Makes the dimensions of one axis, those of the result before it being one axis each, into that axis; it repeats
/// along the ones that the value lacks.
int NotationGraph::join(int value, unsigned axis, const NotationAxis &as, llvm::ArrayRef<NotationDim> present) {
  if (value < 0)
    return -1; // the builder has an error
  IntList added, shape(b.meta(value).rank(), -1);
  for (auto [number, dim] : llvm::enumerate(as.dims))
    if (!llvm::is_contained(present, dim)) {
      added.push_back(int64_t(axis + number));
      shape.insert(shape.begin() + axis + number, bound->sizeOf(dim));
    }
  if (as.dims.empty())
    return pieces::call(b, "expand_dims", {value}, {{"axis", IntList{axis}}});
  if (!added.empty()) {
    value = pieces::call(b, "expand_dims", {value}, {{"axis", added}});
    value = pieces::call(b, "broadcast_to", {value}, {{"shape", shape}});
  }
  if (as.dims.size() == 1)
    return value;
  return pieces::call(b, "flatten", {value},
                      {{"start_axis", int64_t(axis)}, {"end_axis", int64_t(axis + as.dims.size() - 1)}});
}

int NotationGraph::result(Value value, int like) {
  return castTo(b, result(std::move(value)), b.meta(operands[like]).dtype);
}

} // namespace tess
