// Rates of the operator cache from C++, one JSON object: nanoseconds of a look-up at a few sizes of the cache, calls a
// second of one thread and of several. tests/benchmarks/eager_cache.py runs it.
#include "eager/Eager.h"
#include "eager/classes/OpCache.h"
#include "eager/stack/Apply.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

using namespace tess;
using namespace tess::eager;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

OpKey keyOf(uint64_t number) { return {number * 0x9E3779B97F4A7C15ull, number, number ^ 0x5555}; }

/// The middle of an odd number of times.
double medianOf(std::vector<double> times) {
  auto middle = times.begin() + ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// A look-up of entry number `number`, which is made when it is not there.
void lookUp(const OpDef &op, uint64_t number) {
  OpKey key = keyOf(number);
  llvm::cantFail(findOrBuild(key, op, [&]() -> BuiltOp {
    auto made = std::make_unique<CompiledOp>(key, op);
    made->bytes = 64;
    return made;
  }));
}

/// Nanoseconds of a look-up in a cache of `entries`; the median of five rounds over `wanted` of them in random order.
double lookUpTime(uint64_t entries, uint64_t wanted) {
  OpDef op = OpDef::get("add");
  clearOpCache();
  for (uint64_t i = 0; i < entries; ++i)
    lookUp(op, i);
  std::mt19937_64 random(0);
  std::vector<uint64_t> order(100000);
  for (uint64_t &number : order)
    number = random() % wanted * (entries / wanted);
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    Clock::time_point start = Clock::now();
    for (uint64_t number : order)
      lookUp(op, number);
    times.push_back(secondsSince(start) / double(order.size()) * 1e9);
  }
  return medianOf(times);
}

/// Nanoseconds of a call whose class is not in memory; the environment says whether the warm set answers it.
double missTime(const OpDef &op) {
  std::vector<float> ones(16, 1);
  TensorRef x = llvm::cantFail(createTensor(TensorMeta(DType::Float32, {4, 4}), ones.data()));
  std::vector<Operand> operands(op.info().operands.size(), Operand(x));
  std::vector<double> times;
  for (int i = 0; i < 2001; ++i) {
    clearOpCache();
    Clock::time_point start = Clock::now();
    llvm::cantFail(applyOne(op, operands));
    times.push_back(secondsSince(start) * 1e9);
  }
  return medianOf(times);
}

/// Additions of 16 floats a second, by `count` threads that share nothing but the cache.
double callRate(unsigned count) {
  constexpr int calls = 200000;
  auto work = [] {
    std::vector<float> ones(16, 1);
    TensorRef x = llvm::cantFail(createTensor(TensorMeta(DType::Float32, {16}), ones.data())), y = x;
    OpDef add = OpDef::get("add");
    for (int i = 0; i < calls; ++i)
      y = llvm::cantFail(applyOne(add, {Operand(x), Operand(y)}));
    std::vector<float> values(16);
    llvm::cantFail(readValue(*y, values.data()));
    if (values[7] != calls + 1)
      std::abort();
  };
  work();
  std::vector<double> rates;
  for (int round = 0; round < 5; ++round) {
    Clock::time_point start = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back(work);
    for (std::thread &thread : threads)
      thread.join();
    rates.push_back(count * calls / secondsSince(start));
  }
  return medianOf(rates);
}

} // namespace

int main() {
  start();
  setOpCacheLimit(uint64_t(1) << 30);
  double one = callRate(1), eight = callRate(8);
  double kernel = missTime(OpDef::get("add")), program = missTime(OpDef::get("softmax").set("axis", int64_t(1)));
  // Last: freeing 100 000 entries leaves a heap in pieces, and each allocation after it is slower.
  double few = lookUpTime(10, 10), hot = lookUpTime(100000, 10), all = lookUpTime(100000, 100000);
  std::printf("{\"few\": %.1f, \"hot\": %.1f, \"all\": %.1f, \"one\": %.0f, \"eight\": %.0f, \"kernel\": %.0f, "
              "\"program\": %.0f}\n",
              few, hot, all, one, eight, kernel, program);
}
