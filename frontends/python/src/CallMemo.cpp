//===- CallMemo.cpp - what arguments meant last time ---------------------===//
#include "frontends/python/src/CallMemo.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/NumpyConversion.h"

#include "ops/vocabulary/Hash.h"

namespace tess::python {

namespace {

/// The meaning of the next word or words of a key.
enum Mark : int64_t { None, Int, True, False, Float, Identity, Ints, Meta };

/// Whether the object is of a type whose objects never change.
bool isConstant(PyObject *object) {
  static PyTypeObject *const dtypeBase = Py_TYPE(numpyDType(DType::Float32))->tp_base;
  return PyUnicode_CheckExact(object) || PyType_Check(object) || PyType_IsSubtype(Py_TYPE(object), dtypeBase);
}

} // namespace

void ArgumentKey::addIdentity(PyObject *object) {
  words.push_back(Identity);
  words.push_back(int64_t(object));
  identities.push_back(object);
}

bool ArgumentKey::addLong(PyObject *value) {
  int overflow = 0;
  words.push_back(PyLong_AsLongLongAndOverflow(value, &overflow));
  return !overflow;
}

bool ArgumentKey::addValue(PyObject *value) {
  if (PyLong_CheckExact(value)) {
    words.push_back(Int);
    return addLong(value);
  }
  if (value == Py_None || value == Py_True || value == Py_False) {
    words.push_back(value == Py_None ? None : value == Py_True ? True : False);
    return true;
  }
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    words.push_back(Ints);
    words.push_back(count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(value, i);
      if (!PyLong_CheckExact(item) || !addLong(item))
        return false;
    }
    return true;
  }
  if (PyFloat_CheckExact(value)) {
    words.push_back(Float);
    words.push_back(__builtin_bit_cast(int64_t, PyFloat_AS_DOUBLE(value)));
    return true;
  }
  if (!isConstant(value))
    return false;
  addIdentity(value);
  return true;
}

void ArgumentKey::addMeta(const eager::TensorImpl &tensor) {
  words.push_back(Meta);
  words.push_back(int64_t(tensor.dtype()) << 8 | tensor.rank());
  words.append(tensor.shape().begin(), tensor.shape().end());
}

uint64_t ArgumentKey::hash() const {
  uint64_t even = words.size(), odd = 0; // two chains, each of which waits for its own last product alone
  size_t i = 0;
  for (; i + 1 < words.size(); i += 2) {
    even = mixHash(even, uint64_t(words[i]));
    odd = mixHash(odd, uint64_t(words[i + 1]));
  }
  return mixHash(i < words.size() ? mixHash(even, uint64_t(words[i])) : even, odd);
}

} // namespace tess::python
