//===- RecordingGraph.h - a recording as a graph ----------------*- C++ -*-===//
#pragma once

#include "eager/tracing/Recording.h"
#include "ir/GraphBuilder.h"

namespace tess::eager {

/// Names and bounds that a user gives to the dimensions of an argument: index of a NamedDim, or -1.
using ArgumentDims = llvm::SmallVector<int, 4>;

/// Bytes that a run may take beside its arguments and variables. More is an error, or, of a goal, as little as
/// computing everything once more brings.
struct MemoryLimit {
  uint64_t bytes;
  bool isGoal;
};

/// How a recording becomes a program.
struct GraphOptions {
  /// Captured variables that are not updated become constants.
  bool captureAsConstants = false;
  /// Variables that are updated become state of the program, which starts with their values now (files).
  bool keepsState = false;
  /// Each run finds out whether sizes of arguments are equal where a composite needs it (files), not only sizes that
  /// data decides: a trace records a call at other sizes of its arguments before a program serves it.
  bool checksSizes = false;
  /// Names of arguments and outputs; defaults "arg0", "output0".
  std::vector<std::string> argumentNames, outputNames;
  std::vector<ir::NamedDim> dims;
  /// Per argument; empty: all sizes as recorded.
  std::vector<ArgumentDims> argumentDims;
  /// Arguments that the caller gives up: a result of the same shape and dtype may take over the memory of one.
  std::vector<unsigned> donated;
  /// How far the program may be from its operators.
  ir::Numerics numerics = ir::Numerics::Strict;
  /// At the recorded sizes; none: a run takes what it takes.
  std::optional<MemoryLimit> memory;
};

/// The bytes of a constant. On a device without values they are what was kept of them, or zeros.
llvm::Expected<std::string> bytesOfConstant(TensorImpl &constant);

/// Whether the function updates the captured variable of value `number`.
bool isUpdated(const Recording &recording, uint32_t number);

/// The program of a recording. Inputs: the arguments, then the captured variables that are no constants, in their
/// order. Outputs: those of the function, then the updates. State comes last in both. InvalidArgument when state would
/// change its dtype or shape.
llvm::Expected<ir::Graph> buildGraph(const Recording &recording, const GraphOptions &options);

} // namespace tess::eager
