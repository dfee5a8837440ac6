//===- ValueMetas.h - dtypes and shapes of a program's values -------------===//
//
// Without a binding: for what is asked before bind, or beside it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Executable.h"

#include <vector>

namespace tess::runtime {

/// What to do when an operator's inference fails: an error ends the whole; success leaves the results empty and goes
/// on.
using InferenceFailed = llvm::function_ref<llvm::Error(llvm::Error)>;

/// The metas of all values, by value, from those of the inputs and of the constants. Sizes may be unknown
/// (`kUnknown`).
llvm::Expected<std::vector<TensorMeta>> inferValueMetas(const Executable &exe, llvm::ArrayRef<TensorMeta> inputs,
                                                        InferenceFailed failed);

} // namespace tess::runtime
