//===- BackwardPlan.h - gradient graphs, remembered -------------*- C++ -*-===//
//
// make_backward_graph for one call, kept for the next call of equal operator,
// metas and wanted gradients. Bounded in bytes; the oldest go first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Operator.h"
#include "ops/Subgraph.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

namespace tess::eager {

/// A call as a tape writes it down, and how its gradient is computed. Immutable, shared by equal calls.
struct BackwardPlan : llvm::ThreadSafeRefCountedBase<BackwardPlan> {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 2> segments;
  llvm::SmallVector<bool, 4> needed;        // per operand
  llvm::SmallVector<bool, 2> hasOutputGrad; // per result
  std::optional<Subgraph> graph;            // none: the operator has no gradient
};
using BackwardPlanRef = llvm::IntrusiveRefCntPtr<const BackwardPlan>;

struct BackwardPlanStats {
  uint64_t entries = 0, bytes = 0, limit = 0;
};
BackwardPlanStats backwardPlanStats();

/// The plan of a call whose gradient is wanted for the `needed` operands when one arrives for the results of
/// `hasOutputGrad`. Thread-safe; lately used ones are found without a lock.
llvm::Expected<BackwardPlanRef> backwardPlan(const OpDef &op, llvm::ArrayRef<Operand> operands,
                                             llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<bool> needed,
                                             llvm::ArrayRef<bool> hasOutputGrad);
/// The same call when gradients arrive for other results.
llvm::Expected<BackwardPlanRef> backwardPlan(const BackwardPlan &plan, llvm::ArrayRef<bool> hasOutputGrad);

} // namespace tess::eager
