//===- CompileOptions.h - what the compiler is told -------------*- C++ -*-===//
#pragma once

#include "compiler/target/Verification.h"
#include "compiler/transforms/FittedSchedule.h"
#include "compiler/transforms/KernelBoundary.h"
#include "compiler/transforms/KernelChoice.h"
#include "runtime/schema/Executable.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tess::compiler {

/// Choices of a caller, and facts about the process: the compiler links no library and runs no code.
struct CompileOptions {
  /// "host", "x86-64-v3", "x86-64-v4", "sim" (the emulated accelerator), or "host-checked": host, for this process
  /// only, where a sanitizer sees what kernels access. A device says its own (Device::target()).
  std::string target = "host";
  /// Fuse operators into kernels. Off: one kernel per primitive (tests compare the bits).
  bool fuse = true;
  /// Bytes that computing values again must save where the most memory is in use; none: all are kept.
  std::optional<int64_t> leastSavedBytes = 1 << 20;
  /// Bytes that values of the program may take at a time, whose sizes are known; none: what they take.
  std::optional<int64_t> memoryLimit;
  /// Knowledge about library kernels; null: none, and bind decides.
  std::shared_ptr<const KernelChoice> kernels;
  /// Runs a program without inputs for FoldConstants and returns the row-major bytes of its outputs. Empty: values that
  /// depend on constants only are computed in every run.
  std::function<llvm::Expected<std::vector<std::string>>(runtime::Executable)> evaluate;
  /// Print the IR to stderr after every pass whose name contains this; empty: never.
  std::string dumpAfter;
  /// Called with a line for each rewrite that the graph's numerics allow; may be empty.
  std::function<void(const std::string &)> remark;
  /// Called for each operator that reads another's result but does not share its kernel; may be empty.
  ReportBoundary boundary;
  /// Called with what runs again because of `memoryLimit`; may be empty.
  ReportSchedule schedule;
  /// Called with the seconds of each pass, by its flag without "tess-", then of "steps" (lowering) and "code" (machine
  /// code, from the caches or new); may be empty.
  std::function<void(const std::string &name, double seconds)> timed;
  /// Run MLIR's verifier after every pass and on the kernels. It finds only our own bugs: tests compile with it, users
  /// without.
  bool verify = verifiesByDefault();
};

} // namespace tess::compiler
