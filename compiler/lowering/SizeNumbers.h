//===- SizeNumbers.h - numbers of sizes that data decides -------*- C++ -*-===//
//
// A program numbers all sizes that data decides, while the body of a loop names
// those of its trips for itself (ops/graphs/Control.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/Dialect.h"
#include "ops/operator/OpDef.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::compiler {

/// The numbers of one program: sizes outside of loops keep theirs, those of trips have the ones behind.
class SizeNumbers {
public:
  explicit SizeNumbers(mlir::func::FuncOp func);
  /// The number of a size that gets its name.
  uint32_t add(ir::NamedSizeOp size);
  /// The operator with the numbers of the program.
  OpDef numbered(OpDef op) const;

  /// The names in the body of a loop, while this lives.
  class Trip {
  public:
    explicit Trip(SizeNumbers &numbers) : numbers(numbers) { std::swap(around, numbers.ofTrip); }
    ~Trip() { std::swap(around, numbers.ofTrip); }
    Trip(const Trip &) = delete;

  private:
    SizeNumbers &numbers;
    llvm::DenseMap<uint32_t, uint32_t> around;
  };

private:
  uint32_t next = 0;
  llvm::DenseMap<uint32_t, uint32_t> ofTrip; // by symbol of the innermost body: of the program
};

} // namespace tess::compiler
