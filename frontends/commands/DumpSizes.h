//===- DumpSizes.h - sizes of named dimensions, as a user gives them -*- C++ -*-===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"
#include "runtime/schema/Executable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tess::commands {

/// Sizes by the name of a dimension, and in the order of Executable::symbols.
using Dims = llvm::StringMap<int64_t>;
using Sizes = std::vector<int64_t>;

/// Reads texts like "batch=7".
llvm::Expected<Dims> parseDims(const std::vector<std::string> &texts);
/// Checks that the executable has dimensions of these names.
llvm::Error checkDims(const runtime::Executable &executable, const Dims &dims);
/// The given sizes, and the lowest of other dimensions.
Sizes sizesFor(const runtime::Executable &executable, const Dims &dims);
/// The metas of the inputs for these sizes. Dimensions that have neither a name nor a number count as 1.
Metas inputsAt(const runtime::Executable &executable, const Sizes &sizes);

} // namespace tess::commands
