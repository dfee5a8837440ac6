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
constexpr size_t kMostRepetitions = 8;
constexpr unsigned kNone = ~0u;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How a value that may be dropped is scored.
struct Score {
  double distance;     // exponent of the time to the next reader
  bool withDependents; // whether what was dropped and needs it counts, as well as what it needs
};
constexpr Score kScores[] = {{0, false}, {0.25, false}, {0.5, false}, {2.0 / 3, false}, {1, false},
                             {2, false}, {0.5, true},   {1, true},    {2, true}};

class Paper {
public:
  /// `mostCost`: beyond it, the schedule is of no use.
  Paper(const ScheduleProblem &problem, int64_t limit, Score score, double mostCost = kInfinity)
      : problem(problem), limit(limit), score(score), mostCost(mostCost), values(problem.bytes.size()),
        marks(values.size()) {
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
    for (position = 0; position < problem.ops.size() && !isHopeless(); ++position)
      runFirst(problem.ops[position]);
    if (isHopeless())
      schedule.peak = std::numeric_limits<int64_t>::max();
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
      if (!values[number].isHeld && !isHopeless())
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

  /// Unpins values, and drops what nothing needs any more.
  void letGo(llvm::ArrayRef<unsigned> numbers) {
    for (unsigned number : numbers) {
      Value &value = values[number];
      value.pins -= value.pins > 0;
      ++mark;
      if (value.isHeld && !value.pins && nextNeed(number) == kNone)
        drop(number);
    }
  }

  void drop(unsigned number) {
    values[number].isHeld = false;
    live -= problem.bytes[number];
  }

  /// The first operator from the present position on that reads the value, or one that was dropped and is computed from
  /// it; kNone: there is none.
  unsigned nextNeed(unsigned number) {
    unsigned first = nextRead(values[number]).value_or(kNone);
    for (unsigned other : values[number].dependents) {
      const Value &value = values[other];
      if (value.isHeld || !value.isMade || marks[other] == mark)
        continue;
      marks[other] = mark;
      first = std::min(first, nextNeed(other));
    }
    return first;
  }

  /// The cost of all operators that must run to have the value again; infinite where it cannot be had, or costs more
  /// than `most`.
  double costOfAgain(unsigned number, double most = kInfinity) {
    const ScheduledOp &op = problem.ops[values[number].maker];
    double cost = op.mayRepeat ? op.cost : kInfinity;
    for (unsigned operand : op.operands) {
      if (cost > most)
        return kInfinity;
      if (values[operand].isHeld || marks[operand] == mark)
        continue;
      marks[operand] = mark;
      cost += costOfAgain(operand, most - cost);
    }
    return cost;
  }

  /// The cost of all operators that must run after this one to have dropped values again that are read; above `most`
  /// any number above it.
  double costOfDependents(unsigned number, double most) {
    double cost = 0;
    for (unsigned other : values[number].dependents) {
      const Value &value = values[other];
      if (value.isHeld || !value.isMade || marks[other] == mark || cost > most)
        continue;
      marks[other] = mark;
      const double behind = costOfDependents(other, most - cost);
      if (behind > 0 || nextRead(value))
        cost += behind + problem.ops[value.maker].cost;
    }
    return cost;
  }

  /// Drops values until `bytes` fit, while any may go.
  void makeRoom(int64_t bytes) {
    while (bytes > limit - live && !isHopeless()) {
      unsigned best = kNone;
      double least = kInfinity;
      for (unsigned number = 0; number < values.size(); ++number)
        if (const double found = scoreOf(number, least); found < least) {
          best = number;
          least = found;
        }
      if (best == kNone)
        return;
      drop(best);
    }
  }

  bool isHopeless() const { return schedule.cost > mostCost || repetitions >= kMostRepetitions * problem.ops.size(); }

  /// The lower, the rather the value may go; infinite where it must stay, or is not below `least`.
  double scoreOf(unsigned number, double least) {
    const Value &value = values[number];
    if (!value.isHeld || value.pins || problem.bytes[number] == 0)
      return kInfinity;
    ++mark;
    const unsigned next = nextNeed(number);
    if (next == kNone)
      return kInfinity;
    const double weight = double(problem.bytes[number]) * std::pow(next - position + 1, score.distance);
    ++mark;
    double cost = costOfAgain(number, least * weight);
    if (score.withDependents && cost < least * weight)
      cost += costOfDependents(number, least * weight - cost);
    return cost / weight;
  }

  const ScheduleProblem &problem;
  const int64_t limit;
  const Score score;
  const double mostCost;
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
  for (Score score : kScores) {
    const double mostCost = best.peak <= limit ? best.cost : kInfinity;
    if (Schedule found = Paper(problem, limit, score, mostCost).run(); order(found) < order(best))
      best = std::move(found);
  }
  return best;
}

} // namespace tess::compiler
