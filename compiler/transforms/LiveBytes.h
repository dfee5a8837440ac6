//===- LiveBytes.h - how much memory values need, and when ------*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace tess::compiler {

/// Bytes of a value; an unknown size counts as `kAssumedSize`.
int64_t bytesOf(mlir::Value value);
constexpr int64_t kAssumedSize = 64;

/// The value whose memory `value` shows: itself, or what a view is of.
mlir::Value rootOf(mlir::Value value);

/// Whether no generated kernel computes `op`: what it reads and gives is in memory.
bool isCall(mlir::Operation *op);

/// The operators of a block in their order, and the memory that each one finds in use.
class LiveBytes {
public:
  explicit LiveBytes(mlir::Block &block);
  /// Whether an operator of the block was before the one at `position` when this was made.
  bool isBefore(mlir::Operation *op, unsigned position) const;
  mlir::Operation *at(unsigned position) const { return order[position]; }
  /// The position of the last reader of a value or of its views; its own where nothing reads it.
  unsigned lastReadOf(mlir::Value root) const { return last.lookup(root); }
  /// Whether the program gives the value, or has been given it: its memory is in use before or after.
  bool isKept(mlir::Value root) const;
  /// The call at which the most memory is in use: of operators that no generated kernel computes, since others may
  /// share one. Its position and the bytes of values that are not kept.
  std::pair<unsigned, int64_t> peak() const;

private:
  void noteReads(mlir::Operation *op, unsigned position);
  bool isInMemory(mlir::Value root) const;

  std::vector<mlir::Operation *> order;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Value, unsigned> last;
  std::vector<unsigned> numCalls; // by position: calls before it
};

/// Erases operators of a block that `mayGo` allows and nothing reads, those too that only such ones read.
void eraseUnread(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> mayGo);

} // namespace tess::compiler
