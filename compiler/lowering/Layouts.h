//===- Layouts.h - how values lie in memory ---------------------*- C++ -*-===//
//
// What is known without sizes: the result of a kernel or a call is contiguous,
// that of a view is what the view makes of its operand, an input or an output is
// as it says.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::compiler {

/// What is known of the strides of a value before its sizes are.
struct ValueLayout {
  bool contiguous = true;
  /// The last axis longer than 1 has stride 1.
  bool innerUnit = true;
};

/// The layouts of the values of one function.
class Layouts {
public:
  /// Contiguous for a value that no view gave.
  ValueLayout of(mlir::Value value) const { return known.lookup_or(value, ValueLayout()); }
  /// Whether `view` cannot show the memory of its operand, so that it needs a contiguous copy of it.
  bool needsCopy(mlir::Operation *view) const;
  /// Adds the result of `view`; views must be added in the order of the program.
  void add(mlir::Operation *view);
  /// `argument` of a loop's body is `value`.
  void alias(mlir::Value argument, mlir::Value value) { known[argument] = of(value); }
  /// Makes the layouts of the inputs and outputs of a program known.
  void addSignature(mlir::func::FuncOp func);

private:
  llvm::DenseMap<mlir::Value, ValueLayout> known;
};

} // namespace tess::compiler
