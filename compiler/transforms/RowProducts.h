//===- RowProducts.h - gradients of weights, as products --------*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

namespace tess::compiler {

/// Whether `op` is the transposed left matrix by the right one, of one wide float, and has one reader: a sum may take
/// it in.
bool isProductOfRows(mlir::Operation *op);

} // namespace tess::compiler
