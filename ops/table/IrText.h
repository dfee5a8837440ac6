//===- IrText.h - an operator as text of the dialect -------------*- C++ -*-===//
//
// What the printer of the `tess` dialect writes, without MLIR: documentation
// shows it. //tests/ir:examples_test compares the two.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// "%0 = tess.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>". Operands have their names in the record, those of a
/// variadic group a number each. Failure: the error of inference.
llvm::Expected<std::string> irTextOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                     llvm::ArrayRef<unsigned> segments);

} // namespace tess
