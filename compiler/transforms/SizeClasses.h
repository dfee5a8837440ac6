//===- SizeClasses.h - which unknown sizes are one --------------*- C++ -*-===//
//
// Two unknown sizes may differ at run time. They are one where an elementwise
// operator reads both (an axis that repeats is another kernel), where a
// reduction keeps the axis, and where the program names them alike.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"

namespace tess::compiler {

/// Which unknown sizes of a block are one: elementwise operators, reductions and named dimensions make them so.
class SizeClasses {
public:
  explicit SizeClasses(mlir::Block &block);
  /// The sizes of a value of the block; an unknown size is the negative number of its class.
  llvm::ArrayRef<int64_t> of(mlir::Value value) const { return sizes.find(value)->second; }

private:
  void add(mlir::Value value);
  void nameArguments(mlir::Block &block);
  void join(mlir::Value a, mlir::Value b);

  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t, 6>> sizes;
  llvm::IntEqClasses classes;
  unsigned numUnknown = 0;
};

} // namespace tess::compiler
