//===- SubscriptItems.cpp - the items of x[key] ---------------------------===//
#include "frontends/python/src/SubscriptItems.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/GraphValue.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

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

llvm::Expected<KeyItem> arrayItem(PyObject *object) {
  llvm::Expected<TensorRef> array = arrayOf(object);
  if (!array)
    return array.takeError();
  if (DType dtype = (*array)->dtype(); !isBool(dtype) && !isInt(dtype))
    return badKey(object);
  return KeyItem::ofArray(std::move(*array), !isTensor(object), "getitem");
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

/// Whether tensors are among the parts of a slice.
bool holdsTensors(PyObject *item) {
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  return isTensor(slice->start) || isTensor(slice->stop) || isTensor(slice->step);
}

/// Whether the step is a negative number: a stop may be in front of the first element then, which no size says.
bool isBackwards(PyObject *step) {
  return PyIndex_Check(step) && PyNumber_AsSsize_t(plainIndex(step).ptr(), nullptr) < 0;
}

/// A slice of an axis of `size`, with what tensors say, while a recording runs; null and a Python error where one
/// cannot.
nb::object sliceOfSizes(PyObject *item, int64_t size) {
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  nb::object step = stepOf(slice->step), start, stop;
  auto end = [&](PyObject *bound) { return isBackwards(step.ptr()) ? sizesOf(bound) : boundOf(bound, size); };
  if (step)
    start = end(slice->start);
  if (start)
    stop = end(slice->stop);
  return stop ? nb::steal(PySlice_New(start.ptr(), stop.ptr(), step.ptr())) : nb::object();
}

llvm::Expected<KeyItem> intItem(PyObject *item) {
  nb::object number = nb::steal(PyNumber_Index(plainIndex(item).ptr()));
  if (!number)
    return takePythonError();
  int64_t index = PyLong_AsLongLong(number.ptr());
  if (index == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return badKey(item);
  }
  return KeyItem::integer(index, expressionOf(item).value_or(index));
}

/// As a user wrote the bounds: in a recording, an expression for a SymInt.
llvm::Expected<SliceBounds> boundsOf(PyObject *item, SliceBounds &numbers, bool isRecorded) {
  Py_ssize_t start, stop, step;
  nb::object plain = isRecorded ? plainSlice(item) : nb::borrow(item);
  if (!plain || PySlice_Unpack(plain.ptr(), &start, &stop, &step) < 0)
    return takePythonError();
  numbers = {start, stop, step};
  if (!isRecorded)
    return numbers;
  auto *slice = reinterpret_cast<PySliceObject *>(item);
  return SliceBounds{expressionOf(slice->start).value_or(start), expressionOf(slice->stop).value_or(stop), step};
}

llvm::Expected<KeyItem> sliceItem(PyObject *item, bool isRecorded) {
  SliceBounds numbers;
  llvm::Expected<SliceBounds> given = boundsOf(item, numbers, isRecorded);
  if (!given)
    return given.takeError();
  return KeyItem::slice(numbers, *given);
}

llvm::Expected<KeyItem> itemOf(PyObject *object, bool isRecorded) {
  if (object == Py_None)
    return KeyItem::newAxis();
  if (object == Py_Ellipsis)
    return KeyItem::ellipsis();
  if (PySlice_Check(object))
    return sliceItem(object, isRecorded);
  if (!PyBool_Check(object) && isIntItem(object))
    return intItem(object);
  if (isArrayItem(object))
    return arrayItem(object);
  return badKey(object);
}

/// The axis that item number `index` takes first; none where the tensor has none for it.
std::optional<unsigned> axisOf(llvm::ArrayRef<KeyItem> items, size_t index, unsigned rank) {
  auto axesOf = [](llvm::ArrayRef<KeyItem> some) {
    unsigned count = 0;
    for (const KeyItem &item : some)
      count += item.numAxes();
    return count;
  };
  auto isEllipsis = [](const KeyItem &item) { return item.kind == KeyItem::Kind::Ellipsis; };
  const unsigned behind = axesOf(items.drop_front(index)), before = axesOf(items.take_front(index));
  if (before + behind > rank)
    return std::nullopt;
  return llvm::any_of(items.take_front(index), isEllipsis) ? rank - behind : before;
}

/// Reads the slices among the items whose bounds are tensors: what these say depends on the axis.
llvm::Error readBounds(const TensorImpl &tensor, PyObject *objects, llvm::MutableArrayRef<KeyItem> items) {
  for (auto [index, item] : llvm::enumerate(items)) {
    PyObject *object = PyTuple_GET_ITEM(objects, index);
    std::optional<unsigned> axis;
    if (PySlice_Check(object) && holdsTensors(object))
      axis = axisOf(items, index, tensor.rank());
    if (!axis)
      continue;
    nb::object slice = sliceOfSizes(object, recordedShape(tensor)[*axis]);
    llvm::Expected<KeyItem> read = slice ? sliceItem(slice.ptr(), /*isRecorded=*/true) : takePythonError();
    if (!read)
      return read.takeError();
    item = std::move(*read);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Key> readKey(TensorImpl &tensor, PyObject *object) {
  nb::object objects = PyTuple_Check(object) ? nb::borrow(object) : nb::steal(PyTuple_Pack(1, object));
  llvm::SmallVector<KeyItem, 4> items;
  const bool isRecorded = isWrittenDown(tensor);
  bool hasTensorBounds = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects.ptr()); ++i) {
    PyObject *each = PyTuple_GET_ITEM(objects.ptr(), i);
    bool isBound = isRecorded && PySlice_Check(each) && holdsTensors(each);
    hasTensorBounds |= isBound;
    llvm::Expected<KeyItem> item = isBound ? KeyItem::slice({}, {}) : itemOf(each, isRecorded);
    if (!item)
      return item.takeError();
    items.push_back(std::move(*item));
  }
  if (hasTensorBounds)
    if (llvm::Error e = readBounds(tensor, objects.ptr(), items))
      return std::move(e);
  return eager::readKey(tensor, items, "getitem");
}

} // namespace tess::python
