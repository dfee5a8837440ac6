//===- GraphSummary.h - what a graph is made of -----------------*- C++ -*-===//
#pragma once

#include "ir/GraphBuilder.h"

#include <set>

namespace tess::ir {

/// What a graph is made of, in numbers and names.
struct GraphSummary {
  size_t numNodes = 0;                                  // operators, inputs, states and constants
  uint64_t valueBytes = 0;                              // of constants and states
  std::vector<std::string> inputs, outputs, parameters; // names; parameters: constants with a name, and states
  std::set<std::string> operators, dtypes;              // in loops, too: "conv2d"; "float32"
};

/// The summary of `graph`.
GraphSummary summarize(const Graph &graph);

} // namespace tess::ir
