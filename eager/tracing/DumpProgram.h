//===- DumpProgram.h - a recording as a file --------------------*- C++ -*-===//
//
// What trace.dump of every frontend does once the call is recorded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/ProgramFile.h"
#include "eager/tracing/RecordingGraph.h"
#include "ir/GraphNames.h"

namespace tess::eager {

/// What a file holds beside the function.
struct ProgramFileOptions {
  std::vector<std::string> targets;
  compiler::Metadata metadata;
  /// The default: all that the function and its user gave.
  ir::KeptNames names = {/*outputs=*/true, /*values=*/true, /*operators=*/false, /*constants=*/true};
  /// As CompileOptions::fuse.
  bool fuse = true;
};

/// Writes the program of `recorded`, a call of the function `name`, to `path`: captured variables become constants, and
/// those that it updates become state. A program with free dimensions is first compiled and bound to the sizes at which
/// the function must run; when that fails, the error is InvalidArgument and no file is written.
llvm::Expected<compiler::WrittenProgram> dumpProgram(llvm::StringRef path, const RecordingRef &recorded,
                                                     llvm::StringRef name, GraphOptions options,
                                                     const ProgramFileOptions &file);

} // namespace tess::eager
