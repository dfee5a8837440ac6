//===- TensorAttributes.cpp - attributes that tensors refuse --------------===//
//
// An object of Python takes any attribute. A tensor refuses those that other
// frameworks give a meaning to, and slips of its own: both would do nothing.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/TensorType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tess::python {

namespace {

/// A name of another framework, and how its effect is had here.
struct Foreign {
  llvm::StringLiteral name, instead;
};

constexpr llvm::StringLiteral kByManager =
    "a GradManager's attach() says what gets gradients, and module.freeze() leaves parameters out";
constexpr Foreign kForeign[] = {
    {"requires_grad", kByManager},
    {"is_leaf", kByManager},
    {"grad_fn", kByManager},
    {"data", "set_value(v) gives new values, and detach() a tensor without gradient"},
};

/// Names of a tensor that users set, or would.
constexpr llvm::StringLiteral kOwn[] = {"grad", "name", "qparams", "shape", "dtype", "device", "format"};

/// Whether `given` is `own` with two neighbours exchanged, or one letter behind the first left out or doubled.
bool isSlipOf(llvm::StringRef given, llvm::StringRef own) {
  if (given.size() + 1 < own.size() || given.size() > own.size() + 1 || given.starts_with(own))
    return false;
  for (size_t at = 0; at + 1 < own.size(); ++at) {
    std::string swapped = own.str();
    std::swap(swapped[at], swapped[at + 1]);
    std::string shorter = own.take_front(at + 1).str() + own.drop_front(at + 2).str();
    std::string longer = own.take_front(at + 1).str() + own.drop_front(at).str();
    if (given == swapped || given == shorter || given == longer)
      return true;
  }
  return false;
}

/// How the effect of the attribute is had; "": nothing is wrong with it.
std::string insteadOf(llvm::StringRef name) {
  if (const Foreign *found = llvm::find_if(kForeign, [&](const Foreign &each) { return each.name == name; });
      found != std::end(kForeign))
    return found->instead.str();
  for (llvm::StringRef own : kOwn)
    if (isSlipOf(name, own))
      return ("the attribute is " + own).str();
  return "";
}

} // namespace

int tensorSetAttribute(PyObject *self, PyObject *name, PyObject *value) {
  if (value && !_PyType_Lookup(Py_TYPE(self), name)) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
      return -1;
    if (std::string instead = insteadOf(text); !instead.empty()) {
      std::string message = std::string(_PyType_Name(Py_TYPE(self))) + ": " + text + " has no effect (" + instead + ")";
      PyErr_SetString(PyExc_AttributeError, message.c_str());
      return -1;
    }
  }
  return PyObject_GenericSetAttr(self, name, value);
}

} // namespace tess::python
