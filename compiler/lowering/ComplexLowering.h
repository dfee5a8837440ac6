//===- ComplexLowering.h - complex functions as real nodes ------*- C++ -*-===//
//
// A complex number is one value where it is loaded, stored and selected; what
// computes with it takes it apart and computes with floats.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/NodeBuilder.h"

namespace tess::compiler {

/// Appends `fn` of complex nodes of one dtype; gives the number of its node, which is complex, a float (Abs), or a
/// bool.
int16_t applyComplex(NodeBuilder &nodes, ScalarFn fn, llvm::ArrayRef<int16_t> args);

} // namespace tess::compiler
