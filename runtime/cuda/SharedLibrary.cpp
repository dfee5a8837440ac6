//===- SharedLibrary.cpp - a shared library opened at run time ------------===//
#include "runtime/cuda/SharedLibrary.h"

#include "ops/Error.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tess::runtime::cuda {

llvm::Expected<SharedLibrary> SharedLibrary::open(llvm::ArrayRef<std::string> names) {
  std::string reasons;
  for (const std::string &name : names) {
    if (void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return SharedLibrary(name, handle);
    const char *reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason ? reason : name);
  }
  return makeError(ErrorCode::NotFound,
                   "cuda: a library must be there, got " + (reasons.empty() ? "no name to look for" : reasons));
}

llvm::Error SharedLibrary::find(const char *name, void *&address) const {
  address = dlsym(handle, name);
  if (address)
    return llvm::Error::success();
  return makeError(ErrorCode::NotFound,
                   "cuda: a library must have every function that is called, got " + openedName + " without " + name);
}

std::vector<std::string> toolkitNames(llvm::StringRef fileName) {
  std::vector<std::string> names{fileName.str()};
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    names.push_back(std::string(home) + "/lib64/" + fileName.str());
  names.push_back("/usr/local/cuda/lib64/" + fileName.str());
  return names;
}

} // namespace tess::runtime::cuda
