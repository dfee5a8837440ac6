//===- ArgumentConversion.h - operands and attributes from Python values *- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/stack/Apply.h"

#include <optional>
#include <string>

namespace tess::python {

/// An operand: a tensor, a Python number, or anything that makes a tensor (kept alive in `made`). With `strict`,
/// objects that hold no numbers are no error: returns false without an exception.
bool toOperand(PyObject *object, eager::Operand &operand, llvm::SmallVectorImpl<eager::TensorRef> &made,
               bool strict = false);
/// Puts what toOperand() made beside the first operand that is a tensor of the user's, on its device.
llvm::Error placeMade(llvm::MutableArrayRef<eager::Operand> operands, llvm::SmallVectorImpl<eager::TensorRef> &made);
/// The attribute value of a Python object; `op` opens the message, which calls the attribute `name`.
llvm::Expected<AttrValue> toAttr(llvm::StringRef op, llvm::StringRef name, const AttrInfo &info, PyObject *object);
PyObject *fromAttr(const AttrValue &value);
} // namespace tess::python
