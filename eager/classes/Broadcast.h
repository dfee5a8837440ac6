//===- Broadcast.h - the iteration space of an elementwise call -*- C++ -*-===//
//
// Brings the operands of an elementwise operator to common axes and merges the
// axes that every operand walks in one stride. What remains is the class that
// a kernel is compiled for (which operand is broadcast along which axis, and how
// it lies in memory), and the sizes and strides that it gets at run time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// Operands that the direct path takes; more go through a program.
constexpr unsigned kMaxDirectOperands = 12;

/// The axes that a call iterates over, merged, with the strides of each operand.
struct IterationSpace {
  /// Of the results, as the user sees them.
  unsigned rank = 0;
  int64_t shape[kMaxRank];
  int64_t numElements = 1;
  /// Merged axes, outermost first; at least one.
  unsigned numAxes = 0;
  int64_t sizes[kMaxRank];
  /// Per axis a bit for each operand: the operand has size 1 there and others have not.
  uint32_t broadcast[kMaxRank];
  /// In elements; 0 where broadcast. Behind the operands those of the result, where planDestination() gave them.
  int64_t strides[kMaxDirectOperands][kMaxRank];
  /// There is one axis, along which every operand is row-major.
  bool isPlain = false;
  /// A bit for each operand, and the one behind them for the result, whose last axis has another stride than 1.
  uint32_t strided = 0;
  /// Whether, without such operands, axes that are alike cannot be walked as one.
  bool apart = false;

  /// The shape of the results, before axes are merged.
  llvm::ArrayRef<int64_t> resultShape() const { return {shape, rank}; }
};

/// Fills `space`. False when the shapes do not broadcast; inference then gives the error. `shapeGiven`: `space` already
/// has the shape of the results. `keepAxes`: no axis is merged or dropped, because the operator reads indices.
bool planIteration(llvm::ArrayRef<Operand> operands, IterationSpace &space, bool shapeGiven, bool keepAxes);

/// Plans again for a result that goes to `target`, which has its shape and need not be row-major.
void planDestination(llvm::ArrayRef<Operand> operands, TensorImpl &target, IterationSpace &space, bool keepAxes);

/// The class as a number; different classes have different numbers (hashed, where
/// an operand is not row-major or more than 56 bits are needed).
uint64_t classOf(const IterationSpace &space, unsigned numOperands);

} // namespace tess::eager
