//===- GraphNames.h - the names that a graph keeps --------------*- C++ -*-===//
#pragma once

#include "ir/GraphBuilder.h"

namespace tess::ir {

/// Which names a graph keeps. Inputs and states always have theirs, as a call gives them by name.
struct KeptNames {
  bool outputs = true;             // else "output0", "output1"
  bool values = false;             // of results of operators that are no outputs
  bool operators = false;          // every operator without a name gets one, see keepNames()
  bool constants = false;          // of parameters
  bool outputsByOperators = false; // with `operators`: outputs that nobody named have the names of theirs
};

/// Takes all other names out of `graph`. With `kept.operators` an operator without a name becomes "fc1.linear" where
/// its location has the module path fc1, "linear" where it has none; names that come several times get numbers in the
/// order of the operators, "fc1.linear[0]". The operator of an output that
/// somebody named has the name of that.
void keepNames(Graph &graph, const KeptNames &kept);

} // namespace tess::ir
