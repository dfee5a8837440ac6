#include "compiler/transforms/MemorySchedule.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>

#include <random>

using namespace tess::compiler;

namespace {

/// Adds a value of so many bytes.
unsigned addValue(ScheduleProblem &problem, int64_t bytes) {
  problem.bytes.push_back(bytes);
  return unsigned(problem.bytes.size()) - 1;
}

void addOp(ScheduleProblem &problem, Numbers operands, Numbers results, double cost, bool mayRepeat = true) {
  ScheduledOp &op = problem.ops.emplace_back();
  op.operands = std::move(operands);
  op.results = std::move(results);
  op.cost = cost;
  op.mayRepeat = mayRepeat;
}

/// Requires that what runs again has its operands: made before, by the last run or an earlier one.
void requireOrder(const ScheduleProblem &problem, const Schedule &schedule) {
  std::vector<bool> isMade(problem.bytes.size());
  double cost = 0;
  auto run = [&](const ScheduledOp &op, llvm::ArrayRef<unsigned> results) {
    for (unsigned operand : op.operands)
      REQUIRE(isMade[operand]);
    for (unsigned result : results) {
      REQUIRE(llvm::is_contained(op.results, result));
      isMade[result] = true;
    }
  };
  for (auto [number, op] : llvm::enumerate(problem.ops)) {
    for (const ScheduledRun &again : schedule.again[number]) {
      REQUIRE(again.op < number);
      REQUIRE(problem.ops[again.op].mayRepeat);
      run(problem.ops[again.op], again.results);
      cost += problem.ops[again.op].cost;
    }
    run(op, op.results);
  }
  REQUIRE(cost == Approx(schedule.cost));
}

/// The most bytes at once where each value is kept from the run that makes it to the last one that reads that instance.
int64_t peakOf(const ScheduleProblem &problem, const Schedule &schedule) {
  struct Instance {
    unsigned value;
    size_t first, last;
  };
  std::vector<Instance> instances;
  std::vector<size_t> latest(problem.bytes.size());
  size_t time = 0;
  auto run = [&](const ScheduledOp &op, llvm::ArrayRef<unsigned> results) {
    for (unsigned operand : op.operands)
      instances[latest[operand]].last = time;
    for (unsigned result : results) {
      latest[result] = instances.size();
      instances.push_back({result, time, time});
    }
    ++time;
  };
  for (auto [number, op] : llvm::enumerate(problem.ops)) {
    for (const ScheduledRun &again : schedule.again[number])
      run(problem.ops[again.op], again.results);
    run(op, op.results);
  }
  int64_t peak = 0;
  for (size_t at = 0; at < time; ++at) {
    int64_t live = 0;
    for (const Instance &each : instances)
      live += each.first <= at && at <= each.last ? problem.bytes[each.value] : 0;
    peak = std::max(peak, live);
  }
  return peak;
}

/// A training step of layers: each makes a value of `bytes`, which its gradient reads.
ScheduleProblem layers(unsigned count, int64_t bytes) {
  ScheduleProblem problem;
  Numbers made;
  for (unsigned layer = 0; layer < count; ++layer) {
    const unsigned value = addValue(problem, bytes);
    addOp(problem, made.empty() ? Numbers() : Numbers{made.back()}, {value}, 1);
    made.push_back(value);
  }
  unsigned gradient = addValue(problem, bytes);
  addOp(problem, {made.back()}, {gradient}, 1);
  for (unsigned layer = count; layer-- > 0;) {
    const unsigned next = addValue(problem, bytes);
    addOp(problem, {gradient, made[layer]}, {next}, 2);
    gradient = next;
  }
  return problem;
}

} // namespace

TEST_CASE("nothing runs again where all values fit") {
  const ScheduleProblem problem = layers(10, 8);
  const Schedule schedule = scheduleWithin(problem, 1000);
  CHECK(schedule.cost == 0);
  CHECK(schedule.peak == 12 * 8);
  CHECK(peakOf(problem, schedule) == schedule.peak);
}

