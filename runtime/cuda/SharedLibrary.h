//===- SharedLibrary.h - a shared library opened at run time ----*- C++ -*-===//
//
// NVIDIA's libraries are never linked: one build runs with and without a GPU.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tess::runtime::cuda {

/// A handle: copy freely. The library stays open to the end of the process, as its threads may.
class SharedLibrary {
public:
  /// Opens the first of `names` (file names or paths) that is there. NotFound with the loader's reason for every one.
  static llvm::Expected<SharedLibrary> open(llvm::ArrayRef<std::string> names);

  /// Sets `function` to the symbol `name`. NotFound when the library has none.
  template <typename F> llvm::Error resolve(const char *name, F &function) const {
    void *address = nullptr;
    if (llvm::Error error = find(name, address))
      return error;
    function = reinterpret_cast<F>(address);
    return llvm::Error::success();
  }
  /// The name it was opened by.
  const std::string &name() const { return openedName; }

private:
  SharedLibrary(std::string name, void *handle) : openedName(std::move(name)), handle(handle) {}
  llvm::Error find(const char *name, void *&address) const;

  std::string openedName;
  void *handle;
};

/// Where a library of the toolkit may be: by the loader's own search, in CUDA_HOME, in /usr/local/cuda.
std::vector<std::string> toolkitNames(llvm::StringRef fileName);

} // namespace tess::runtime::cuda
