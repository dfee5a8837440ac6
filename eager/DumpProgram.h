//===- DumpProgram.h - a recording as a file --------------------*- C++ -*-===//
//
// What trace.dump of every frontend does once the call is recorded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/ProgramFile.h"
#include "eager/Recording.h"

namespace tess::eager {

/// Writes the program of `recorded`, the call of a function of this `name`: captured variables become constants, those
/// that it updates its state. One with free dimensions is compiled and bound to the sizes that the function must run
/// at first: InvalidArgument, and no file, where that fails.
llvm::Error dumpProgram(llvm::StringRef path, const RecordingRef &recorded, llvm::StringRef name, GraphOptions options,
                        llvm::ArrayRef<std::string> targets, const compiler::Metadata &metadata = {});

} // namespace tess::eager
