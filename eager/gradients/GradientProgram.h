//===- GradientProgram.h - the operators of a gradient as one ---*- C++ -*-===//
//
// Where nothing watches the operators of a gradient's graph, and calls have come
// back some times, a program runs in their place.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/dispatch/GraphProgram.h"

#include <atomic>

namespace tess::eager {

/// A call with the graph of its gradient.
struct DifferentiatedCall {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 2> segments;
  llvm::SmallVector<bool, 4> needed;        // per operand
  llvm::SmallVector<bool, 2> hasOutputGrad; // per result
  llvm::SmallVector<bool, 4> hasSum;        // per operand (OpDef::makeBackwardGraph); empty: none
  std::optional<Subgraph> graph;            // none: the operator has no gradient
};

/// The programs of one gradient's graph. Thread-safe.
class GradientPrograms {
public:
  /// For a call that has its graph.
  explicit GradientPrograms(const DifferentiatedCall &call);
  ~GradientPrograms();

  /// Finds the program for these inputs of the call's graph. Null: its operators run one by one, because they came back
  /// too seldom for a compilation, something watches them, or each of many numbers in the graph would be a program.
  const GraphProgram *find(const DifferentiatedCall &call, llvm::ArrayRef<Operand> inputs) const;

private:
  struct Made;
  const Made &programs(const DifferentiatedCall &call, llvm::ArrayRef<Operand> inputs) const;

  const bool mayRun;
  const int grad; // the input that is the gradient of the only result that has one; -1: there are several
  mutable std::atomic<unsigned> runs{0}; // so far
  mutable std::atomic<const Made *> made{nullptr};
};

} // namespace tess::eager
