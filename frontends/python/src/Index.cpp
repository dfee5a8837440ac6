//===- Index.cpp - x[key] and x[key] = value -----------------------------===//
//
// A key is read item by item into what the operators know: slices, axes to
// remove and to add, index arrays, masks. Basic keys give views.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/CallMemo.h"

#include "eager/Recording.h"
#include "ops/Builtin.h"
#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

/// What a key says about the axes of x, and the axes of the result.
struct Key {
  IntList starts, stops, steps; // per axis of x
  IntList removed;              // axes of x that an int took
  IntList added;                // axes of the result (before index arrays) that None made
  IntList addedAt;              // axes of x read before each of them
  /// Index arrays by axis of x; -1 until removed axes are counted.
  llvm::SmallVector<std::pair<int64_t, TensorRef>, 2> indices;
  TensorRef mask; // a boolean array over the leading axes
  bool isSliced = false;
};

struct Slice {
  int64_t start, stop, step;
};

llvm::Error badKey(PyObject *item) {
  return makeError(ErrorCode::OutOfRange,
                   "getitem: key must be made of ints, slices, None, ..., int or bool arrays, got " +
                       describeObject(item));
}

class KeyReader {
public:
  explicit KeyReader(TensorImpl &tensor) : tensor(tensor) {}
  llvm::Expected<Key> read(PyObject *key);

private:
  llvm::Error readItem(PyObject *item);
  llvm::Error readInt(PyObject *item);
  llvm::Error readSlice(PyObject *item);
  llvm::Error readArray(PyObject *item);
  llvm::Error readEllipsis();
  llvm::Error push(Slice slice, PyObject *item);
  llvm::Error intsToIndices();
  llvm::Error pushWhole(unsigned count);
  int64_t axesOf(PyObject *item) const;

  TensorImpl &tensor;
  Key key;
  int64_t rest = 0; // axes that the items after an ellipsis take
  int64_t resultAxes = 0;
};

bool isInt(PyObject *item) {
  if (isTensor(item))
    return tess::isInt(implOf(item).dtype()) && implOf(item).rank() == 0;
  return PyIndex_Check(item) && !PyBool_Check(item) && !PyObject_CheckBuffer(item);
}

/// A NumPy integer is an int, although it speaks the buffer protocol.
bool isNumPyInt(PyObject *item) {
  return !isTensor(item) && PyIndex_Check(item) && !PyBool_Check(item) && !PyObject_HasAttrString(item, "__len__");
}

/// Axes of x that one item takes.
int64_t KeyReader::axesOf(PyObject *item) const {
  if (item == Py_None || item == Py_Ellipsis)
    return 0;
  if (isTensor(item) && isBool(implOf(item).dtype()))
    return implOf(item).rank();
  if (PyObject_CheckBuffer(item) && PyObject_HasAttrString(item, "dtype")) {
    nb::handle array(item);
    if (nb::cast<std::string>(array.attr("dtype").attr("name")).starts_with("bool"))
      return nb::cast<int64_t>(array.attr("ndim"));
  }
  return 1;
}

llvm::Error KeyReader::push(Slice slice, PyObject *item) {
  if (key.starts.size() >= tensor.rank())
    return makeError(ErrorCode::OutOfRange, "getitem: key must take at most " + llvm::Twine(tensor.rank()) +
                                                " axes, got more for " + toString(tensor.meta()));
  int64_t size = tensor.shape()[key.starts.size()];
  key.isSliced |= slice.start != 0 || slice.stop != size || slice.step != 1;
  key.starts.push_back(slice.start);
  // A stop before the first element, which -1 would not say.
  key.stops.push_back(slice.step < 0 && slice.stop < 0 ? -size - 1 : slice.stop);
  key.steps.push_back(slice.step);
  return llvm::Error::success();
}

llvm::Error KeyReader::readInt(PyObject *item) {
  nb::object number = nb::steal(PyNumber_Index(item));
  if (!number)
    return takePythonError();
  int64_t index = PyLong_AsLongLong(number.ptr());
  if (index == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return badKey(item);
  }
  unsigned axis = key.starts.size();
  int64_t size = axis < tensor.rank() ? tensor.shape()[axis] : 0;
  if (axis < tensor.rank() && (index < -size || index >= size))
    return makeError(ErrorCode::OutOfRange, "getitem: index must be in [" + llvm::Twine(-size) + ", " +
                                                llvm::Twine(size - 1) + "] for axis " + llvm::Twine(axis) + ", got " +
                                                llvm::Twine(index) + " for " + toString(tensor.meta()));
  if (index < 0)
    index += size;
  key.removed.push_back(axis);
  return push({index, index + 1, 1}, item);
}

