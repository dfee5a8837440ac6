//===- BackwardPlan.h - gradient graphs, remembered -------------*- C++ -*-===//
//
// make_backward_graph for one call, kept for the next call of equal operator,
// metas and wanted gradients. Bounded in number; the oldest go first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/Subgraph.h"

#include <memory>

namespace tess::eager {

struct BackwardRequest {
  const OpDef &op;
  llvm::ArrayRef<TensorMeta> operands;
  llvm::ArrayRef<unsigned> segments;
  llvm::ArrayRef<bool> needed;
  llvm::ArrayRef<bool> hasOutputGrad;
};
using BackwardPlan = std::shared_ptr<const Subgraph>;

/// Thread-safe.
llvm::Expected<BackwardPlan> backwardPlan(const BackwardRequest &request);

} // namespace tess::eager
