//===- GraphGradients.h - gradients of a graph ------------------*- C++ -*-===//
//
// For programs that want gradients without a tape: what one machine traced, a
// process without Python differentiates and trains on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphBuilder.h"

namespace tess::compiler {

/// Appends to `graph` an output "grad_<input>" for each float input: the gradient of the output named `output`, summed
/// over its elements (the seed is one), in the input's shape and dtype, and zeros where the output does not depend on
/// that input. Reverse mode over the records' backward graphs, in the order of the tape. NotFound for another
/// name, InvalidArgument for an output that is no float. Broadcasting is undone by sizes: compile() refuses the
/// gradient of an operator that broadcasts when a size is free.
llvm::Error differentiate(ir::Graph &graph, llvm::StringRef output);

} // namespace tess::compiler
