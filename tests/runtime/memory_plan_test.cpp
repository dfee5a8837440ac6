#include "runtime/bind/MemoryPlan.h"
#include "tests/runtime/Expect.h"

#include <random>

using namespace tess::runtime;

namespace {

bool overlapInTime(const Allocation &a, const Allocation &b) { return a.first <= b.last && b.first <= a.last; }

void checkPlan(const std::vector<Allocation> &allocations, const MemoryPlan &plan) {
  bool isSound = true;
  for (size_t i = 0; i < allocations.size(); ++i) {
    isSound &= plan.offsets[i] % 64 == 0 && plan.offsets[i] + allocations[i].bytes <= plan.bytes;
    for (size_t j = 0; j < i; ++j) {
      if (!overlapInTime(allocations[i], allocations[j]) || !allocations[i].bytes || !allocations[j].bytes)
        continue;
      bool apart = plan.offsets[i] + allocations[i].bytes <= plan.offsets[j] ||
                   plan.offsets[j] + allocations[j].bytes <= plan.offsets[i];
      isSound &= apart;
    }
  }
  CHECK(isSound);
}

} // namespace

TEST_CASE("memory is used again once it is free") {
  // A chain: each value lives until the next is made. Two buffers are enough.
  std::vector<Allocation> chain;
  for (int i = 0; i < 20; ++i)
    chain.push_back({4096, i, i + 1});
  MemoryPlan plan = planMemory(chain);
  checkPlan(chain, plan);
  CHECK(plan.bytes == 2 * 4096);
}

TEST_CASE("a value goes to the smallest gap that holds it") {
  std::vector<Allocation> wanted = {{1024, 0, 9}, {512, 0, 1}, {448, 0, 9}, {256, 0, 1}, {192, 0, 9}, {128, 5, 6}};
  MemoryPlan plan = planMemory(wanted);
  checkPlan(wanted, plan);
  CHECK(plan.offsets[5] == plan.offsets[3]); // the gap of 256, not that of 512
}

TEST_CASE("nothing needs nothing") {
  CHECK(planMemory({}).bytes == 0);
  CHECK(planMemory({{0, 0, 5}}).bytes == 0);
}

TEST_CASE("random lifetimes never overlap, and the plan is a function of them") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Allocation> wanted;
    int64_t most = 0;
    for (int i = 0; i < 60; ++i) {
      int32_t first = int32_t(random() % 40);
      wanted.push_back({int64_t(random() % 5000), first, first + int32_t(random() % 10)});
    }
    MemoryPlan plan = planMemory(wanted);
    checkPlan(wanted, plan);
    CHECK(plan.offsets == planMemory(wanted).offsets);
    for (int32_t step = 0; step < 50; ++step) { // not far above the lower bound
      int64_t live = 0;
      for (const Allocation &a : wanted)
        live += a.first <= step && step <= a.last ? (a.bytes + 63) / 64 * 64 : 0;
      most = std::max(most, live);
    }
    CHECK(plan.bytes >= most);
    CHECK(plan.bytes <= most * 3 / 2);
  }
}

TEST_CASE("many allocations are planned by step, close to what lives at once") {
  // A network of 30 000 layers and its gradient: each value of the forward part waits for its own gradient.
  constexpr int32_t kLayers = 30000;
  std::mt19937 random(7);
  std::vector<Allocation> wanted;
  for (int32_t i = 0; i < kLayers; ++i)
    wanted.push_back({int64_t(1 + random() % 64) * 64, i, 2 * kLayers - i});
  for (int32_t i = 0; i < kLayers; ++i)
    wanted.push_back({int64_t(1 + random() % 64) * 64, kLayers + i, kLayers + i + 1});
  MemoryPlan plan = planMemory(wanted);
  std::vector<int64_t> change(2 * kLayers + 2);
  for (const Allocation &a : wanted) {
    change[size_t(a.first)] += a.bytes;
    change[size_t(a.last) + 1] -= a.bytes;
  }
  int64_t live = 0, most = 0;
  for (int64_t bytes : change)
    most = std::max(most, live += bytes);
  CHECK(plan.bytes >= most);
  CHECK(plan.bytes <= most + most / 8);
  // Some thousands of them, by pairs.
  std::vector<Allocation> some;
  MemoryPlan part{{}, plan.bytes};
  for (size_t i = 0; i < wanted.size(); i += 41) {
    some.push_back(wanted[i]);
    part.offsets.push_back(plan.offsets[i]);
  }
  checkPlan(some, part);
}
