//===- SubscriptKey.cpp - what x[key] asks for ----------------------------===//
#include "eager/subscript/SubscriptKey.h"

#include "eager/stack/Apply.h"
#include "eager/stack/GraphValue.h"
#include "ops/table/Builtin.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

KeyItem KeyItem::integer(int64_t index, int64_t given) {
  return KeyItem(Kind::Int, {index, 0, 1}, {given, given == -1 ? kOpenStop : sizes::add(given, 1), 1});
}

KeyItem KeyItem::slice(SliceBounds bounds, SliceBounds given) {
  // The lowest int64, an open stop of a negative step, would say that the bound is unknown.
  auto known = [](int64_t bound) { return bound == kUnknown ? sizes::kSymbolicEnd : bound; };
  return KeyItem(Kind::Slice, bounds, {known(given.start), known(given.stop), given.step});
}

llvm::Expected<KeyItem> KeyItem::ofArray(TensorRef array, bool isKnown, llvm::StringRef user) {
  DType dtype = array->dtype();
  if (isBool(dtype))
    return KeyItem(Kind::Mask, std::move(array), isKnown);
  if (!isInt(dtype))
    return makeError(ErrorCode::OutOfRange,
                     user + ": arrays of a key must be of ints or bools, got " + toString(array->meta()));
  if (byteWidth(dtype) < 4 || isUnsignedInt(dtype)) { // kernels index by int32 and int64
    auto wide = applyOne(builtin::Cast(byteWidth(dtype) < 4 ? DType::Int32 : DType::Int64), {Operand(array)});
    if (!wide)
      return wide.takeError();
    array = std::move(*wide);
  }
  return KeyItem(Kind::Indices, std::move(array), isKnown);
}

namespace {

class KeyReader {
public:
  KeyReader(TensorImpl &tensor, llvm::StringRef user) : tensor(tensor), user(user) {
    key.isWrittenDown = isWrittenDown(tensor);
  }
  llvm::Expected<Key> read(llvm::ArrayRef<KeyItem> items);

private:
  llvm::Error readItem(const KeyItem &item);
  llvm::Error readInt(const KeyItem &item);
  void readSlice(const KeyItem &item);
  bool fits(llvm::ArrayRef<int64_t> mask, unsigned axis, uint32_t freeAxes) const;
  llvm::Error readMask(const KeyItem &item);
  void pushAdded();
  void push(SliceBounds slice, SliceBounds given);
  llvm::Error intsToIndices();
  void pushWhole(unsigned count);

  llvm::Error outOfRange(const llvm::Twine &what) const { return makeError(ErrorCode::OutOfRange, user + ": " + what); }

