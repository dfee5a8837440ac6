//===- SubscriptKey.cpp - what x[key] asks for ----------------------------===//
#include "frontends/python/src/SubscriptKey.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorType.h"

#include "eager/GraphValue.h"
#include "ops/Builtin.h"
#include "ops/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

/// A stop behind the last element, whatever the size.
constexpr int64_t kOpen = INT64_MAX;

struct Slice {
  int64_t start, stop, step;
};

/// One item of a key whose axis is not known yet.
struct Item {
  enum class Kind { NewAxis, Ellipsis, Slice, Int, Indices, Mask };
  Item(Kind kind, PyObject *object, unsigned numAxes, TensorRef array = TensorRef())
      : kind(kind), object(object), numAxes(numAxes), array(std::move(array)) {}

  Kind kind;
  PyObject *object;
  unsigned numAxes; // the axes of x that the item takes
  TensorRef array;  // for Indices and Mask
};

llvm::Error badKey(PyObject *item) {
  return makeError(ErrorCode::OutOfRange,
                   "getitem: key must be made of ints, slices, None, ..., int or bool arrays, got " +
                       describeObject(item));
}

/// Whether the item is a NumPy integer, which is an int although it has the buffer protocol.
bool isNumPyInt(PyObject *item) { return PyIndex_Check(item) && !PyObject_HasAttrString(item, "__len__"); }

/// Whether the item is an int. The value of a tensor of rank 0 is read, except in a trace or a network, where it is an
/// index array.
bool isIntItem(PyObject *item) {
  if (isTensor(item))
    return isInt(implOf(item).dtype()) && implOf(item).rank() == 0 && !isWrittenDown(implOf(item));
  return PyIndex_Check(item) && (!PyObject_CheckBuffer(item) || isNumPyInt(item));
}

/// Whether the item is a sequence of Python's, whose elements make an array.
bool isSequenceItem(PyObject *item) {
  return PyList_Check(item) || PyTuple_Check(item) || Py_IS_TYPE(item, &PyRange_Type);
}

bool isArrayItem(PyObject *item) {
  return isTensor(item) || PyBool_Check(item) || isSequenceItem(item) || PyObject_CheckBuffer(item) ||
         PyObject_HasAttrString(item, "__array__");
}

llvm::Expected<TensorRef> arrayOf(PyObject *item) {
  if (isTensor(item))
    return TensorRef(&implOf(item));
  llvm::Expected<TensorRef> array = tensorFromData(item, std::nullopt);
  if (array && isSequenceItem(item) && (*array)->numElements() == 0) // without elements it says no dtype
    return applyOne(builtin::Cast(DType::Int32), {Operand(*array)});
  return array;
}

llvm::Expected<Item> arrayItem(PyObject *object) {
  llvm::Expected<TensorRef> array = arrayOf(object);
  if (!array)
    return array.takeError();
  if (isBool((*array)->dtype()))
    return Item(Item::Kind::Mask, object, (*array)->rank(), *array);
  if (!isInt((*array)->dtype()))
    return badKey(object);
  if (DType given = (*array)->dtype(); byteWidth(given) < 4 || isUnsignedInt(given)) // kernels index by int32 and int64
    array = applyOne(builtin::Cast(byteWidth(given) < 4 ? DType::Int32 : DType::Int64), {Operand(*array)});
  if (!array)
    return array.takeError();
  return Item(Item::Kind::Indices, object, 1, std::move(*array));
}

llvm::Expected<Item> itemOf(PyObject *object) {
  if (object == Py_None)
    return Item(Item::Kind::NewAxis, object, 0);
  if (object == Py_Ellipsis)
    return Item(Item::Kind::Ellipsis, object, 0);
  if (PySlice_Check(object))
    return Item(Item::Kind::Slice, object, 1);
  if (!PyBool_Check(object) && isIntItem(object))
    return Item(Item::Kind::Int, object, 1);
  if (isArrayItem(object))
    return arrayItem(object);
  return badKey(object);
}