llvm::Error KeyReader::readSlice(PyObject *item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item, &start, &stop, &step) < 0)
    return takePythonError();
  unsigned axis = key.starts.size();
  int64_t size = axis < tensor.rank() ? tensor.shape()[axis] : 0;
  PySlice_AdjustIndices(size, &start, &stop, step);
  ++resultAxes;
  return push({start, stop, step}, item);
}

llvm::Error KeyReader::pushWhole(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    ++resultAxes;
    if (llvm::Error e = push({0, tensor.shape()[key.starts.size()], 1}, nullptr))
      return e;
  }
  return llvm::Error::success();
}

llvm::Error KeyReader::readEllipsis() {
  int64_t count = int64_t(tensor.rank()) - int64_t(key.starts.size()) - rest;
  return pushWhole(std::max<int64_t>(0, count));
}

llvm::Error KeyReader::readArray(PyObject *item) {
  TensorRef array;
  if (isTensor(item)) {
    array = TensorRef(&implOf(item));
  } else {
    llvm::Expected<TensorRef> made = tensorFromData(item, std::nullopt);
    if (!made)
      return made.takeError();
    array = std::move(*made);
  }
  if (isBool(array->dtype())) {
    if (key.mask || !key.indices.empty() || !key.starts.empty())
      return makeError(ErrorCode::Unimplemented,
                       "getitem: a mask must be the first and only array of a key, got one after other items");
    key.mask = array;
    return pushWhole(std::min<unsigned>(array->rank(), tensor.rank()));
  }
  if (!tess::isInt(array->dtype()))
    return badKey(item);
  if (byteWidth(array->dtype()) < 4) {
    llvm::Expected<TensorRef> wide = applyOne(builtin::Cast(DType::Int32), {Operand(array)});
    if (!wide)
      return wide.takeError();
    array = std::move(*wide);
  }
  key.indices.push_back({int64_t(key.starts.size()), array});
  return pushWhole(1);
}

llvm::Error KeyReader::readItem(PyObject *item) {
  if (item == Py_None) {
    key.added.push_back(resultAxes++);
    key.addedAt.push_back(key.starts.size());
    return llvm::Error::success();
  }
  if (item == Py_Ellipsis)
    return readEllipsis();
  if (PySlice_Check(item))
    return readSlice(item);
  if (PyBool_Check(item))
    return badKey(item);
  if (isTensor(item) && Recorder::current() && tess::isInt(implOf(item).dtype()))
    return readArray(item); // a rank 0 index too: its value is not known
  if (isInt(item) || isNumPyInt(item))
    return readInt(item);
  if (isTensor(item) || PyList_Check(item) || PyObject_CheckBuffer(item) || PyObject_HasAttrString(item, "__array__"))
    return readArray(item);
  return badKey(item);
}

/// Beside index arrays an int is one too (of rank 0): that decides where the axes of the indices stand.
llvm::Error KeyReader::intsToIndices() {
  for (int64_t axis : key.removed) {
    llvm::Expected<TensorRef> index = createScalar(Number::integer(key.starts[axis]), DType::Int32);
    if (!index)
      return index.takeError();
    key.indices.push_back({axis, std::move(*index)});
    key.starts[axis] = 0;
    key.stops[axis] = tensor.shape()[axis];
  }
  for (unsigned i = 0; i < key.added.size(); ++i)
    key.added[i] += llvm::count_if(key.removed, [&](int64_t axis) { return axis < key.addedAt[i]; });
  key.removed.clear();
  llvm::sort(key.indices, [](const auto &a, const auto &b) { return a.first < b.first; });
  key.isSliced = false;
  for (unsigned axis = 0; axis < tensor.rank(); ++axis)
    key.isSliced |= key.starts[axis] != 0 || key.stops[axis] != tensor.shape()[axis] || key.steps[axis] != 1;
  return llvm::Error::success();
}

llvm::Expected<Key> KeyReader::read(PyObject *object) {
  nb::object items = PyTuple_Check(object) ? nb::borrow(object) : nb::steal(PyTuple_Pack(1, object));
  Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
  bool seen = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(items.ptr(), i);
    if (item != Py_Ellipsis)
      continue;
    if (seen)
      return makeError(ErrorCode::OutOfRange, "getitem: key must have at most one ..., got two");
    seen = true;
    for (Py_ssize_t k = i + 1; k < count; ++k)
      rest += axesOf(PyTuple_GET_ITEM(items.ptr(), k));
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    if (llvm::Error e = readItem(PyTuple_GET_ITEM(items.ptr(), i)))
      return std::move(e);
  if (llvm::Error e = pushWhole(tensor.rank() - key.starts.size()))
    return std::move(e);
  if (!key.indices.empty() && !key.removed.empty())
    if (llvm::Error e = intsToIndices())
      return std::move(e);
  return std::move(key);
}

