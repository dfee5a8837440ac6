//===- StateReads.h - what a function read of Python's state ----*- C++ -*-===//
//
// A read is a tuple (kind, owner, key, value, how): asked again, it tells whether
// the owner still gives the value. Traced functions ask at each call; most values
// are still the very same objects.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

namespace tess::python {

namespace nb = nanobind;

/// The question that was asked of the owner.
enum class ReadKind : uint8_t {
  Item,           // a dict's value under the key
  Attribute,      // an object's attribute: `value` in its dict, `how` (type, what the type has under that name)
  ClassAttribute, // what a class or its bases have under that name
  Cell,           // the variable of an enclosing function
  Function,       // a function's code and defaults
  Getter,         // an attribute that C code gives
  Subscript,      // owner[key]
  Length,
  Truth,
  Contains,        // key in owner
  ContextVariable, // of the present context
  Whole,           // all of a list, dict (with its order) or set
  Frozen,          // key(owner): all of an object of a C type, made of plain values
  // Several reads of one owner, with tuples of keys and values:
  Items,
  Attributes, // `how`: (type, its version or 0, what the type has under each name)
};

/// Stands for a value where there is none.
extern PyObject *noValue;
/// Must be called once.
void initStateReads();

/// The value that the owner gives now; noValue where it has none.
nb::object valueOf(ReadKind kind, PyObject *owner, PyObject *key);
/// A read of what the owner gives now.
nb::tuple readOf(ReadKind kind, PyObject *owner, PyObject *key);
/// Whether the owner gives what was read.
bool holdsRead(PyObject *read);
/// Whether all reads of the list hold.
bool holdsState(const nb::list &reads);
/// The reads, with those of the items or the attributes of one owner together.
nb::list groupReads(const nb::list &reads);

/// Compares values of plain types and tuples by type and bits, bound methods by both parts, other objects by identity.
bool isSameValue(PyObject *a, PyObject *b);
/// The attributes of the object by name, not owned; null: it has no dict.
PyObject *attributesOf(PyObject *object);

} // namespace tess::python
