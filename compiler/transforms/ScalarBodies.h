//===- ScalarBodies.h - what elementwise operators compute ------*- C++ -*-===//
#pragma once

#include "ops/operator/ScalarProgram.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace tess::compiler {

/// The function of its two operands, in their order, that `op` is, by its record's body; none: it is another operator.
std::optional<ScalarFn> binaryFunctionOf(mlir::Operation *op);

/// The attribute that every element of the only result of `op` is, which has no operand; none: it is another operator.
std::optional<unsigned> numberAttrOf(mlir::Operation *op);
/// The number that all elements of `value` are, if the program says so.
std::optional<double> numberOf(mlir::Value value);

} // namespace tess::compiler
