//===- Apply.h - operators on tensors of the C++ API ------------*- C++ -*-===//
//
// What every function of functional.h takes: the record's rule completes the
// attributes, then the operator goes down eager's stack.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

namespace tessera {

/// The results of `op` that a user sees. A tensor that is not defined is an optional operand not given. `segments`:
/// operands per group, needed when a group is variadic.
std::vector<Tensor> applyAll(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {});
/// The first of them.
Tensor apply(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {});

} // namespace tessera
