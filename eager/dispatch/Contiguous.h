//===- Contiguous.h - copies that a layout asks for -------------*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// `tensor` row-major, for the operator `reader`: the tensor itself when it is so already, else a copy that is counted,
/// and a "copy" of that name in a profile.
llvm::Expected<TensorRef> contiguous(TensorImpl &tensor, llvm::StringRef reader);
/// The same, once it has its value.
llvm::Expected<TensorRef> contiguousNow(TensorImpl &tensor, llvm::StringRef reader);

/// Writes `value`, of the same shape and dtype, into the memory of `target`, which it does not share, in the order of
/// the queue. The copy is counted, and appears in a profile under the name of `reader`.
llvm::Error copyInto(TensorImpl &target, const TensorImpl &value, llvm::StringRef reader);

} // namespace tess::eager