class KeyReader {
public:
  explicit KeyReader(TensorImpl &tensor) : tensor(tensor) { key.isWrittenDown = python::isWrittenDown(tensor); }
  llvm::Expected<Key> read(PyObject *key);

private:
  llvm::Error readItem(const Item &item);
  llvm::Error readInt(PyObject *item);
  llvm::Error readSlice(PyObject *item);
  bool fits(llvm::ArrayRef<int64_t> mask, unsigned axis, uint32_t freeAxes) const;
  llvm::Error readMask(const Item &item);
  void pushAdded();
  void push(Slice slice, Slice given);
  llvm::Error intsToIndices();
  void pushWhole(unsigned count);

  TensorImpl &tensor;
  Key key;
  unsigned omitted = 0;     // the axes that an ellipsis takes
  bool partsArrays = false; // it stands between index arrays
  bool isAlone = false;     // the key has one item
  int64_t resultAxes = 0;
};

void KeyReader::push(Slice slice, Slice given) {
  int64_t size = tensor.shape()[key.starts.size()];
  key.givenStarts.push_back(given.start);
  key.givenStops.push_back(given.stop);
  // A position before the first element, which -1 would not say: it means the last one.
  auto placed = [&](int64_t end) { return slice.step < 0 && end < 0 ? -size - 1 : end; };
  key.starts.push_back(placed(slice.start));
  key.stops.push_back(placed(slice.stop));
  key.steps.push_back(slice.step);
}

/// The same with an int for a SymInt, whose expression is kept besides.
nb::object plainIndex(PyObject *item) {
  return isSymInt(item) ? nb::steal(PyLong_FromLongLong(numberOf(item).i)) : nb::borrow(item);
}

nb::object plainSlice(PyObject *item) {
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  if (!isSymInt(slice->start) && !isSymInt(slice->stop) && !isSymInt(slice->step))
    return nb::borrow(item);
  nb::object start = plainIndex(slice->start), stop = plainIndex(slice->stop), step = plainIndex(slice->step);
  return nb::steal(PySlice_New(start.ptr(), stop.ptr(), step.ptr()));
}

/// The same with what tensors say as sizes, while a recording runs; null and a Python error where one cannot.
nb::object sliceOfSizes(PyObject *item) {
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  if (LLVM_LIKELY(!isTensor(slice->start) && !isTensor(slice->stop) && !isTensor(slice->step)))
    return nb::borrow(item);
  nb::object start = sizesOf(slice->start), stop = sizesOf(slice->stop), step = sizesOf(slice->step);
  return start && stop && step ? nb::steal(PySlice_New(start.ptr(), stop.ptr(), step.ptr())) : nb::object();
}

llvm::Error KeyReader::readInt(PyObject *item) {
  nb::object number = nb::steal(PyNumber_Index(plainIndex(item).ptr()));
  if (!number)
    return takePythonError();
  int64_t index = PyLong_AsLongLong(number.ptr());
  if (index == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return badKey(item);
  }
  unsigned axis = key.starts.size();
  int64_t size = tensor.shape()[axis];
  if ((index < -size || index >= size) && !isFreeSize(tensor, axis))
    return makeError(ErrorCode::OutOfRange, "getitem: index must be in [" + llvm::Twine(-size) + ", " +
                                                llvm::Twine(size - 1) + "] for axis " + llvm::Twine(axis) + ", got " +
                                                llvm::Twine(index) + " for " + toString(tensor.meta()));
  int64_t first = expressionOf(item).value_or(index);
  Slice given{first, first == -1 ? kOpen : sizes::add(first, 1), 1};
  if (index < 0)
    index += size;
  key.removed.push_back(axis);
  key.atInts.push_back(axis);
  push({index, index + 1, 1}, given);
  return llvm::Error::success();
}

