//===- Subgraph.h - a small graph of operators ------------------*- C++ -*-===//
//
// What make_backward_graph and make_forward_graph return: nodes in order over
// numbered values. No MLIR: eager applies it, ir/GraphBuilder inlines it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// A list of operators over values numbered from 0, each node after those that it reads.
struct Subgraph {
  /// One operator.
  struct Node {
    OpDef op;
    /// Value ids, in operand order; segments of variadic operands follow op.info().
    llvm::SmallVector<int, 4> inputs;
    llvm::SmallVector<int, 2> outputs;
    /// Operands per ODS group; empty when every group has exactly one.
    llvm::SmallVector<unsigned, 4> segments;
    /// Of a body (Control.h): the user's line and module, "train.py:12 (net.conv1)"; empty: not known.
    std::string location;
  };
  int numValues = 0;
  llvm::SmallVector<Node, 4> nodes;
  /// Value ids. For a backward graph: every operand, every result, every result gradient, in this order, then, where
  /// there are sums, the sum for each operand; `inputUsed` says which of them the nodes read (so that the tape saves
  /// only those).
  llvm::SmallVector<int, 8> inputs;
  llvm::SmallVector<bool, 8> inputUsed;
  /// Value ids; -1 where there is none (an operand without a gradient).
  llvm::SmallVector<int, 4> outputs;
};

class SubgraphBuilder;

/// The general GradientFn of a Composite: reverse mode through its forward graph.
llvm::SmallVector<int, 4> differentiateForward(SubgraphBuilder &builder, const OpDef &op, llvm::ArrayRef<int> values,
                                               llvm::ArrayRef<bool> needed);

/// Builds a Subgraph; carries metas where known so that rules can look at shapes.
class SubgraphBuilder {
public:
  /// Adds a graph input of known meta.
  int input(const TensorMeta &meta);
  /// Adds an input of narrow floats and returns it cast to float32. Operators that widen operands themselves
  /// (DTypeRuleKind::PromoteOr) read the input, or the same view of it, instead of the cast.
  int wideInput(const TensorMeta &meta);
  /// Appends `op` and returns the id of its first result; -1 and a stored error when inference fails. An equal node
  /// (operator, attributes, inputs) is used again; finish() drops the nodes that no output needs.
  int apply(OpDef op, llvm::ArrayRef<int> inputs, llvm::ArrayRef<unsigned> segments = {});
  /// As apply(), with the ids of all results; empty when inference fails.
  llvm::SmallVector<int, 2> applyAll(OpDef op, llvm::ArrayRef<int> inputs, llvm::ArrayRef<unsigned> segments = {});
  /// What is known of a value; for -1 a meta of rank 0, so that rules need not check for errors.
  const TensorMeta &meta(int value) const;
  /// Keeps `error` for finish(), which reports the first one only.
  void fail(llvm::Error error);
  /// Ends the graph and returns it, or the first error as InvalidArgument. The builder must not be used afterwards.
  llvm::Expected<Subgraph> finish(llvm::ArrayRef<int> outputs);

private:
  llvm::SmallVector<int, 2> append(OpDef op, llvm::ArrayRef<int> inputs, llvm::ArrayRef<unsigned> segments);
  int narrowOf(int value);

  Subgraph graph;
  llvm::SmallVector<TensorMeta, 16> metas;
  llvm::SmallVector<std::pair<int, int>, 4> narrowInputs; // cast values, and what was cast
  llvm::SmallVector<uint64_t, 16> hashes;                 // by node
  std::string firstError;
};

} // namespace tess
