//===- SymInt.h - sizes that are expressions, for Python --------*- C++ -*-===//
//
// The class is Python's (tessera/core/symint.py); here are its objects' ways into
// operators and out of tensors, while a recording runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/tensor/Operator.h"
#include "ops/vocabulary/AttrValue.h"

#include <optional>

namespace tess::python {

/// tessera.core.symint.SymInt, which lives as long as the process.
extern PyTypeObject *symIntType;

/// Whether it is a SymInt.
inline bool isSymInt(PyObject *object) { return Py_TYPE(object) == symIntType; }

/// Whether an argument is, or holds, a SymInt of a network.
bool holdsNetworkSizes(PyObject *object);

/// Tells the present recording that Python learns the first size of the tensor as a number. False: a Python error is
/// set, because the tensor stands for a value of a network whose size is free.
bool noteSizeRead(const eager::TensorImpl &tensor);
/// The shape of a tensor: an int for each axis, or a SymInt in a recording or a network.
PyObject *shapeOf(const eager::TensorImpl &tensor);
/// What Python's `shape` gives: the same, or, where `core.set_symbolic_shape` says so, a tensor of it.
PyObject *shapeAttribute(const eager::TensorImpl &tensor);
/// The product of its sizes.
PyObject *sizeOf(const eager::TensorImpl &tensor);

/// The expression that a SymInt is in the present recording or a network; none for another object.
std::optional<int64_t> expressionOf(PyObject *object);
/// A SymInt as an operand: with its expression in the recording that it comes from.
eager::Number numberOf(PyObject *symInt);

/// What a tensor of integers says as sizes while a recording runs: an int or a SymInt, or a list of such; with its
/// tensors so, a tuple or list. Another object itself; null and a Python error where a tensor has no such values.
nanobind::object sizesOf(PyObject *object);

/// Reads the start or stop of a slice of an axis of `size`, a number or an expression, as sizesOf() does, but a tensor
/// may say a negative one.
nanobind::object boundOf(PyObject *object, int64_t size);
/// Reads the step of a slice as sizesOf() does; no program finds it in a tensor.
nanobind::object stepOf(PyObject *object);

/// Whether it is a SymInt, or a tuple or list of ints of which one at least is a SymInt, while a recording runs or
/// where networks are used.
bool holdsSizes(PyObject *object);
/// Such an object as a tensor, which a recording or a network knows by its expressions.
llvm::Expected<eager::TensorRef> tensorOfSizes(PyObject *object, DType dtype);

/// The value of an attribute with expressions of the present recording for each SymInt in `object`, an int or a
/// sequence; none where there is none. `numbers`: the same with ints.
std::optional<AttrValue> withExpressions(PyObject *object, const AttrValue &numbers);

} // namespace tess::python
