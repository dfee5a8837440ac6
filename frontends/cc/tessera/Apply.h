//===- Apply.h - operators on tensors of the C++ API ------------*- C++ -*-===//
//
// What every function of functional.h takes: the record's rule completes the
// attributes, then the operator goes down eager's stack.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

namespace tessera {

/// The results of `op` without hidden ones. An undefined tensor stands for an optional operand that is not given.
/// `segments`: operands per group, needed when a group is variadic.
std::vector<Tensor> applyAll(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {});
/// The first result of applyAll().
Tensor apply(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {});

namespace detail {
/// Lists of the C++ API as those of eager mode, and back.
tess::eager::Tensors refs(llvm::ArrayRef<Tensor> tensors);
std::vector<Tensor> tensorsOf(tess::eager::Tensors refs);
} // namespace detail

} // namespace tessera