  TensorImpl &tensor;
  llvm::StringRef user;
  Key key;
  unsigned omitted = 0;     // the axes that an ellipsis takes
  bool partsArrays = false; // it stands between index arrays
  bool isAlone = false;     // the key has one item
  int64_t resultAxes = 0;
};

void KeyReader::push(SliceBounds slice, SliceBounds given) {
  int64_t size = tensor.shape()[key.starts.size()];
  key.givenStarts.push_back(given.start);
  key.givenStops.push_back(given.stop);
  // A position before the first element, which -1 would not say: it means the last one.
  auto placed = [&](int64_t end) { return slice.step < 0 && end < 0 ? -size - 1 : end; };
  key.starts.push_back(placed(slice.start));
  key.stops.push_back(placed(slice.stop));
  key.steps.push_back(slice.step);
}

llvm::Error KeyReader::readInt(const KeyItem &item) {
  unsigned axis = key.starts.size();
  int64_t size = tensor.shape()[axis], index = item.bounds.start;
  if ((index < -size || index >= size) && !(graphFreeAxes(tensor) >> axis & 1))
    return outOfRange("index must be in [" + llvm::Twine(-size) + ", " + llvm::Twine(size - 1) + "] for axis " +
                      llvm::Twine(axis) + ", got " + llvm::Twine(index) + " for " + toString(tensor.meta()));
  if (index < 0)
    index += size;
  key.removed.push_back(axis);
  key.atInts.push_back(axis);
  push({index, index + 1, 1}, item.given);
  return llvm::Error::success();
}

/// The bounds of a slice for an axis of this size, as Python's slice.indices() gives them.
SliceBounds limited(const SliceBounds &bounds, int64_t size) {
  const int64_t before = bounds.step < 0 ? -1 : 0, behind = bounds.step < 0 ? size - 1 : size;
  auto limit = [&](int64_t end) {
    return end < 0 ? std::max(end < -size ? before : end + size, before) : std::min(end, behind);
  };
  return {limit(bounds.start), limit(bounds.stop), bounds.step};
}

void KeyReader::readSlice(const KeyItem &item) {
  ++resultAxes;
  push(limited(item.bounds, tensor.shape()[key.starts.size()]), item.given);
}

void KeyReader::pushWhole(unsigned count) {
  for (unsigned i = 0; i < count; ++i, ++resultAxes)
    push({0, tensor.shape()[key.starts.size()], 1}, {});
}

/// An axis of size 1 of the result.
void KeyReader::pushAdded() {
  key.added.push_back(resultAxes++);
  key.addedAt.push_back(key.starts.size());
}

/// Whether a mask of this shape may take the axes from `axis` on. The size of a free one is found when a program binds.
bool KeyReader::fits(llvm::ArrayRef<int64_t> mask, unsigned axis, uint32_t freeAxes) const {
  llvm::ArrayRef<int64_t> taken = tensor.shape().drop_front(axis);
  if (mask.size() > taken.size())
    return false;
  for (auto [i, size] : llvm::enumerate(mask))
    if (size != taken[i] && !(freeAxes >> i & 1))
      return false;
  return true;
}

llvm::Error KeyReader::readMask(const KeyItem &item) {
  if (item.numAxes() == 0 && (!isAlone || item.isKnown)) {
    key.scalarMasks.push_back({int64_t(key.added.size()), item.array, item.isKnown});
    pushAdded();
    return llvm::Error::success();
  }
  unsigned axis = key.starts.size();
  if (!fits(item.array->meta().shape, axis, graphFreeAxes(tensor) >> axis | graphFreeAxes(*item.array)))
    return outOfRange("a mask must have the sizes of the axes that it takes, got " + toString(item.array->meta()) +
                      " at axis " + llvm::Twine(axis) + " of " + toString(tensor.meta()));
  key.masks.push_back({int64_t(axis), item.array, item.isKnown});
  pushWhole(item.array->rank());
  return llvm::Error::success();
}

llvm::Error KeyReader::readItem(const KeyItem &item) {
  if (key.starts.size() + item.numAxes() > tensor.rank())
    return outOfRange("key must take at most " + llvm::Twine(tensor.rank()) + " axes, got more for " +
                      toString(tensor.meta()));
  switch (item.kind) {
  case KeyItem::Kind::NewAxis:
    pushAdded();
    return llvm::Error::success();
  case KeyItem::Kind::Ellipsis:
    pushWhole(omitted);
    if (omitted == 0 && partsArrays) {
      key.parting = int(key.added.size());
      pushAdded();
    }
    return llvm::Error::success();
  case KeyItem::Kind::Slice:
    readSlice(item);
    return llvm::Error::success();
  case KeyItem::Kind::Int:
    return readInt(item);
  case KeyItem::Kind::Indices:
    key.indices.push_back({int64_t(key.starts.size()), item.array});
    pushWhole(1);
    return llvm::Error::success();
  case KeyItem::Kind::Mask:
    return readMask(item);
  }
  return llvm::Error::success();
}

/// Turns ints into index arrays of rank 0, which they are beside index arrays: this decides where the axes of the
/// indices are inserted. Where it is written down, they are 0 in what a slice takes: it serves other sizes, too.
llvm::Error KeyReader::intsToIndices() {
  for (int64_t axis : key.removed) {
    int64_t position = key.isWrittenDown ? 0 : key.starts[axis];
    llvm::Expected<TensorRef> index = createScalar(Number::integer(position), DType::Int32);
    if (!index)
      return index.takeError();
    key.indices.push_back({axis, std::move(*index)});
    if (!key.isWrittenDown)
      key.setWhole(axis, tensor.shape()[axis]);
  }
  for (unsigned i = 0; i < key.added.size(); ++i)
    key.added[i] += llvm::count_if(key.removed, [&](int64_t axis) { return axis < key.addedAt[i]; });
  key.removed.clear();
  llvm::sort(key.indices, [](const auto &a, const auto &b) { return a.first < b.first; });
  return llvm::Error::success();
}

/// Whether an ellipsis among the items has index arrays on both sides, as which ints count beside arrays.
bool hasPartedArrays(llvm::ArrayRef<KeyItem> items) {
  auto isArray = [](const KeyItem &item) {
    return item.kind == KeyItem::Kind::Indices || item.kind == KeyItem::Kind::Mask;
  };
  auto isIndex = [&](const KeyItem &item) { return item.kind == KeyItem::Kind::Int || isArray(item); };
  const KeyItem *dots = llvm::find_if(items, [](const KeyItem &item) { return item.kind == KeyItem::Kind::Ellipsis; });
  return dots != items.end() && llvm::any_of(items, isArray) &&
         llvm::any_of(llvm::make_range(items.begin(), dots), isIndex) &&
         llvm::any_of(llvm::make_range(dots, items.end()), isIndex);
}

llvm::Expected<Key> KeyReader::read(llvm::ArrayRef<KeyItem> items) {
  isAlone = items.size() == 1;
  unsigned numAxes = 0, numEllipses = 0;
  for (const KeyItem &item : items) {
    numAxes += item.numAxes();
    numEllipses += item.kind == KeyItem::Kind::Ellipsis;
  }
  if (numEllipses > 1)
    return outOfRange("key must have at most one ..., got two");
  omitted = tensor.rank() - std::min<unsigned>(numAxes, tensor.rank());
  partsArrays = hasPartedArrays(items);
  for (const KeyItem &item : items)
    if (llvm::Error e = readItem(item))
      return std::move(e);
  pushWhole(tensor.rank() - key.starts.size());
  if (!key.isBasic() && !key.removed.empty())
    if (llvm::Error e = intsToIndices())
      return std::move(e);
  key.findSliced();
  return std::move(key);
}

/// The positions of the true elements of a mask whose elements are at hand, as one index array for each axis.
llvm::Expected<Tensors> knownPositions(TensorImpl &mask) {
  std::vector<char> truths(mask.numElements());
  if (llvm::Error e = readValue(mask, truths.data()))
    return std::move(e);
  std::vector<std::vector<int32_t>> positions(mask.rank());
  for (auto [number, isTrue] : llvm::enumerate(truths)) {
    int64_t rest = isTrue ? int64_t(number) : -1;
    for (int axis = int(mask.rank()) - 1; axis >= 0 && rest >= 0; --axis) {
      positions[axis].push_back(int32_t(rest % mask.shape()[axis]));
      rest /= mask.shape()[axis];
    }
  }
  Tensors columns;
  for (const std::vector<int32_t> &each : positions) {
    auto column = createTensor(TensorMeta(DType::Int32, {int64_t(each.size())}), each.data());
    if (!column)
      return column.takeError();
    columns.push_back(std::move(*column));
  }
  return std::move(columns);
}

/// The positions of the mask's true elements, as one index array for each axis of the mask.
llvm::Expected<Tensors> positionsOf(const Key::Mask &mask) {
  if (mask.isKnown)
    return knownPositions(*mask.array);
  Tensors columns;
  llvm::Expected<TensorRef> rows = applyOne(builtin::NonZero(), {Operand(mask.array)});
  for (int64_t axis = 0; rows && axis < int64_t(mask.array->rank()); ++axis) {
    IntList starts = {0, axis}, stops = {kOpenStop, axis + 1}, steps = {1, 1};
    llvm::Expected<TensorRef> column = applyOne(builtin::Slice(starts, stops, steps), {Operand(*rows)});
    if (column)
      column = applyOne(builtin::Squeeze(IntList{1}), {Operand(*column)});
    if (!column)
      return column.takeError();
    columns.push_back(std::move(*column));
  }
  if (!rows)
    return rows.takeError();
  return std::move(columns);
}

/// Of a mask of rank 0: one index, 0, where it is true, else none.
llvm::Expected<TensorRef> positionOf(const Key::Mask &mask) {
  if (mask.isKnown) {
    char isTrue = 0;
    if (llvm::Error e = readValue(*mask.array, &isTrue))
      return std::move(e);
    int32_t index = 0;
    return createTensor(TensorMeta(DType::Int32, {isTrue ? 1 : 0}), &index);
  }
  llvm::Expected<TensorRef> row = applyOne(builtin::ExpandDims(IntList{0}), {Operand(mask.array)});
  llvm::Expected<Tensors> columns = row ? positionsOf({0, *row, false}) : row.takeError();
  if (!columns)
    return columns.takeError();
  return std::move(columns->front());
}

} // namespace

