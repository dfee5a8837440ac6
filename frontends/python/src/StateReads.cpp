//===- StateReads.cpp - comparison of Python's state with a recording's --===//
#include "frontends/python/src/StateReads.h"

#include "llvm/ADT/MapVector.h"

namespace tess::python {

PyObject *noValue = nullptr;

void initStateReads() {
  noValue = nb::steal(PyObject_CallNoArgs(reinterpret_cast<PyObject *>(&PyBaseObject_Type))).release().ptr();
}

static bool isSameNumber(double a, double b) {
  return __builtin_bit_cast(int64_t, a) == __builtin_bit_cast(int64_t, b) || (a != a && b != b);
}

static bool areSame(PyObject *const *a, PyObject *const *b, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i)
    if (a[i] != b[i] && !isSameValue(a[i], b[i]))
      return false;
  return true;
}

static bool isSameSequence(PyObject *a, PyObject *b) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(a);
  return count == PySequence_Fast_GET_SIZE(b) && areSame(PySequence_Fast_ITEMS(a), PySequence_Fast_ITEMS(b), count);
}

static bool areEqual(PyObject *a, PyObject *b) {
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0)
    PyErr_Clear();
  return equal > 0;
}

bool isSameValue(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (Py_TYPE(a) != Py_TYPE(b))
    return false;
  if (PyFloat_Check(a))
    return isSameNumber(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
  if (PyComplex_CheckExact(a)) {
    Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return isSameNumber(x.real, y.real) && isSameNumber(x.imag, y.imag);
  }
  if (PyTuple_Check(a))
    return isSameSequence(a, b);
  if (PyMethod_Check(a))
    return PyMethod_GET_SELF(a) == PyMethod_GET_SELF(b) && PyMethod_GET_FUNCTION(a) == PyMethod_GET_FUNCTION(b);
  return (PyLong_Check(a) || PyUnicode_CheckExact(a) || PyBytes_CheckExact(a) || PyFrozenSet_CheckExact(a)) &&
         areEqual(a, b);
}

PyObject *attributesOf(PyObject *object) {
  PyObject **place = _PyObject_GetDictPtr(object);
  PyErr_Clear();
  return place ? *place : nullptr;
}

/// The dict's value under the key, not owned; noValue: none.
static PyObject *itemOf(PyObject *dict, PyObject *key) {
  PyObject *value = PyDict_GetItemWithError(dict, key);
  if (!value)
    PyErr_Clear();
  return value ? value : noValue;
}

static PyObject *classAttribute(PyObject *type, PyObject *name) {
  PyObject *found = _PyType_Lookup(reinterpret_cast<PyTypeObject *>(type), name); // not owned
  return found ? found : noValue;
}

static PyObject *ownAttribute(PyObject *object, PyObject *name) {
  PyObject *attributes = attributesOf(object);
  return attributes ? itemOf(attributes, name) : noValue;
}

static nb::tuple itemsOf(PyObject *dict) {
  nb::list parts;
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &key, &value);) {
    parts.append(nb::borrow(key));
    parts.append(nb::borrow(value));
  }
  return nb::tuple(parts);
}

static nb::object wholeOf(PyObject *container) {
  if (PyList_Check(container))
    return nb::steal(PyList_AsTuple(container));
  if (PyDict_Check(container))
    return itemsOf(container);
  return nb::steal(PyFrozenSet_New(container));
}

static nb::object functionParts(PyObject *object) {
  auto *function = reinterpret_cast<PyFunctionObject *>(object);
  auto orNone = [](PyObject *part) { return nb::borrow(part ? part : Py_None); };
  return nb::make_tuple(nb::borrow(function->func_code), orNone(function->func_defaults),
                        orNone(function->func_kwdefaults));
}

/// The number as an object, or null and a Python error when it is negative.
static PyObject *numberOr(Py_ssize_t number, bool asBool) {
  if (number < 0)
    return nullptr;
  return asBool ? PyBool_FromLong(number != 0) : PyLong_FromSsize_t(number);
}

