//===- Layouts.h - how values lie in memory ---------------------*- C++ -*-===//
//
// What is known without sizes: the result of a kernel or a call is contiguous,
// that of a view is what the view makes of its operand, an input or an output is
// as it says.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/Dialect.h"

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
  /// Makes the layouts of the inputs and outputs of `func` known.
  explicit Layouts(mlir::func::FuncOp func);
  /// Contiguous for a value that no view gave.
  ValueLayout of(mlir::Value value) const { return known.lookup_or(value, ValueLayout()); }
  /// Whether `view` cannot show the memory of its operand, so that it needs a contiguous copy of it.
  bool needsCopy(mlir::Operation *view) const;
  /// Adds the result of a view, or the constants in the body of a loop; others change nothing. Operators must be added
  /// in the order of the program, a loop before its body.
  void add(mlir::Operation *op);

private:
  void addView(mlir::Operation *view);

  llvm::DenseMap<mlir::Value, ValueLayout> known;
};

/// Whether the kernel of `fusion` reads an operand of `layout` as it is; otherwise it needs a contiguous copy.
bool readsInPlace(ir::FusionOp fusion, ValueLayout layout);
/// Whether nothing but shapes is read of what `fusion` gives, so that nobody need make it: by views, of whose first
/// operands alone the elements count.
bool hasOnlyShapeReaders(ir::FusionOp fusion);

} // namespace tess::compiler
