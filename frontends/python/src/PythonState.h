//===- PythonState.h - comparison of Python's state -------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

namespace tess::python {

/// Whether each node (container, names, values, is whole) of jit/python_state.py holds what it did.
bool holdsState(const nanobind::list &nodes);

} // namespace tess::python
