//===- SymbolicPlan.h - gradient graphs by expressions of sizes -*- C++ -*-===//
//
// A gradient's graph has sizes of the call among its attributes. While a
// recording runs, the graph is made a second time from the expressions that the
// recording has for those sizes: where it is the same graph, the recording
// writes the expressions down, so that it holds at other sizes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/gradients/BackwardPlan.h"

namespace tess::eager {

struct Call;

/// The plan of a recorded call by expressions.
struct SymbolicPlan {
  BackwardPlanRef plan;
  /// Tracer::number() of the recording whose symbols stand in it.
  uint32_t recording = 0;
};

/// The plan of `call`, whose plan by numbers is `plan`, by the expressions that this thread's tracer has: null where
/// nothing is recorded, or no operator of the graph takes a size.
std::unique_ptr<SymbolicPlan> symbolicPlan(const Call &call, const BackwardPlan &plan);

/// The outputs of the graph of `plan`, null where it has -1. A recording writes down the operators of `symbolic`, if
/// they are those of `plan` at the recorded sizes, or data decides one of these.
llvm::Expected<Tensors> applyBackward(const BackwardPlan &plan, const SymbolicPlan *symbolic,
                                      llvm::ArrayRef<Operand> operands);

} // namespace tess::eager
