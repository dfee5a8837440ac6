//===- BackwardPlan.h - gradient graphs, remembered -------------*- C++ -*-===//
//
// make_backward_graph for one call, kept for the next call of equal operator,
// metas and wanted gradients. Bounded in bytes; those used least recently go
// first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/gradients/GradientProgram.h"
#include "ops/graphs/Subgraph.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

namespace tess::eager {

/// A call as a tape writes it down, and how its gradient is computed. Immutable, shared by equal calls.
struct BackwardPlan : llvm::ThreadSafeRefCountedBase<BackwardPlan>, DifferentiatedCall {
  std::optional<GradientPrograms> programs; // of the graph
};
/// Keeps a plan alive after the cache has dropped it.
using BackwardPlanRef = llvm::IntrusiveRefCntPtr<const BackwardPlan>;

/// Plans kept, their bytes, and the limit in bytes.
struct BackwardPlanStats {
  uint64_t entries = 0, bytes = 0, limit = 0;
};
/// Of the cache of this process.
BackwardPlanStats backwardPlanStats();

/// The plan of a call: gradients of the `needed` operands from gradients of the results that `hasOutputGrad` marks.
/// Thread-safe; a plan that this thread used lately is found without a lock.
llvm::Expected<BackwardPlanRef> backwardPlan(const OpDef &op, llvm::ArrayRef<Operand> operands,
                                             llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<bool> needed,
                                             llvm::ArrayRef<bool> hasOutputGrad);
/// The plan of the same call for gradients that arrive for other results, or that add to sums.
llvm::Expected<BackwardPlanRef> backwardPlan(const BackwardPlan &plan, llvm::ArrayRef<bool> hasOutputGrad,
                                             llvm::ArrayRef<bool> hasSum = {});
/// The plan of the same call by expressions of sizes: those of `op` and of `operands`.
llvm::Expected<BackwardPlanRef> backwardPlan(const BackwardPlan &plan, const OpDef &op,
                                             llvm::ArrayRef<TensorMeta> operands);

} // namespace tess::eager