nb::object valueOf(ReadKind kind, PyObject *owner, PyObject *key) {
  PyObject *value = nullptr;
  switch (kind) {
  case ReadKind::Item:
    return nb::borrow(itemOf(owner, key));
  case ReadKind::Attribute:
    return nb::borrow(ownAttribute(owner, key));
  case ReadKind::ClassAttribute:
    return nb::borrow(classAttribute(owner, key));
  case ReadKind::Cell:
    value = PyCell_GET(owner);
    return nb::borrow(value ? value : noValue);
  case ReadKind::Function:
    return functionParts(owner);
  case ReadKind::Whole:
    return wholeOf(owner);
  case ReadKind::Getter:
    value = PyObject_GetAttr(owner, key);
    break;
  case ReadKind::Subscript:
    value = PyObject_GetItem(owner, key);
    break;
  case ReadKind::Length:
    value = numberOr(PyObject_Size(owner), false);
    break;
  case ReadKind::Truth:
    value = numberOr(PyObject_IsTrue(owner), true);
    break;
  case ReadKind::Contains:
    value = numberOr(PySequence_Contains(owner, key), true);
    break;
  case ReadKind::ContextVariable:
    if (PyContextVar_Get(owner, noValue, &value) < 0)
      value = nullptr;
    break;
  case ReadKind::Frozen:
    value = PyObject_CallOneArg(key, owner);
    break;
  case ReadKind::Items:
  case ReadKind::Attributes:
    break;
  }
  if (!value)
    PyErr_Clear();
  return value ? nb::steal(value) : nb::borrow(noValue);
}

nb::tuple readOf(ReadKind kind, PyObject *owner, PyObject *key) {
  nb::object how = nb::none();
  if (kind == ReadKind::Attribute) {
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(owner));
    how = nb::make_tuple(nb::borrow(type), nb::borrow(classAttribute(type, key)));
  }
  return nb::make_tuple(long(kind), nb::borrow(owner), nb::borrow(key), valueOf(kind, owner, key), how);
}

static bool holdsItems(PyObject *dict, PyObject *names, PyObject *values) {
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(names); i < e; ++i) {
    PyObject *value = itemOf(dict, PyTuple_GET_ITEM(names, i)), *known = PyTuple_GET_ITEM(values, i);
    if (value != known && !isSameValue(value, known))
      return false;
  }
  return true;
}

/// Whether the class has what it had: surely where its version is the same, which any change of it or of a base
/// changes.
static bool holdsClass(PyObject *type, long version, PyObject *names, PyObject *found) {
  if (version && reinterpret_cast<PyTypeObject *>(type)->tp_version_tag == version)
    return true;
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(names); i < e; ++i)
    if (classAttribute(type, PyTuple_GET_ITEM(names, i)) != PyTuple_GET_ITEM(found, i))
      return false;
  return true;
}

static bool holdsAttributes(PyObject *owner, PyObject *names, PyObject *values, PyObject *how) {
  PyObject *type = PyTuple_GET_ITEM(how, 0);
  if (reinterpret_cast<PyObject *>(Py_TYPE(owner)) != type ||
      !holdsClass(type, PyLong_AsLong(PyTuple_GET_ITEM(how, 1)), names, PyTuple_GET_ITEM(how, 2)))
    return false;
  if (PyObject *attributes = attributesOf(owner))
    return holdsItems(attributes, names, values);
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(values); i < e; ++i)
    if (PyTuple_GET_ITEM(values, i) != noValue)
      return false;
  return true;
}

static bool holdsDict(PyObject *dict, PyObject *items) {
  Py_ssize_t position = 0, i = 0;
  PyObject *key, *value;
  if (2 * PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(items))
    return false;
  for (; PyDict_Next(dict, &position, &key, &value); i += 2)
    if (!isSameValue(key, PyTuple_GET_ITEM(items, i)) || !isSameValue(value, PyTuple_GET_ITEM(items, i + 1)))
      return false;
  return true;
}

