//===- Subscript.h - x[key] and x[key] = value ------------------*- C++ -*-===//
//
// Basic keys give views. Arrays of ints and masks select elements from the view
// that the rest of the key gives.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/subscript/SubscriptKey.h"

namespace tess::eager {

using ViewOps = llvm::SmallVector<OpDef, 1>;
/// The operators that make the view for the ints, slices and new axes of the key.
ViewOps viewOps(const Key &key);
/// A view of the tensor; if the key takes everything, another variable with the same value.
llvm::Expected<TensorRef> viewBy(TensorImpl &tensor, llvm::ArrayRef<OpDef> ops);

/// What the key takes.
llvm::Expected<TensorRef> getItem(TensorImpl &tensor, Key &&key);
/// Replaces what the key takes by the value, which broadcasts to it and is converted to the dtype of x.
llvm::Error setItem(TensorImpl &x, Key &&key, TensorRef value);

} // namespace tess::eager
