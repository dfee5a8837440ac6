//===- StateWatch.cpp - notes what a function reads of Python's state -----===//
#include "frontends/python/src/StateWatch.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorObject.h"

#include <frameobject.h>
#include <nanobind/stl/string.h>

namespace tess::python {

static constexpr size_t kMaxReads = 1 << 14;  // more are too slow to compare
static constexpr Py_ssize_t kMaxItems = 1024; // elements of a larger container are not compared
static constexpr int kMaxDepth = 4;           // of containers within containers

bool isPythonMethod(PyObject *object, const char *name) {
  nb::str text(name);
  PyObject *found = _PyType_Lookup(Py_TYPE(object), text.ptr()); // not owned
  return found && PyFunction_Check(found);
}

bool isOfPythonClass(PyObject *object) {
  // Classes that a statement made share a deallocator, which C gives to none of its own types.
  static const destructor ofClasses = [] {
    nb::object made = nb::module_::import_("types").attr("new_class")("Made");
    return reinterpret_cast<PyTypeObject *>(made.ptr())->tp_dealloc;
  }();
  PyTypeObject *type = Py_TYPE(object);
  return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_dealloc == ofClasses;
}

/// Whether the object is a container of C, or of a class that derives from such a type.
static bool isBuiltOnC(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  while (type && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && !PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE))
    type = type->tp_base;
  return type && type != &PyBaseObject_Type;
}

/// Whether the type belongs to the package's extension.
static bool isOfExtension(PyObject *object) { return nb::type_check(nb::handle(object).type()); }

/// Whether it is a scalar or a dtype of NumPy.
static bool isNumpyLeaf(PyObject *object) {
  static const nb::module_ numpy = nb::module_::import_("numpy");
  static const nb::object generic = numpy.attr("generic"), dtype = numpy.attr("dtype");
  auto isOf = [&](const nb::object &type) {
    return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(type.ptr()));
  };
  return isOf(generic) || isOf(dtype);
}

bool isLeaf(PyObject *o) {
  if (o == Py_None || o == Py_NotImplemented || o == Py_Ellipsis || PyLong_Check(o) || PyFloat_Check(o) ||
      PyComplex_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o) || PyType_Check(o) || PyModule_Check(o) ||
      PyCFunction_Check(o) || PyFunction_Check(o) || PyMethod_Check(o) || PyCode_Check(o) || PySlice_Check(o) ||
      PyRange_Check(o) || PyWeakref_CheckRef(o) || PyCell_Check(o) || PyFrame_Check(o) || isSymInt(o))
    return true;
  PyTypeObject *type = Py_TYPE(o);
  if (type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type || type == &PyProperty_Type ||
      type == &PyStaticMethod_Type || type == &PyClassMethod_Type || type == &PySuper_Type)
    return true;
  return isTensor(o) || isOfExtension(o) || isNumpyLeaf(o);
}

void StateWatch::setPlace(CodeKind ofFrame, PyCodeObject *at, int atLine) { kind = ofFrame, code = at, line = atLine; }

void StateWatch::keep(PyObject *object) {
  if (kept.insert(object).second)
    keptAlive.append(nb::borrow(object));
}

void StateWatch::noteInside(PyObject *object) {
  keep(object);
  inside.insert(object);
}

void StateWatch::noteArgument(PyObject *object) {
  keep(object);
  arguments.insert(object);
}

void StateWatch::nameObject(PyObject *object, std::string path) {
  if (isLeaf(object))
    return;
  keep(object);
  paths.try_emplace(object, std::move(path));
}

std::string StateWatch::pathOf(PyObject *object) const {
  auto it = paths.find(object);
  return it == paths.end() ? std::string(Py_TYPE(object)->tp_name) : it->second;
}

std::string textOf(PyObject *object) {
  nb::object text = nb::steal(PyObject_Str(object));
  if (!text.is_valid()) {
    PyErr_Clear();
    return "?";
  }
  return nb::cast<std::string>(text);
}

PyObject *StateWatch::sameKey(PyObject *key) {
  PyObject *first = isLeaf(key) && !isTensor(key) ? PyDict_SetDefault(keys.ptr(), key, key) : nullptr; // not owned
  PyErr_Clear();
  keep(first ? first : key);
  return first ? first : key;
}

void StateWatch::note(ReadKind what, PyObject *owner, PyObject *key, std::string path, bool isWrite) {
  full |= known.size() >= kMaxReads;
  if (isInside(owner) || full)
    return;
  keep(owner);
  key = sameKey(key);
  auto [it, isNew] = known.try_emplace({what, owner, key}, notes.size());
  if (!isNew) {
    if ((isWrite && kind != CodeKind::Package) || notes[it->second].code.is_none())
      notes[it->second].code = place(), notes[it->second].line = line;
    return;
  }
  ReadNote read;
  read.read = readOf(what, owner, key);
  read.path = std::move(path);
  read.isWritten = isWrite, read.isSilent = kind == CodeKind::Package;
  read.code = place(), read.line = line;
  nb::object value = read.read[3];
  notes.push_back(std::move(read));
  if (value.ptr() != noValue)
    nameObject(value.ptr(), notes[it->second].path);
}

