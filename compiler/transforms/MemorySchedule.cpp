//===- MemorySchedule.cpp - operators within a limit of memory ------------===//
#include "compiler/transforms/MemorySchedule.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <optional>

namespace tess::compiler {

namespace {

/// Operators that run again for each one of the program, at most: beyond, the limit is too small.
constexpr size_t kMostRepetitions = 16;
constexpr unsigned kNone = ~0u;

/// How a value that may be dropped is scored.
struct Score {
  double distance;     // exponent of the time to the next reader
  bool withDependents; // whether what was dropped and needs it counts, as well as what it needs
};
constexpr Score kScores[] = {{0, false}, {0.25, false}, {0.5, false}, {2.0 / 3, false}, {1, false},
                             {2, false}, {0.5, true},   {1, true},    {2, true}};

class Paper {
public:
  Paper(const ScheduleProblem &problem, int64_t limit, Score score)
      : problem(problem), limit(limit), score(score), values(problem.bytes.size()), marks(values.size()) {
    for (auto [number, op] : llvm::enumerate(problem.ops)) {
      for (unsigned value : op.results)
        values[value].maker = unsigned(number);
      for (unsigned value : op.operands)
        values[value].reads.push_back(unsigned(number));
    }
    for (auto [number, value] : llvm::enumerate(values))
      if (value.maker != kNone)
        for (unsigned operand : problem.ops[value.maker].operands)
          values[operand].dependents.push_back(unsigned(number));
    schedule.again.resize(problem.ops.size());
  }

  Schedule run() {
    for (position = 0; position < problem.ops.size(); ++position)
      runFirst(problem.ops[position]);
    return std::move(schedule);
  }

private:
  struct Value {
    unsigned maker = kNone;
    Numbers reads, dependents;
    unsigned pins = 0; // operators that are about to read it
    bool isHeld = false, isMade = false;
  };

  /// The first reader from the present position on.
  std::optional<unsigned> nextRead(const Value &value) const {
    const unsigned *found = llvm::lower_bound(value.reads, position);
    return found == value.reads.end() ? std::nullopt : std::optional(*found);
  }

  void runFirst(const ScheduledOp &op) {
    hold(op.operands);
    int64_t bytes = 0;
    for (unsigned number : op.results)
      bytes += problem.bytes[number];
    makeRoom(bytes - reusedBytes(op, bytes));
    add(bytes, reusedBytes(op, bytes));
    for (unsigned number : op.results)
      values[number].isHeld = values[number].isMade = true;
    ++position; // what nothing reads behind this operator goes
    letGo(op.operands);
    letGo(op.results);
    --position;
  }

  void add(int64_t bytes, int64_t reused) {
    live += bytes;
    schedule.peak = std::max(schedule.peak, live - reused);
  }

  /// Bytes of operands that nothing reads behind this operator: its results may take their memory.
  int64_t reusedBytes(const ScheduledOp &op, int64_t room) const {
    if (!op.reusesOperands)
      return 0;
    int64_t reused = 0;
    for (unsigned number : op.operands)
      if (const Value &value = values[number]; value.pins == 1 && value.reads.back() <= position)
        reused += problem.bytes[number];
    return std::min(room, reused);
  }

  /// Has values in memory, and pins them.
  void hold(llvm::ArrayRef<unsigned> numbers) {
    for (unsigned number : numbers) {
      if (!values[number].isHeld)
        runAgain(number);
      ++values[number].pins;
    }
  }

  void runAgain(unsigned number) {
    const ScheduledOp &op = problem.ops[values[number].maker];
    hold(op.operands);
    Numbers missing;
    int64_t bytes = 0;
    for (unsigned result : op.results)
      if (!values[result].isHeld && (result == number || nextRead(values[result]))) {
        missing.push_back(result);
        bytes += problem.bytes[result];
      }
    makeRoom(bytes);
    add(bytes, 0);
    for (unsigned result : missing)
      values[result].isHeld = true;
    schedule.again[position].push_back({values[number].maker, missing});
    schedule.cost += op.cost;
    ++repetitions;
    letGo(op.operands);
  }

