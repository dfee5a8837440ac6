//===- PythonSurface.h - operators as Python sees them -----------*- C++ -*-===//
#pragma once

#include "ops/operator/OpInfo.h"
#include "ops/table/PythonOperators.h"

namespace tess {

/// What a record's `Py` says beside module and name.
struct PythonSurface {
  /// Parameters of the function: operands, then attributes.
  llvm::ArrayRef<const char *> parameters;
  /// Methods of Tensor: the function with operand 0 as self.
  llvm::ArrayRef<const char *> methods;
  /// The operator of Tensor, by its index in pythonOperators; -1 when it is none.
  int operatorIndex;
};

/// The row of `info`; it lives for ever.
const PythonSurface &pythonSurfaceOf(const OpInfo &info);

/// The names of the parameters of its function; rows that no record made have those of operands and attributes. They
/// live for ever.
llvm::ArrayRef<const char *> parametersOf(const OpInfo &info);

} // namespace tess
