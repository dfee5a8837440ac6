//===- GradientProgram.h - the operators of a gradient as one ---*- C++ -*-===//
//
// A gradient's graph has many small operators, which one by one read and write
// memory again and again. Where nothing watches them, its operators are one,
// with a program of its own, in which they are fused as in any graph. Bits are
// those of the operators.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Operator.h"
#include "ops/Subgraph.h"

#include <atomic>

namespace tess::eager {

struct BackwardPlan;

/// What runs in the place of the operators of a graph.
struct GradientProgram {
  /// Where an output of the graph comes from; from nowhere where both are -1.
  struct Output {
    int result = -1; // of `op`
    int input = -1;  // of the graph, as it is
  };
  OpDef op;                               // has them in its body, with neutral numbers
  llvm::SmallVector<uint64_t, 8> scalars; // these numbers, in the order of the operators
  llvm::SmallVector<unsigned, 8> inputs;  // which of those of the graph it reads
  int repeated = -1;                      // the one that it reads without axes along which it repeats
  llvm::SmallVector<Output, 4> outputs;   // of the graph
};

/// The outputs of the graph of `program`, null where it has -1.
llvm::Expected<Tensors> run(const GradientProgram &program, llvm::ArrayRef<Operand> inputs);

/// The programs of one gradient's graph. Thread-safe.
class GradientPrograms {
public:
  /// Of a plan that has its graph.
  explicit GradientPrograms(const BackwardPlan &plan);
  ~GradientPrograms();

  /// What to run for these inputs of the plan's graph; null: its operators one by one, because it has run too seldom to
  /// be worth a compilation, something watches the operators, or each of many numbers in the graph would be a program.
  const GradientProgram *find(const BackwardPlan &plan, llvm::ArrayRef<Operand> inputs) const;

private:
  struct Made;
  const Made &programs(const BackwardPlan &plan, llvm::ArrayRef<Operand> inputs) const;

  const bool mayRun;
  const int grad; // the input that is the gradient of the only result that has one; -1: there are several
  mutable std::atomic<unsigned> runs{0}; // so far
  mutable std::atomic<const Made *> made{nullptr};
};

} // namespace tess::eager