llvm::Expected<Key> readKey(TensorImpl &tensor, llvm::ArrayRef<KeyItem> items, llvm::StringRef user) {
  return KeyReader(tensor, user).read(items);
}

const IntList &Key::opStarts() const { return isWrittenDown ? givenStarts : starts; }
const IntList &Key::opStops() const { return isWrittenDown ? givenStops : stops; }
IntList Key::opInBounds() const { return isWrittenDown ? atInts : IntList(); }

void Key::setWhole(unsigned axis, int64_t size) {
  starts[axis] = givenStarts[axis] = 0;
  stops[axis] = size;
  givenStops[axis] = kOpenStop;
}

void Key::findSliced() {
  for (auto [start, stop, step] : llvm::zip(givenStarts, givenStops, steps))
    isSliced |= start != 0 || stop != kOpenStop || step != 1;
}

llvm::Error Key::masksToIndices() {
  for (const Mask &mask : masks) {
    llvm::Expected<Tensors> columns = positionsOf(mask);
    if (!columns)
      return columns.takeError();
    for (auto [i, column] : llvm::enumerate(*columns))
      indices.push_back({mask.axis + int64_t(i), column});
  }
  masks.clear();
  llvm::sort(indices, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const Mask &mask : scalarMasks) {
    llvm::Expected<TensorRef> position = positionOf(mask);
    if (!position)
      return position.takeError();
    scalarIndices.push_back({mask.axis, *position});
  }
  scalarMasks.clear();
  return llvm::Error::success();
}

} // namespace tess::eager