/// As a user wrote the bounds: in a recording, an expression for a SymInt or a tensor of one.
llvm::Expected<Slice> boundsOf(PyObject *item, Slice &numbers, bool isRecorded) {
  Py_ssize_t start, stop, step;
  nb::object bounds = isRecorded ? sliceOfSizes(item) : nb::borrow(item);
  nb::object plain = isRecorded && bounds ? plainSlice(bounds.ptr()) : bounds;
  if (!plain || PySlice_Unpack(plain.ptr(), &start, &stop, &step) < 0)
    return takePythonError();
  numbers = {start, stop, step};
  if (!isRecorded)
    return numbers;
  auto *slice = reinterpret_cast<PySliceObject *>(bounds.ptr());
  return Slice{expressionOf(slice->start).value_or(start), expressionOf(slice->stop).value_or(stop), step};
}

llvm::Error KeyReader::readSlice(PyObject *item) {
  Slice numbers;
  llvm::Expected<Slice> given = boundsOf(item, numbers, key.isWrittenDown);
  if (!given)
    return given.takeError();
  Py_ssize_t start = numbers.start, stop = numbers.stop;
  PySlice_AdjustIndices(tensor.shape()[key.starts.size()], &start, &stop, numbers.step);
  ++resultAxes;
  push({start, stop, numbers.step}, *given);
  return llvm::Error::success();
}

