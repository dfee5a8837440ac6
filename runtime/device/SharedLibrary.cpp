//===- SharedLibrary.cpp - a shared library opened at run time ------------===//
#include "runtime/device/SharedLibrary.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/Twine.h"

#include <dlfcn.h>

namespace tess::runtime {

llvm::Expected<SharedLibrary> SharedLibrary::open(const char *who, llvm::ArrayRef<std::string> names,
                                                  llvm::ArrayRef<std::string> before) {
  for (const std::string &name : before)
    (void)dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string reasons;
  for (const std::string &name : names) {
    if (void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return SharedLibrary(who, name, handle);
    const char *reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason ? reason : name);
  }
  return makeError(ErrorCode::NotFound, llvm::Twine(who) + ": a library must be there, got " +
                                            (reasons.empty() ? "no name to look for" : reasons));
}

llvm::Error SharedLibrary::find(const char *name, void *&address) const {
  address = dlsym(handle, name);
  if (address)
    return llvm::Error::success();
  return makeError(ErrorCode::NotFound, llvm::Twine(who) + ": a library must have every function that is called, got " +
                                            openedName + " without " + name);
}

} // namespace tess::runtime
