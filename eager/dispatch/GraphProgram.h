//===- GraphProgram.h - the operators of a graph as one ---------*- C++ -*-===//
//
// A graph has small operators, which one by one read and write memory again and
// again. Where nothing watches them, its operators are one, with a program of its
// own, in which they are fused as in any graph. Bits are those of the operators.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"
#include "ops/graphs/Subgraph.h"

#include <optional>

namespace tess::eager {

/// What runs in the place of the operators of a graph.
struct GraphProgram {
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

/// Fewer calls of the same shapes should compile nothing.
constexpr unsigned kFewRuns = 8;

/// Whether the operators of a graph may be one, as far as they tell, and are worth it: at least two are kernels.
bool mayBeProgram(const Subgraph &graph);
/// Whether no attribute of an operator puts one of many numbers into the graph that it is made of, as a slice does.
bool hasFewGraphs(const OpDef &op);

/// Whether this thread may make one more program of graphs of the operator, each of which has other numbers in it, for
/// calls with these operands.
bool mayHaveProgram(const OpInfo &info, const OpDef &program, llvm::ArrayRef<TensorMeta> operands);

/// Symbols for the sizes of operands, equal ones the same. 0 and 1 have none: their graphs are others.
struct SizeSymbols {
  llvm::SmallVector<int64_t, 8> sizes; // by symbol

  explicit SizeSymbols(llvm::ArrayRef<TensorMeta> operands);
  /// The symbol of a size; -1: it has none.
  int64_t find(int64_t size) const;
  using MakeGraph = llvm::function_ref<llvm::Expected<Subgraph>(llvm::ArrayRef<TensorMeta> operands)>;
  /// `graph`, which `make` gives for `operands`, with symbols for its sizes; none: for other sizes it is another one.
  std::optional<Subgraph> in(const Subgraph &graph, llvm::ArrayRef<TensorMeta> operands, MakeGraph make) const;
};

/// An input that the program reads without the axes along which it repeats, and one of its true shape.
struct Repeated {
  int input, like;
};

/// The program of a graph, whose sizes are symbols in `bySymbols`, for calls with these inputs. None: an operator wants
/// a size that no operand has.
std::optional<GraphProgram> writeProgram(const Subgraph &graph, const Subgraph &bySymbols, const SizeSymbols &symbols,
                                         llvm::ArrayRef<Operand> inputs, std::optional<Repeated> repeated);
/// The program of a graph for the sizes of these inputs alone.
GraphProgram writeSizedProgram(const Subgraph &graph, llvm::ArrayRef<Operand> inputs);

/// What `program` reads of the inputs of its graph.
llvm::SmallVector<Operand, 8> operandsOf(const GraphProgram &program, llvm::ArrayRef<Operand> inputs);
/// The outputs of the graph of `program`, null where it has -1.
llvm::Expected<Tensors> run(const GraphProgram &program, llvm::ArrayRef<Operand> inputs);

/// Whether `symbolic` is `graph` where its symbols are these sizes.
bool isSameAt(const Subgraph &graph, const Subgraph &symbolic, llvm::function_ref<int64_t(uint32_t symbol)> sizeOf);

} // namespace tess::eager
