//===- Subscript.cpp - x[key] and x[key] = value --------------------------===//
//
// The slots of the type, and the memo of basic keys: what a key means is in
// eager/subscript.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/CallMemo.h"
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/SubscriptItems.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorType.h"

#include "eager/stack/GraphValue.h"
#include "eager/subscript/Subscript.h"
#include "eager/tensor/Placement.h"

namespace tess::python {

using namespace eager;

namespace {

using KeyMemo = CallMemo<ViewOps>;

/// Never destroyed, because its entries may outlive the interpreter.
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

/// Makes the memo's key; false for keys with arrays, or with objects that may answer differently next time.
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

llvm::Expected<TensorRef> getItem(TensorImpl &tensor, PyObject *object) {
  ArgumentKey words(&keyMemo());
  // A memo holds for one size of the tensor, a recording for any, so recordings do not use it.
  bool isBasic = !isWrittenDown(tensor) && wordsOf(words, tensor, object);
  if (isBasic)
    if (KeyMemo::EntryRef known = keyMemo().find(words))
      return viewBy(tensor, known->value);
  OnDevice here(tensor.storage().device()); // what arrays of the key become
  llvm::Expected<Key> key = readKey(tensor, object);
  if (!key)
    return key.takeError();
  if (isBasic && key->isBasic()) {
    ViewOps ops = viewOps(*key);
    keyMemo().store(words, ops);
    return viewBy(tensor, ops);
  }
  return eager::getItem(tensor, std::move(*key));
}

} // namespace

PyObject *tensorGetItem(PyObject *self, PyObject *key) {
  if (CallWatch::listens())
    return CallWatch::callMethod(self, "__getitem__", {key});
  llvm::Expected<TensorRef> result = getItem(implOf(self), key);
  return result ? wrap(std::move(*result)) : raiseRefusal(result.takeError());
}

int tensorSetItem(PyObject *self, PyObject *key, PyObject *object) {
  if (CallWatch::listens() && object)
    return nb::steal(CallWatch::callMethod(self, "__setitem__", {key, object})) ? 0 : -1;
  if (!object) {
    PyErr_SetString(PyExc_TypeError, "delitem: elements of a tensor cannot be deleted");
    return -1;
  }
  TensorImpl &x = implOf(self);
  OnDevice here(x.storage().device()); // what the value and arrays of the key become
  llvm::Expected<TensorRef> value = isTensor(object) ? TensorRef(&implOf(object)) : tensorFromData(object, x.dtype());
  auto set = [&]() -> llvm::Error {
    if (!value)
      return value.takeError();
    llvm::Expected<Key> read = readKey(x, key);
    return read ? setItem(x, std::move(*read), std::move(*value)) : read.takeError();
  };
  if (llvm::Error error = set()) {
    raiseRefusal(std::move(error));
    return -1;
  }
  return 0;
}

} // namespace tess::python
