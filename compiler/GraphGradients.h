//===- GraphGradients.h - gradients of a graph ------------------*- C++ -*-===//
//
// For programs that want gradients without a tape: what one machine traced, a
// process without Python differentiates and trains on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphBuilder.h"

namespace tess::compiler {

/// Appends to the outputs of `graph` the gradient of its output named `output`, summed over the output's elements (the
/// seed is one), for each float input: "grad_<input>", with the input's shape and dtype; zeros where the output does
/// not depend on it. Reverse mode over the records' backward graphs, in the order of the tape. NotFound for another
/// name, InvalidArgument for an output that is no float. Broadcasting is undone by sizes: compile() refuses the
/// gradient of an operator that broadcasts when a size is free.
llvm::Error differentiate(ir::Graph &graph, llvm::StringRef output);

} // namespace tess::compiler
