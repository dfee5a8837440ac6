//===- FitProgram.cpp - a program within a limit of memory ----------------===//
#include "compiler/Compile.h"
#include "eager/tracing/TracedProgram.h"

#include <algorithm>

namespace tess::eager {

/// Compilations until a program is within a limit.
static constexpr unsigned kMaxFits = 8;
/// The part of its memory that a program is made to do with where it is to take little.
static constexpr uint64_t kLeastShare = 6;

/// Compiles the graph again until a run takes no more than a limit: how much the plan of memory adds to what values
/// take is known only then. ResourceExhausted, with the least that was found, where it does not come to that.
llvm::Error TracedProgram::fit(MemoryLimit limit) {
  uint64_t taken = memory().total(), least = taken;
  const uint64_t arena = memory().arena;
  auto target = int64_t(limit.bytes) - int64_t(taken - arena);
  if (limit.isGoal) // further down, the program would take many times as long
    target = std::max(target, int64_t(arena / kLeastShare));
  for (unsigned round = 0; taken > limit.bytes && target > 0 && round < (limit.isGoal ? 1 : kMaxFits); ++round) {
    allowed = target;
    llvm::Expected<runtime::Executable> exe = compiler::compile(*graph, optionsToCompile());
    if (!exe)
      return exe.takeError();
    bindings.clear();
    if (llvm::Error e = finish(std::move(*exe), {}))
      return e;
    taken = memory().total();
    least = std::min(least, taken);
    target -= std::max(int64_t(taken - limit.bytes), target / 32);
  }
  if (taken <= limit.bytes || limit.isGoal)
    return llvm::Error::success();
  return makeError(ErrorCode::ResourceExhausted, "trace: memory_limit must be at least " + std::to_string(least) +
                                                     " bytes, got " + std::to_string(limit.bytes));
}

} // namespace tess::eager