void KeyReader::pushWhole(unsigned count) {
  for (unsigned i = 0; i < count; ++i, ++resultAxes)
    push({0, tensor.shape()[key.starts.size()], 1}, {0, kOpen, 1});
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

llvm::Error KeyReader::readMask(const Item &item) {
  if (item.numAxes == 0 && !(isAlone && isTensor(item.object))) {
    key.scalarMasks.push_back({int64_t(key.added.size()), item.array, !isTensor(item.object)});
    pushAdded();
    return llvm::Error::success();
  }
  unsigned axis = key.starts.size();
  if (!fits(item.array->meta().shape, axis, eager::graphFreeAxes(tensor) >> axis | eager::graphFreeAxes(*item.array)))
    return makeError(ErrorCode::OutOfRange, "getitem: a mask must have the sizes of the axes that it takes, got " +
                                                toString(item.array->meta()) + " at axis " + llvm::Twine(axis) +
                                                " of " + toString(tensor.meta()));
  key.masks.push_back({int64_t(axis), item.array, !isTensor(item.object)});
  pushWhole(item.array->rank());
  return llvm::Error::success();
}

llvm::Error KeyReader::readItem(const Item &item) {
  if (key.starts.size() + item.numAxes > tensor.rank())
    return makeError(ErrorCode::OutOfRange, "getitem: key must take at most " + llvm::Twine(tensor.rank()) +
                                                " axes, got more for " + toString(tensor.meta()));
  switch (item.kind) {
  case Item::Kind::NewAxis:
    pushAdded();
    return llvm::Error::success();
  case Item::Kind::Ellipsis:
    pushWhole(omitted);
    if (omitted == 0 && partsArrays) {
      key.parting = int(key.added.size());
      pushAdded();
    }
    return llvm::Error::success();
  case Item::Kind::Slice:
    return readSlice(item.object);
  case Item::Kind::Int:
    return readInt(item.object);
  case Item::Kind::Indices:
    key.indices.push_back({int64_t(key.starts.size()), item.array});
    pushWhole(1);
    return llvm::Error::success();
  case Item::Kind::Mask:
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
bool hasPartedArrays(llvm::ArrayRef<Item> items) {
  auto isArray = [](const Item &item) { return item.kind == Item::Kind::Indices || item.kind == Item::Kind::Mask; };
  auto isIndex = [&](const Item &item) { return item.kind == Item::Kind::Int || isArray(item); };
  const Item *dots = llvm::find_if(items, [](const Item &item) { return item.kind == Item::Kind::Ellipsis; });
  return dots != items.end() && llvm::any_of(items, isArray) &&
         llvm::any_of(llvm::make_range(items.begin(), dots), isIndex) &&
         llvm::any_of(llvm::make_range(dots, items.end()), isIndex);
}

llvm::Expected<Key> KeyReader::read(PyObject *object) {
  nb::object objects = PyTuple_Check(object) ? nb::borrow(object) : nb::steal(PyTuple_Pack(1, object));
  llvm::SmallVector<Item, 4> items;
  isAlone = PyTuple_GET_SIZE(objects.ptr()) == 1;
  unsigned numAxes = 0, numEllipses = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects.ptr()); ++i) {
    llvm::Expected<Item> item = itemOf(PyTuple_GET_ITEM(objects.ptr(), i));
    if (!item)
      return item.takeError();
    numAxes += item->numAxes;
    numEllipses += item->kind == Item::Kind::Ellipsis;
    items.push_back(std::move(*item));
  }
  if (numEllipses > 1)
    return makeError(ErrorCode::OutOfRange, "getitem: key must have at most one ..., got two");
  omitted = tensor.rank() - std::min<unsigned>(numAxes, tensor.rank());
  partsArrays = hasPartedArrays(items);
  for (const Item &item : items)
    if (llvm::Error e = readItem(item))
      return std::move(e);
  pushWhole(tensor.rank() - key.starts.size());
  if (!key.isBasic() && !key.removed.empty())
    if (llvm::Error e = intsToIndices())
      return std::move(e);
  key.findSliced();
  return std::move(key);
}

/// The positions of the mask's true elements, as one index array for each axis of the mask.
llvm::Expected<Tensors> positionsOf(const Key::Mask &mask) {
  Tensors columns;
  if (mask.isKnown) {
    nb::object array = nb::steal(toNumpy(*mask.array));
    nb::object parts = array ? nb::steal(PyObject_CallMethod(array.ptr(), "nonzero", nullptr)) : array;
    if (!parts)
      return takePythonError();
    for (nb::handle part : nb::borrow<nb::tuple>(parts)) {
      llvm::Expected<TensorRef> column = tensorFromData(part.ptr(), DType::Int32);
      if (!column)
        return column.takeError();
      columns.push_back(std::move(*column));
    }
    return std::move(columns);
  }
  llvm::Expected<TensorRef> rows = applyOne(builtin::NonZero(), {Operand(mask.array)});
  for (int64_t axis = 0; rows && axis < int64_t(mask.array->rank()); ++axis) {
    IntList starts = {0, axis}, stops = {kOpen, axis + 1}, steps = {1, 1};
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
    nb::object truth = nb::steal(toNumber(*mask.array));
    if (!truth)
      return takePythonError();
    int32_t index = 0;
    return createTensor(TensorMeta(DType::Int32, {truth.is(Py_True) ? 1 : 0}), &index);
  }
  llvm::Expected<TensorRef> row = applyOne(builtin::ExpandDims(IntList{0}), {Operand(mask.array)});
  llvm::Expected<Tensors> columns = row ? positionsOf({0, *row, false}) : row.takeError();
  if (!columns)
    return columns.takeError();
  return std::move(columns->front());
}

} // namespace

llvm::Expected<Key> readKey(TensorImpl &tensor, PyObject *key) { return KeyReader(tensor).read(key); }

const IntList &Key::opStarts() const { return isWrittenDown ? givenStarts : starts; }
const IntList &Key::opStops() const { return isWrittenDown ? givenStops : stops; }
IntList Key::opInBounds() const { return isWrittenDown ? atInts : IntList(); }

void Key::setWhole(unsigned axis, int64_t size) {
  starts[axis] = givenStarts[axis] = 0;
  stops[axis] = size;
  givenStops[axis] = kOpen;
}

void Key::findSliced() {
  for (auto [start, stop, step] : llvm::zip(givenStarts, givenStops, steps))
    isSliced |= start != 0 || stop != kOpen || step != 1;
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

} // namespace tess::python