template <typename Op> llvm::Expected<TensorRef> withAxes(TensorRef x, const IntList &axes) {
  if (axes.empty())
    return x;
  return applyOne(Op(axes), {Operand(x)});
}

using ViewOps = llvm::SmallVector<OpDef, 1>;

/// The operators that make the view that the ints, slices and Nones of the key take.
ViewOps viewOps(const Key &key) {
  ViewOps ops;
  if (key.isSliced)
    ops.push_back(builtin::Slice(key.starts, key.stops, key.steps));
  if (!key.removed.empty())
    ops.push_back(builtin::Squeeze(key.removed));
  if (!key.added.empty())
    ops.push_back(builtin::ExpandDims(key.added));
  return ops;
}

llvm::Expected<TensorRef> applyAll(llvm::ArrayRef<OpDef> ops, TensorRef x) {
  for (const OpDef &op : ops) {
    llvm::Expected<TensorRef> next = applyOne(op, {Operand(x)});
    if (!next)
      return next;
    x = std::move(*next);
  }
  return x;
}

llvm::Expected<TensorRef> basicView(TensorRef x, const Key &key) { return applyAll(viewOps(key), std::move(x)); }

/// Axes of the index arrays once the removed axes are gone and the added ones are there.
IntList indexAxes(const Key &key) {
  IntList axes;
  for (const auto &[axis, array] : key.indices) {
    int64_t moved = axis;
    for (int64_t removed : key.removed)
      moved -= removed < axis;
    for (int64_t added : key.added)
      moved += added <= moved;
    axes.push_back(moved);
  }
  return axes;
}

llvm::Expected<TensorRef> takeIndices(TensorRef x, const Key &key) {
  llvm::SmallVector<Operand, 4> operands = {Operand(x)};
  for (const auto &[axis, array] : key.indices)
    operands.push_back(Operand(array));
  llvm::Expected<Tensors> results =
      apply(builtin::IndexGet(indexAxes(key)), operands, {1, unsigned(key.indices.size())});
  if (!results)
    return results.takeError();
  return std::move(results->front());
}

using KeyMemo = CallMemo<ViewOps>;

/// Never destroyed: its entries may outlive the interpreter.
KeyMemo &keyMemo() {
  static KeyMemo *instance = new KeyMemo;
  return *instance;
}

bool addItem(ArgumentKey &key, PyObject *item) {
  if (item == Py_Ellipsis) {
    key.addIdentity(item);
    return true;
  }
  if (!PySlice_Check(item))
    return (item == Py_None || PyLong_CheckExact(item)) && key.addValue(item);
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  key.addIdentity(reinterpret_cast<PyObject *>(&PySlice_Type));
  for (PyObject *bound : {slice->start, slice->stop, slice->step})
    if ((bound != Py_None && !PyLong_CheckExact(bound)) || !key.addValue(bound))
      return false;
  return true;
}

/// False for keys with arrays, or with objects that may answer differently next time.
bool wordsOf(ArgumentKey &key, const TensorImpl &tensor, PyObject *object) {
  key.addMeta(tensor);
  if (!PyTuple_CheckExact(object)) {
    key.add(1);
    return addItem(key, object);
  }
  key.add(PyTuple_GET_SIZE(object));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
    if (!addItem(key, PyTuple_GET_ITEM(object, i)))
      return false;
  return true;
}

/// A view; a key that takes everything gives another variable of the value.
llvm::Expected<TensorRef> viewBy(TensorImpl &tensor, llvm::ArrayRef<OpDef> ops) {
  if (!ops.empty())
    return applyAll(ops, TensorRef(&tensor));
  if (Recorder *recorder = Recorder::current())
    recorder->noteUse(tensor);
  tensor.storage().noteView();
  return tensor.dup();
}

