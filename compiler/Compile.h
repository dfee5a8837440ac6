//===- Compile.h - the one entry of the compiler ----------------*- C++ -*-===//
//
// Program in, executable out. Thread-safe: any number of threads may compile
// at once. Eager mini-graphs, traces and tess-compile all come through here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/target/KernelChoice.h"
#include "compiler/target/Verification.h"
#include "ir/GraphBuilder.h"
#include "runtime/schema/Executable.h"

#include <functional>

namespace tess::compiler {

/// The target of code that only this process runs: in a build with a sanitizer, kernels tell it of their accesses.
#if TESS_SANITIZE_ADDRESS || TESS_SANITIZE_THREAD
inline constexpr llvm::StringLiteral kTargetHere = "host-checked";
#else
inline constexpr llvm::StringLiteral kTargetHere = "host";
#endif

struct CompileOptions {
  /// "host", "x86-64-v3", "x86-64-v4", or "host-checked": host, for this process only (see kTargetHere).
  std::string target = "host";
  /// Fuse operators into kernels. Off: one kernel per primitive (tests compare the bits).
  bool fuse = true;
  /// What is known of the libraries. Null: nothing, so that bind decides.
  std::shared_ptr<const KernelChoice> kernels;
  /// Runs a program without inputs for FoldConstants: the row-major bytes of its outputs. None: what depends on
  /// constants only is computed in every run.
  std::function<llvm::Expected<std::vector<std::string>>(runtime::Executable)> evaluate;
  /// Print the IR to stderr after every pass whose name contains this; empty: never.
  std::string dumpAfter;
  /// Gets a line for each operator that reads another's result and does not share its kernel: the reason. None: never.
  std::function<void(const std::string &)> remark;
  /// Run MLIR's verifier after every pass and on the kernels. What it finds is an error of our own: users compile
  /// without, tests with.
  bool verify = verifiesByDefault();
};

/// Counters of this process, for cache_stats() and tests.
struct CompileStats {
  uint64_t programs = 0;
  uint64_t kernelsCompiled = 0;
  uint64_t kernelsFromMemory = 0;
  uint64_t kernelsFromDisk = 0;
  double seconds = 0;
};

/// Compiles `graph`; the graph is not changed. Errors carry the user's location and operator.
llvm::Expected<runtime::Executable> compile(const ir::Graph &graph, const CompileOptions &options = {});
CompileStats compileStats();

/// The folder of the disk cache ("" switches it off) and its limit in bytes.
void setObjectCache(llvm::StringRef folder, uint64_t maxBytes);
std::pair<std::string, uint64_t> objectCacheSettings();

} // namespace tess::compiler
