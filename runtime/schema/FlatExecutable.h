//===- FlatExecutable.h - an executable for its own build -------*- C++ -*-===//
//
// What the caches keep: fields in the order of their declaration, numbers as
// they lie in memory. Only the build that wrote them can read them, which it
// does several times faster than the `exec` section of a file that must last
// (ExecutableCodec.h): the first call of an operator waits for it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Executable.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::runtime {

/// The bytes for readFlat() of the same build.
std::string writeFlat(const Executable &executable);

/// Reads and validates; DataLoss when that fails. `what` opens the message. `place` (may be null) is called with each
/// image, of which all but the code is known, and gives it its code.
llvm::Expected<Executable> readFlat(llvm::StringRef bytes, llvm::StringRef what,
                                    llvm::function_ref<llvm::Error(Image &)> place = nullptr);

} // namespace tess::runtime