TEST_CASE("each layer runs again once at most within a half and a third of the memory") {
  const ScheduleProblem problem = layers(48, 8);
  const int64_t all = scheduleWithin(problem, 1 << 20).peak;
  for (int64_t part : {2, 3}) {
    const Schedule schedule = scheduleWithin(problem, all / part);
    CHECK(schedule.peak <= all / part);
    CHECK(peakOf(problem, schedule) <= all / part);
    requireOrder(problem, schedule);
    CHECK(schedule.cost <= 48);
    // As many layers as have no place run again at least.
    const int64_t places = all / part / 8;
    CHECK(schedule.cost >= double(48 - places));
  }
}

TEST_CASE("a layer's memory grows with the logarithm where it must") {
  const ScheduleProblem problem = layers(64, 1);
  const Schedule schedule = scheduleWithin(problem, 12);
  CHECK(schedule.peak <= 12);
  requireOrder(problem, schedule);
}

TEST_CASE("where no schedule fits, that with the smallest peak is given") {
  const ScheduleProblem problem = layers(8, 10);
  const Schedule schedule = scheduleWithin(problem, 1);
  CHECK(schedule.peak >= 30);
  CHECK(schedule.peak <= 50);
  requireOrder(problem, schedule);
}

TEST_CASE("a value whose operator may not repeat stays while something needs it") {
  ScheduleProblem problem;
  const unsigned drawn = addValue(problem, 8), masked = addValue(problem, 8), other = addValue(problem, 8),
                 last = addValue(problem, 0);
  addOp(problem, {}, {drawn}, 1, /*mayRepeat=*/false);
  addOp(problem, {drawn}, {masked}, 1);
  addOp(problem, {}, {other}, 1);
  addOp(problem, {other}, {last}, 1);
  addOp(problem, {masked}, {}, 1);
  const Schedule schedule = scheduleWithin(problem, 16);
  CHECK(schedule.peak <= 16);
  requireOrder(problem, schedule);
  CHECK(llvm::none_of(schedule.again, [](const auto &runs) {
    return llvm::any_of(runs, [](const ScheduledRun &run) { return run.op == 0; });
  }));
}

TEST_CASE("what several dropped values are made of is not made again for each of them") {
  // Blocks with a shortcut: each sum is made of the one before, by a call and by a kernel.
  ScheduleProblem problem;
  Numbers sums = {addValue(problem, 8)}, products;
  addOp(problem, {}, {sums[0]}, 1);
  for (unsigned block = 0; block < 24; ++block) {
    products.push_back(addValue(problem, 8));
    addOp(problem, {sums.back()}, {products.back()}, 10);
    const unsigned sum = addValue(problem, 8);
    addOp(problem, {products.back(), sums.back()}, {sum}, 1);
    sums.push_back(sum);
  }
  unsigned gradient = sums.back();
  for (unsigned block = 24; block-- > 0;) {
    const unsigned next = addValue(problem, 8);
    addOp(problem, {gradient, products[block], sums[block]}, {next}, 20);
    gradient = next;
  }
  const int64_t all = scheduleWithin(problem, 1 << 20).peak;
  for (int64_t part : {2, 3, 4}) {
    const Schedule schedule = scheduleWithin(problem, all / part);
    CHECK(schedule.peak <= all / part);
    requireOrder(problem, schedule);
    CHECK(schedule.cost <= 24 * 11);
  }
}

TEST_CASE("random graphs run in order, and take what the schedule says") {
  std::mt19937 random(7);
  auto below = [&](unsigned bound) { return random() % bound; };
  for (unsigned trial = 0; trial < 300; ++trial) {
    ScheduleProblem problem;
    for (unsigned number = 0; number < 5 + below(30); ++number) {
      Numbers operands, results;
      for (unsigned each = 0; each < below(4) && !problem.bytes.empty(); ++each)
        if (const unsigned value = below(problem.bytes.size()); !llvm::is_contained(operands, value))
          operands.push_back(value);
      for (unsigned each = 0; each < 1 + below(2); ++each)
        results.push_back(addValue(problem, below(10)));
      addOp(problem, operands, results, 1 + below(5), below(8) > 0);
    }
    const int64_t all = scheduleWithin(problem, 1 << 20).peak;
    const Schedule schedule = scheduleWithin(problem, all / 2);
    INFO("trial " << trial);
    requireOrder(problem, schedule);
    CHECK(peakOf(problem, schedule) <= std::max(schedule.peak, all / 2));
    CHECK(schedule.peak <= all);
  }
}
