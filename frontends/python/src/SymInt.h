//===- SymInt.h - sizes that are expressions, for Python --------*- C++ -*-===//
//
// The class is Python's (tessera/core/symint.py); here are its objects' ways into
// operators and out of tensors, while a recording runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/Operator.h"
#include "ops/AttrValue.h"

#include <optional>

namespace tess::python {

/// Whether it is a SymInt.
bool isSymInt(PyObject *object);

/// Tells the present recording that Python learns a size of the tensor as a number.
void noteSizeRead(const eager::TensorImpl &tensor);
/// The shape of a tensor: an int for each axis, or a SymInt in a recording.
PyObject *shapeOf(const eager::TensorImpl &tensor);
/// The product of its sizes.
PyObject *sizeOf(const eager::TensorImpl &tensor);

/// The expression that a SymInt is in the present recording; none for another object.
std::optional<int64_t> expressionOf(PyObject *object);
/// A SymInt as an operand: with its expression in the recording that it comes from.
eager::Number numberOf(PyObject *symInt);

/// The value of an attribute with expressions of the present recording for each SymInt in `object`, an int or a
/// sequence; none where there is none. `numbers`: the same with ints.
std::optional<AttrValue> withExpressions(PyObject *object, const AttrValue &numbers);

} // namespace tess::python