/// The object behind a weak proxy; else itself.
static PyObject *behindProxy(PyObject *object) {
  if (!PyWeakref_CheckProxy(object))
    return object;
#if PY_VERSION_HEX >= 0x030d0000
  PyObject *target = nullptr;
  PyWeakref_GetRef(object, &target);
  Py_XDECREF(target); // as before 3.13 nobody here owns it
  return target ? target : Py_None;
#else
  return PyWeakref_GET_OBJECT(object);
#endif
}

void StateWatch::noteGetter(PyObject *owner, PyObject *name, const std::string &path) {
  nb::object first = valueOf(ReadKind::Getter, owner, name), second = valueOf(ReadKind::Getter, owner, name);
  if (isSameValue(first.ptr(), second.ptr())) // else it is another object at each read, of which nothing can be said
    note(ReadKind::Getter, owner, name, path);
}

/// `super().name` is of the first class behind one among the bases.
void StateWatch::noteSuper(PyObject *super, PyObject *name) {
  nb::handle object(super);
  nb::object own = object.attr("__self_class__"), after = object.attr("__thisclass__");
  if (own.is_none())
    return;
  bool isBehind = false;
  for (nb::handle base : nb::object(own.attr("__mro__"))) {
    if (isBehind && nb::cast<bool>(base.attr("__dict__").attr("__contains__")(nb::handle(name))))
      return note(ReadKind::ClassAttribute, base.ptr(), name, textOf(name));
    isBehind |= base.is(after);
  }
}

void StateWatch::noteAttribute(PyObject *owner, PyObject *name, bool isWrite) {
  owner = behindProxy(owner);
  if (isInside(owner) || !PyUnicode_Check(name))
    return;
  if (Py_TYPE(owner) == &PySuper_Type)
    return noteSuper(owner, name);
  std::string path = pathOf(owner) + "." + textOf(name);
  if (PyModule_Check(owner))
    return note(ReadKind::Item, PyModule_GetDict(owner), name,
                std::string(PyModule_GetName(owner)) + "." + textOf(name), isWrite);
  if (PyType_Check(owner)) {
    if (!PyType_HasFeature(reinterpret_cast<PyTypeObject *>(owner), Py_TPFLAGS_IMMUTABLETYPE))
      note(ReadKind::ClassAttribute, owner, name,
           std::string(reinterpret_cast<PyTypeObject *>(owner)->tp_name) + "." + textOf(name), isWrite);
    return;
  }
  PyObject *found = _PyType_Lookup(Py_TYPE(owner), name); // not owned
  bool isOfC = found && Py_TYPE(found)->tp_descr_set && Py_TYPE(found) != &PyProperty_Type && !isOfPythonClass(found);
  bool isLookup = Py_TYPE(owner)->tp_getattro != PyObject_GenericGetAttr && !isPythonMethod(owner, "__getattr__") &&
                  !isPythonMethod(owner, "__getattribute__");
  if (isOfC || (isLookup && !found)) { // a slot, or what a C type computes or looks up
    if (!isLeaf(owner) || PyFunction_Check(owner))
      noteGetter(owner, name, path);
    return;
  }
  if (attributesOf(owner) || isOfPythonClass(owner))
    note(ReadKind::Attribute, owner, name, path, isWrite);
}

void StateWatch::noteSubscript(PyObject *owner, PyObject *key, bool isWrite) {
  owner = behindProxy(owner);
  if (isInside(owner) || isLeaf(owner) || PyTuple_Check(owner) ||
      isPythonMethod(owner, isWrite ? "__setitem__" : "__getitem__"))
    return;
  bool isNamed = PyDict_Check(owner) && PyUnicode_Check(key);
  std::string path = pathOf(owner) + (isNamed ? "." + textOf(key) : "[" + textOf(key) + "]");
  if (PyDict_Check(owner))
    return note(ReadKind::Item, owner, key, path, isWrite);
  if (PyList_Check(owner) && PyLong_Check(key))
    return note(ReadKind::Subscript, owner, key, path, isWrite);
  if (PyList_Check(owner) || isOfPythonClass(owner) || isWrite)
    return noteContents(owner);
  nb::object first = valueOf(ReadKind::Subscript, owner, key), second = valueOf(ReadKind::Subscript, owner, key);
  if (first.ptr() == noValue || !isSameValue(first.ptr(), second.ptr()))
    return noteContents(owner);
  note(ReadKind::Subscript, owner, key, path);
}

