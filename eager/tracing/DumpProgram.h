//===- DumpProgram.h - a recording as a file --------------------*- C++ -*-===//
//
// What trace.dump of every frontend does once the call is recorded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/ProgramFile.h"
#include "eager/tracing/Recording.h"

namespace tess::eager {

/// Writes the program of `recorded`, a call of the function `name`, to `path`: captured variables become constants, and
/// those that it updates become state. A program with free dimensions is first compiled and bound to the sizes at which
/// the function must run; when that fails, the error is InvalidArgument and no file is written.
llvm::Error dumpProgram(llvm::StringRef path, const RecordingRef &recorded, llvm::StringRef name, GraphOptions options,
                        llvm::ArrayRef<std::string> targets, const compiler::Metadata &metadata = {});

} // namespace tess::eager
