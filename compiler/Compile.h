//===- Compile.h - the one entry of the compiler ----------------*- C++ -*-===//
//
// Program in, executable out. Thread-safe: any number of threads may compile
// at once. Eager mini-graphs, traces and tess-compile all come through here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/CompileOptions.h"
#include "ir/GraphBuilder.h"

namespace tess::compiler {

/// Counters of this process, for cache_stats() and tests.
struct CompileStats {
  uint64_t programs = 0;
  uint64_t kernelsCompiled = 0;
  uint64_t kernelsFromMemory = 0;
  uint64_t kernelsFromDisk = 0;
  double seconds = 0;
  const char *part = ""; // that runs now: a pass, "steps" or "code"; empty: none
};

/// Compiles `graph`, which is not changed. Errors carry the user's location and operator.
llvm::Expected<runtime::Executable> compile(const ir::Graph &graph, const CompileOptions &options = {});
/// The counters since the process began.
CompileStats compileStats();

/// Sets the folder of the disk cache ("" switches it off) and its limit in bytes.
void setObjectCache(llvm::StringRef folder, uint64_t maxBytes);
/// That folder and limit.
std::pair<std::string, uint64_t> objectCacheSettings();
/// Waits until what was compiled is in the folder; IoError for what could not be written.
llvm::Error awaitObjectCache();
/// Has code for "host" be that of a lower level than the machine's, as TESS_LEVEL does: what is compiled serves
/// machines of that level. "": the machine's own. InvalidArgument for another name, and a level that the machine lacks.
llvm::Error setHostLevel(llvm::StringRef level);

} // namespace tess::compiler
