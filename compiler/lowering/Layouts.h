//===- Layouts.h - how values lie in memory ---------------------*- C++ -*-===//
//
// What the operators alone say of it, without sizes: the result of a kernel or a
// call is contiguous, that of a view is what the view makes of its operand.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::compiler {

struct ValueLayout {
  bool contiguous = true;
  /// The last axis longer than 1 has stride 1.
  bool innerUnit = true;
};

class Layouts {
public:
  ValueLayout of(mlir::Value value) const { return known.lookup_or(value, ValueLayout()); }
  /// Whether `view` is no view of what its operand holds, but of a contiguous copy of it.
  bool needsCopy(mlir::Operation *view) const;
  /// Makes the layout of `view`'s result known; views come in the order of the program.
  void add(mlir::Operation *view);

private:
  llvm::DenseMap<mlir::Value, ValueLayout> known;
};

} // namespace tess::compiler
