//===- ToolkitNames.h - where libraries of the toolkit are ------*- C++ -*-===//
//
// NVIDIA's libraries are never linked: one build runs with and without a GPU.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tess::runtime::cuda {

/// Where a library of the toolkit may be: by the loader's own search, in CUDA_HOME, in /usr/local/cuda.
std::vector<std::string> toolkitNames(llvm::StringRef fileName);

} // namespace tess::runtime::cuda