llvm::Expected<TensorRef> getItem(TensorImpl &tensor, PyObject *object) {
  ArgumentKey words(&keyMemo());
  bool isBasic = wordsOf(words, tensor, object);
  if (isBasic)
    if (KeyMemo::EntryRef known = keyMemo().find(words))
      return viewBy(tensor, known->value);
  llvm::Expected<Key> key = KeyReader(tensor).read(object);
  if (!key)
    return key.takeError();
  if (key->mask)
    return applyOne(builtin::MaskGet(), {Operand(&tensor), Operand(key->mask)});
  ViewOps ops = viewOps(*key);
  if (isBasic)
    keyMemo().store(words, ops);
  if (key->indices.empty())
    return viewBy(tensor, ops);
  llvm::Expected<TensorRef> view = applyAll(ops, TensorRef(&tensor));
  return view ? takeIndices(std::move(*view), *key) : std::move(view);
}

} // namespace

PyObject *tensorGetItem(PyObject *self, PyObject *key) {
  llvm::Expected<TensorRef> result = getItem(implOf(self), key);
  return result ? wrap(std::move(*result)) : raise(result.takeError());
}

namespace {

/// Value with the axes that ints removed put back, so that it broadcasts to the region.
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
  llvm::Expected<TensorRef> full = applyOne(builtin::BroadcastTo(region), {Operand(value)});
  if (!full)
    return full;
  full = withAxes<builtin::Squeeze>(std::move(*full), key.added);
  return full ? withAxes<builtin::ExpandDims>(std::move(*full), key.removed) : std::move(full);
}

llvm::Expected<TensorRef> setRegion(TensorImpl &x, TensorRef value, const Key &key) {
  llvm::Expected<TensorRef> shaped = shapedValue(std::move(value), x, key);
  if (!shaped)
    return shaped;
  OpDef op = builtin::SliceSet(key.starts, key.stops, key.steps);
  llvm::Expected<bool> done = updateRegion(x, builtin::Slice(key.starts, key.stops, key.steps), **shaped, op);
  if (!done)
    return done.takeError();
  return *done ? TensorRef(&x) : applyOne(op, {Operand(&x), Operand(*shaped)});
}

llvm::Expected<TensorRef> setIndices(TensorImpl &x, TensorRef value, const Key &key) {
  llvm::SmallVector<Operand, 4> operands = {Operand(&x), Operand(value)};
  for (const auto &[axis, array] : key.indices)
    operands.push_back(Operand(array));
  llvm::Expected<Tensors> results =
      apply(builtin::IndexSet(indexAxes(key)), operands, {1, 1, unsigned(key.indices.size())});
  if (!results)
    return results.takeError();
  return std::move(results->front());
}

/// where(mask, value, x), the mask with trailing axes of size 1.
llvm::Expected<TensorRef> setMasked(TensorImpl &x, TensorRef value, TensorRef mask) {
  Shape shape(mask->shape());
  shape.resize(x.rank(), 1);
  llvm::Expected<TensorRef> wide = applyOne(builtin::Reshape(shape), {Operand(mask)});
  if (!wide)
    return wide;
  return applyOne(builtin::Where(), {Operand(*wide), Operand(value), Operand(&x)});
}

llvm::Expected<TensorRef> setItem(TensorImpl &x, PyObject *object, TensorRef value) {
  llvm::Expected<Key> key = KeyReader(x).read(object);
  if (!key)
    return key.takeError();
  if (key->mask)
    return setMasked(x, std::move(value), key->mask);
  if (key->indices.empty())
    return setRegion(x, std::move(value), *key);
  if (!key->isSliced && key->removed.empty() && key->added.empty())
    return setIndices(x, std::move(value), *key);
  // The region that slices and ints take, with its elements replaced, goes back whole.
  llvm::Expected<TensorRef> region = basicView(TensorRef(&x), *key);
  if (region)
    region = setIndices(**region, std::move(value), *key);
  return region ? setRegion(x, std::move(*region), *key) : std::move(region);
}

} // namespace

int tensorSetItem(PyObject *self, PyObject *key, PyObject *object) {
  if (!object) {
    PyErr_SetString(PyExc_TypeError, "delitem: elements of a tensor cannot be deleted");
    return -1;
  }
  TensorImpl &x = implOf(self);
  llvm::Expected<TensorRef> value = isTensor(object) ? TensorRef(&implOf(object)) : tensorFromData(object, x.dtype());
  if (value && (*value)->dtype() != x.dtype())
    value = applyOne(builtin::Cast(x.dtype()), {Operand(*value)});
  llvm::Expected<TensorRef> result = value ? setItem(x, key, *value) : value.takeError();
  llvm::Error error = result ? assign(x, **result) : result.takeError();
  if (!error)
    return 0;
  raise(std::move(error));
  return -1;
}

} // namespace tess::python
