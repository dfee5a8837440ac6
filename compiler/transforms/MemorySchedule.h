//===- MemorySchedule.h - kernels and calls within a limit ------*- C++ -*-===//
//
// Runs a block on paper, kernel by kernel, and drops values where they would take
// more than a limit; one that is dropped is computed again before its next
// reader, from what is there or is computed again itself. Dropped is the value
// of which a byte costs least for the time that it is not read: M. Kirisame et
// al., "Dynamic Tensor Rematerialization", ICLR 2021, with the time to the next
// reader, which a compiler knows, in place of that since the last one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace tess::compiler {

class MemorySchedule {
public:
  explicit MemorySchedule(mlir::Block &block);
  /// Adds operators so that values take no more than `limit` bytes, as far as that is possible. Sizes must be known.
  void fit(int64_t limit);

private:
  /// A value with memory that the program may give to another one.
  struct Item {
    mlir::OpResult first; // as it was made first
    int64_t bytes;
    llvm::SmallVector<unsigned, 4> reads; // positions, in order
    mlir::Value now;                      // null: it is not in memory
    unsigned pins = 0;                    // operators that are about to read it
    bool isMade = false;                  // for the first time
  };
  using Items = llvm::SmallVector<unsigned, 8>;

  Items itemsOf(mlir::ValueRange values) const;
  std::optional<unsigned> nextRead(const Item &item) const;

  void run(mlir::Operation *op);
  /// Has the operands of `op` in memory before `reader`, and pins them.
  Items holdOperands(mlir::Operation *op, mlir::Operation *reader);
  void letGo(llvm::ArrayRef<unsigned> operands);
  int64_t reusedBytes(mlir::Operation *op, llvm::ArrayRef<unsigned> operands) const;
  void computeAgain(unsigned item, mlir::Operation *reader);
  void makeRoom(int64_t bytes);
  void drop(Item &item);
  bool isNeededToCompute(unsigned item) const;
  /// Whether a value can be computed from what is in memory, and the cost of all operators for it.
  bool mayBeComputed(unsigned item, llvm::DenseSet<unsigned> &seen, int64_t &cost) const;
  mlir::Value presentOf(mlir::Value value, mlir::Operation *reader);

  mlir::Block &block;
  std::vector<mlir::Operation *> order;
  std::vector<Item> items;
  llvm::DenseMap<mlir::Value, unsigned> itemOf;                                 // by value, as it was made first
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, mlir::Value> views; // made again, of other memory
  std::vector<std::pair<mlir::OpOperand *, mlir::Value>> reads;                 // those that change
  int64_t limit = 0, live = 0;
  unsigned position = 0;
  size_t repetitions = 0;
};

} // namespace tess::compiler