static bool isContainer(PyObject *object) { return Py_TYPE(object)->tp_as_sequence || Py_TYPE(object)->tp_as_mapping; }

void StateWatch::noteOfContainer(ReadKind what, PyObject *owner, PyObject *key, const char *method) {
  owner = behindProxy(owner);
  if (isInside(owner) || isLeaf(owner) || PyTuple_Check(owner) || !isContainer(owner) || isPythonMethod(owner, method))
    return;
  note(what, owner, key, pathOf(owner));
}

void StateWatch::noteTruth(PyObject *owner) {
  bool isSized =
      !PyBool_Check(owner) && !isLeaf(owner) && (Py_TYPE(owner)->tp_as_mapping || Py_TYPE(owner)->tp_as_sequence);
  if (isSized && (!isOfPythonClass(owner) || PyDict_Check(owner) || PyList_Check(owner)) &&
      !isPythonMethod(owner, "__bool__"))
    noteOfContainer(ReadKind::Truth, owner, Py_None, "__len__");
}

void StateWatch::noteContains(PyObject *owner, PyObject *key) {
  if (isLeaf(key) || PyTuple_Check(key))
    noteOfContainer(ReadKind::Contains, owner, key, "__contains__");
  else
    noteContents(owner);
}

void StateWatch::noteFrozen(PyObject *object) {
  nb::object frozen = nb::steal(PyObject_CallOneArg(freeze.ptr(), object));
  if (!frozen.is_valid()) {
    PyErr_Clear();
    return noteUnwatchable(object, false);
  }
  if (frozen.is(nb::handle(object))) // a place, or a function
    return noteUnwatchable(object, false);
  note(ReadKind::Frozen, object, freeze.ptr(), pathOf(object));
}

void StateWatch::noteUnwatchable(PyObject *object, bool isAdvanced) {
  if (kind == CodeKind::Users)
    unwatchable.append(nb::make_tuple(pathOf(object), Py_TYPE(object)->tp_name, place(), line, isAdvanced));
}

void StateWatch::noteContents(PyObject *object, int depth) {
  object = behindProxy(object);
  if (isLeaf(object) || depth > kMaxDepth)
    return;
  bool isPlain = PyDict_CheckExact(object) || PyList_Check(object) || PyAnySet_Check(object);
  if (PyTuple_Check(object) || PyList_Check(object)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t i = 0; i < count && count <= kMaxItems; ++i)
      noteContents(PySequence_Fast_ITEMS(object)[i], depth + 1);
  }
  if (isInside(object) || PyTuple_Check(object))
    return;
  if (isPlain) {
    if (PyObject_Size(object) > kMaxItems)
      return noteUnwatchable(object, false);
    note(ReadKind::Whole, object, Py_None, pathOf(object));
    PyObject *key, *value;
    if (PyDict_Check(object))
      for (Py_ssize_t position = 0; PyDict_Next(object, &position, &key, &value);)
        noteContents(value, depth + 1);
  } else if (PyGen_Check(object) || PyCoro_CheckExact(object)) {
    noteAdvance(object);
  } else if (!isOfPythonClass(object) || isBuiltOnC(object)) {
    noteFrozen(object);
  }
}

void StateWatch::noteAllAttributes(PyObject *object) {
  object = behindProxy(object);
  if (isLeaf(object) || isInside(object) || !isOfPythonClass(object))
    return;
  if (PyObject *attributes = attributesOf(object))
    note(ReadKind::Whole, attributes, Py_None, pathOf(object));
}

void StateWatch::noteAdvance(PyObject *iterator) {
  if (isInside(iterator) || isLeaf(iterator) || isOfPythonClass(iterator))
    return;
  nb::object frozen = PyGen_Check(iterator) ? nb::object() : nb::steal(PyObject_CallOneArg(freeze.ptr(), iterator));
  PyErr_Clear();
  if (frozen.is_valid())
    note(ReadKind::Frozen, iterator, freeze.ptr(), pathOf(iterator));
  else
    noteUnwatchable(iterator, true);
}

void StateWatch::noteFunction(PyObject *function) {
  if (isInside(function))
    return;
  std::string name = textOf(reinterpret_cast<PyFunctionObject *>(function)->func_qualname);
  note(ReadKind::Function, function, Py_None, name);
  if (PyObject *defaults = PyFunction_GetKwDefaults(function))
    note(ReadKind::Whole, defaults, Py_None, name + ".__kwdefaults__");
  PyErr_Clear();
}

nb::list StateWatch::reads() const {
  nb::list result;
  for (const ReadNote &each : notes) {
    PyObject *owner = nb::object(each.read[1]).ptr();
    if (isInside(owner))
      continue;
    result.append(nb::make_tuple(each.read, each.path, each.code, each.line, each.isWritten, each.isSilent,
                                 bool(arguments.count(owner))));
  }
  return result;
}

} // namespace tess::python
