//===- FitProgram.cpp - a program within a limit of memory ----------------===//
#include "compiler/Compile.h"
#include "eager/tracing/TracedProgram.h"

#include <algorithm>

namespace tess::eager {

/// Compilations until a program is within a limit.
static constexpr unsigned kMaxFits = 8;
/// Parts of its memory that a program is made to do with where a limit is hard to keep: the same for each limit, so
/// that the least one that an error says is kept.
static constexpr uint64_t kShares[] = {3, 6, 1 << 20};
/// The part where it is to take little: further down, it would take many times as long.
static constexpr uint64_t kLittle = 6;

llvm::Expected<runtime::Executable> TracedProgram::compileScheduled() {
  fitting->schedule = {};
  compiler::CompileOptions options = optionsToCompile();
  options.schedule = [this](const compiler::FittedSchedule &found) { fitting->schedule = found; };
  return compiler::compile(*graph, options);
}

/// The faster one of two programs within `allowed`: cheap values are computed again in the kernels that read them, or
/// as all others are. Which of them that is, also decides for compilations with less.
llvm::Expected<runtime::Executable> TracedProgram::compileFaster() {
  keepsCheapValues = false;
  llvm::Expected<runtime::Executable> first = compileScheduled();
  if (!first)
    return first;
  compiler::FittedSchedule schedule = std::move(fitting->schedule);
  keepsCheapValues = true;
  auto parts = std::move(times);
  llvm::Expected<runtime::Executable> second = compileScheduled();
  if (fitting->plainCost == 0)
    fitting->plainCost = std::min(schedule.costOnce, fitting->schedule.costOnce);
  auto order = [&](const compiler::FittedSchedule &each) {
    return std::pair(std::max(each.peak, *allowed), each.cost());
  };
  if (!second || order(fitting->schedule) < order(schedule))
    return second;
  keepsCheapValues = false;
  fitting->schedule = std::move(schedule);
  times = std::move(parts);
  return first;
}

/// Compiles the graph such that values take `bytes` at a time, as far as possible; none: as it is. `choice`: whether
/// the faster way is looked for, or the last one taken.
llvm::Error TracedProgram::compileWithin(std::optional<int64_t> bytes, Choice choice) {
  allowed = bytes;
  llvm::Expected<runtime::Executable> exe = bytes && choice == Choice::Faster ? compileFaster() : compileScheduled();
  if (!exe)
    return exe.takeError();
  bindings.clear();
  if (llvm::Error e = finish(std::move(*exe), {}))
    return e;
  fitting->taken = memory().total();
  return llvm::Error::success();
}

/// Compiles the graph again until a run takes no more than a limit: how much the plan of memory adds to what values
/// take is known only then. Where it does not come to that, the program is the one that takes the least.
llvm::Error TracedProgram::fit(MemoryLimit limit) {
  const runtime::MemoryEstimate plain = memory();
  fitting = Fitting{limit, plain.total(), plain.arena, plain.total(), 0, {}};
  auto target = int64_t(limit.bytes) - int64_t(plain.total() - plain.arena);
  if (limit.isGoal)
    target = std::max<int64_t>(target, int64_t(plain.arena / kLittle));
  const unsigned rounds = limit.isGoal ? 1 : kMaxFits;
  for (unsigned round = 0; fitting->taken > limit.bytes && target > 0 && round < rounds; ++round) {
    if (llvm::Error e = compileWithin(target, round ? Choice::Last : Choice::Faster))
      return e;
    target -= std::max(int64_t(fitting->taken - limit.bytes), target / 32);
  }
  return fitting->isKept() ? llvm::Error::success() : fitToShares();
}

/// Compiles the graph with less and less memory, until a run takes no more than the limit or the least that is known.
llvm::Error TracedProgram::fitToShares() {
  uint64_t least = fitting->plain;
  std::optional<int64_t> best;
  const uint64_t arena = fitting->arena;
  for (uint64_t share : kShares) {
    const auto target = int64_t(std::max<uint64_t>(arena / share, 1));
    if (llvm::Error e = compileWithin(target, Choice::Faster))
      return e;
    if (fitting->isKept())
      return llvm::Error::success();
    if (fitting->taken < least) {
      least = fitting->taken;
      best = target;
    }
  }
  return fitting->taken == least ? llvm::Error::success() : compileWithin(best, Choice::Faster);
}

} // namespace tess::eager
