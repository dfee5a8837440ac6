//===- SharedLibrary.h - a shared library opened at run time ----*- C++ -*-===//
//
// For libraries that few programs need, or few machines have: a start pays
// nothing for them, and one build runs with and without.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::runtime {

/// A handle: copy freely. The library stays open to the end of the process, as its threads may.
class SharedLibrary {
public:
  /// Opens the first of `names` (file names or paths) that is there. NotFound with the loader's reason for every one;
  /// `who` wants it, which errors begin with, and is a literal. Libraries `before` are opened first, those that are
  /// there: the loader looks in our own RPATH for what we open, and not for what that needs.
  static llvm::Expected<SharedLibrary> open(const char *who, llvm::ArrayRef<std::string> names,
                                            llvm::ArrayRef<std::string> before = {});

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
  SharedLibrary(const char *who, std::string name, void *handle)
      : who(who), openedName(std::move(name)), handle(handle) {}
  llvm::Error find(const char *name, void *&address) const;

  const char *who;
  std::string openedName;
  void *handle;
};

} // namespace tess::runtime