  /// Unpins values, and drops what has no further reader.
  void letGo(llvm::ArrayRef<unsigned> numbers) {
    for (unsigned number : numbers) {
      Value &value = values[number];
      value.pins -= value.pins > 0;
      if (value.isHeld && !value.pins && !nextRead(value) && !isNeededToCompute(number))
        drop(number);
    }
  }

  void drop(unsigned number) {
    values[number].isHeld = false;
    live -= problem.bytes[number];
  }

  /// Whether a value that is not in memory, and has a reader, needs this one, which cannot be computed again.
  bool isNeededToCompute(unsigned number) {
    ++mark;
    if (costOfAgain(number))
      return false;
    ++mark;
    return isNeededBehind(number);
  }

  bool isNeededBehind(unsigned number) {
    return llvm::any_of(values[number].dependents, [&](unsigned other) {
      const Value &value = values[other];
      if (value.isHeld || !value.isMade || marks[other] == mark)
        return false;
      marks[other] = mark;
      return nextRead(value) || isNeededBehind(other);
    });
  }

  /// The cost of all operators that must run to have the value again; none: it cannot be had.
  std::optional<double> costOfAgain(unsigned number) {
    const ScheduledOp &op = problem.ops[values[number].maker];
    if (!op.mayRepeat)
      return std::nullopt;
    double cost = op.cost;
    for (unsigned operand : op.operands) {
      if (values[operand].isHeld || marks[operand] == mark)
        continue;
      marks[operand] = mark;
      std::optional<double> more = costOfAgain(operand);
      if (!more)
        return std::nullopt;
      cost += *more;
    }
    return cost;
  }

  /// The cost of all operators that must run after this one to have dropped values again that are read.
  double costOfDependents(unsigned number) {
    double cost = 0;
    for (unsigned other : values[number].dependents) {
      const Value &value = values[other];
      if (value.isHeld || !value.isMade || marks[other] == mark)
        continue;
      marks[other] = mark;
      const double behind = costOfDependents(other);
      if (behind > 0 || nextRead(value))
        cost += behind + problem.ops[value.maker].cost;
    }
    return cost;
  }

  /// Drops values until `bytes` fit, while any may go.
  void makeRoom(int64_t bytes) {
    while (bytes > limit - live && repetitions < kMostRepetitions * problem.ops.size()) {
      unsigned best = kNone;
      double least = std::numeric_limits<double>::infinity();
      for (unsigned number = 0; number < values.size(); ++number)
        if (std::optional<double> found = scoreOf(number); found && *found < least) {
          best = number;
          least = *found;
        }
      if (best == kNone)
        return;
      drop(best);
    }
  }

  /// The lower, the rather the value may go; none: it must stay.
  std::optional<double> scoreOf(unsigned number) {
    const Value &value = values[number];
    if (!value.isHeld || value.pins || problem.bytes[number] == 0)
      return std::nullopt;
    std::optional<unsigned> next = nextRead(value);
    if (!next)
      return std::nullopt;
    ++mark;
    std::optional<double> cost = costOfAgain(number);
    if (!cost)
      return std::nullopt;
    if (score.withDependents)
      *cost += costOfDependents(number);
    return *cost / (double(problem.bytes[number]) * std::pow(*next - position + 1, score.distance));
  }

  const ScheduleProblem &problem;
  const int64_t limit;
  const Score score;
  std::vector<Value> values;
  std::vector<unsigned> marks; // values that the present walk has seen
  unsigned mark = 0;
  Schedule schedule;
  int64_t live = 0;
  unsigned position = 0;
  size_t repetitions = 0;
};

} // namespace

Schedule scheduleWithin(const ScheduleProblem &problem, int64_t limit) {
  Schedule best = Paper(problem, std::numeric_limits<int64_t>::max(), kScores[0]).run(); // nothing runs again
  auto order = [&](const Schedule &each) { return std::pair(std::max(each.peak, limit), each.cost); };
  if (best.peak <= limit)
    return best;
  for (Score score : kScores)
    if (Schedule found = Paper(problem, limit, score).run(); order(found) < order(best))
      best = std::move(found);
  return best;
}

} // namespace tess::compiler
