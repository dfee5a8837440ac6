//===- ToolkitNames.cpp - where libraries of the toolkit are --------------===//
#include "runtime/cuda/ToolkitNames.h"

#include <cstdlib>

namespace tess::runtime::cuda {

std::vector<std::string> toolkitNames(llvm::StringRef fileName) {
  std::vector<std::string> names{fileName.str()};
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    names.push_back(std::string(home) + "/lib64/" + fileName.str());
  names.push_back("/usr/local/cuda/lib64/" + fileName.str());
  return names;
}

} // namespace tess::runtime::cuda
