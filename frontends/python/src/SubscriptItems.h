//===- SubscriptItems.h - the items of x[key] -------------------*- C++ -*-===//
#pragma once

#include "eager/subscript/SubscriptKey.h"

#include <Python.h>

namespace tess::python {

/// What a key of Python asks for. An error names the item, and the tensor where it does not fit.
llvm::Expected<eager::Key> readKey(eager::TensorImpl &tensor, PyObject *key);

} // namespace tess::python
