//===- Errors.h - error codes as exception types ----------------*- C++ -*-===//
//
// Functions of the extension that can fail set a Python exception and return null
// or false; those bound through nanobind throw it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include "ops/vocabulary/Error.h"

namespace tess::python {

/// Sets the exception of `error` (code -> type) and returns null.
PyObject *raise(llvm::Error error);
/// As raise(), of an operator that refuses its operands: ShapeError and DTypeError, each a RuntimeError besides.
PyObject *raiseRefusal(llvm::Error error);
/// Throws it, for functions bound through nanobind.
[[noreturn]] void throwError(llvm::Error error);
[[noreturn]] void throwRefusal(llvm::Error error);
template <typename T> T valueOrThrow(llvm::Expected<T> value) {
  if (!value)
    throwError(value.takeError());
  return std::move(*value);
}
inline void checkOrThrow(llvm::Error error) {
  if (error)
    throwError(std::move(error));
}

/// The exception that is set, as an error.
llvm::Error takePythonError();

} // namespace tess::python
