//===- Movement.h - operators that only copy regions ------------*- C++ -*-===//
//
// concat, pad, roll, slice_set as lists of copies between layouts. A step carries one
// strided copy kernel with a group per axis, which does each of them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

namespace tess::runtime {

/// Copy operand number `operand`, read by `source`, to the result, written by `destination`. The shapes are equal; the
/// layouts' offsets count.
struct CopyRegion {
  unsigned operand;
  Layout source, destination;
};

struct MovementPlan {
  /// The result is filled with the step's scalar first.
  bool fill = false;
  llvm::SmallVector<CopyRegion, 4> regions; // in this order
};

/// `layouts`: of the operands. `result`: of the result. Unimplemented for an operator that is no movement known here.
llvm::Expected<MovementPlan> planMovement(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                          llvm::ArrayRef<Layout> layouts, const Layout &result);

} // namespace tess::runtime