static bool holdsFunction(PyObject *owner, PyObject *parts) {
  auto *function = reinterpret_cast<PyFunctionObject *>(owner);
  auto isPart = [&](PyObject *part, int number) { return (part ? part : Py_None) == PyTuple_GET_ITEM(parts, number); };
  return isPart(function->func_code, 0) && isPart(function->func_defaults, 1) && isPart(function->func_kwdefaults, 2);
}

bool holdsRead(PyObject *read) {
  auto kind = ReadKind(PyLong_AsLong(PyTuple_GET_ITEM(read, 0)));
  PyObject *owner = PyTuple_GET_ITEM(read, 1), *key = PyTuple_GET_ITEM(read, 2), *value = PyTuple_GET_ITEM(read, 3),
           *how = PyTuple_GET_ITEM(read, 4);
  switch (kind) {
  case ReadKind::Items:
    return holdsItems(owner, key, value);
  case ReadKind::Attributes:
    return holdsAttributes(owner, key, value, how);
  case ReadKind::Attribute: {
    PyObject *type = PyTuple_GET_ITEM(how, 0);
    return reinterpret_cast<PyObject *>(Py_TYPE(owner)) == type &&
           classAttribute(type, key) == PyTuple_GET_ITEM(how, 1) && isSameValue(ownAttribute(owner, key), value);
  }
  case ReadKind::ClassAttribute:
    return isSameValue(classAttribute(owner, key), value);
  case ReadKind::Cell:
    return PyCell_GET(owner) ? isSameValue(PyCell_GET(owner), value) : value == noValue;
  case ReadKind::Function:
    return holdsFunction(owner, value);
  case ReadKind::Whole:
    if (PyList_Check(owner))
      return isSameSequence(owner, value);
    if (PyDict_Check(owner))
      return holdsDict(owner, value);
    return areEqual(owner, value);
  default:
    return isSameValue(valueOf(kind, owner, key).ptr(), value);
  }
}

bool holdsState(const nb::list &reads) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(reads.ptr()); ++i)
    if (!holdsRead(PyList_GET_ITEM(reads.ptr(), i)))
      return false;
  return true;
}

namespace {

/// The reads of one kind of one owner.
struct Group {
  ReadKind kind;
  nb::list keys, values, found;
};

} // namespace

static nb::tuple together(PyObject *owner, const Group &group) {
  nb::object how = nb::none();
  if (group.kind == ReadKind::Attribute)
    how = nb::make_tuple(nb::borrow(reinterpret_cast<PyObject *>(Py_TYPE(owner))), long(Py_TYPE(owner)->tp_version_tag),
                         nb::tuple(group.found));
  auto kind = group.kind == ReadKind::Attribute ? ReadKind::Attributes : ReadKind::Items;
  return nb::make_tuple(long(kind), nb::borrow(owner), nb::tuple(group.keys), nb::tuple(group.values), how);
}

nb::list groupReads(const nb::list &reads) {
  nb::list result;
  llvm::MapVector<PyObject *, Group> groups; // a dict has items only, an object attributes
  for (nb::handle read : reads) {
    auto kind = ReadKind(nb::cast<long>(read[0]));
    nb::object owner = read[1];
    // A version vouches only for what the class has now.
    if ((kind != ReadKind::Item && kind != ReadKind::Attribute) || !holdsRead(read.ptr())) {
      result.append(read);
      continue;
    }
    Group &group = groups[owner.ptr()];
    if (!group.keys.empty() && group.kind != kind) { // a dict with attributes
      result.append(read);
      continue;
    }
    group.kind = kind;
    group.keys.append(read[2]);
    group.values.append(read[3]);
    if (kind == ReadKind::Attribute)
      group.found.append(read[4][1]);
  }
  for (auto &[owner, group] : groups)
    result.append(together(owner, group));
  return result;
}

} // namespace tess::python
