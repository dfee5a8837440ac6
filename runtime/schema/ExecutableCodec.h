//===- ExecutableCodec.h - an executable as bytes ---------------*- C++ -*-===//
//
// Executable <-> the `exec` section of a `.tess` file (Executable.proto), and
// the checks that make one safe to bind: a bad file is an error, never a crash.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Executable.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::runtime {

/// The bytes of an `exec` section.
std::string serializeExecutable(const Executable &executable);

/// Reads and validates. `what` opens every message ("digits.tess: executable host").
/// DataLoss: damaged bytes. Unimplemented: of another version or with a feature that this build does not know, which
/// the message names.
llvm::Expected<Executable> parseExecutable(llvm::StringRef bytes, llvm::StringRef what);

/// Every index, count, order and range that bind relies on: each value is defined once and before its use, operators
/// get as many operands as their records say, images and entries exist, a step's operator is that of the node which
/// gives its results their shapes. `what` opens the message.
llvm::Error validate(const Executable &executable, llvm::StringRef what);

} // namespace tess::runtime
