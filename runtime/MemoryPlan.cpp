//===- MemoryPlan.cpp - offsets of temporaries in one arena ---------------===//
#include "runtime/MemoryPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace tess::runtime {

static constexpr int64_t kAlignment = 64;
static int64_t padded(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

namespace {
struct Placed {
  int64_t begin, end;
  int32_t first, last;
};
} // namespace

/// `placed` is ordered by `begin`.
static int64_t bestFit(const std::vector<Placed> &placed, const Allocation &wanted, int64_t size) {
  int64_t best = -1, bestGap = INT64_MAX, top = 0;
  for (const Placed &other : placed) {
    if (other.last < wanted.first || other.first > wanted.last)
      continue;
    int64_t gap = other.begin - top;
    if (gap >= size && gap < bestGap) {
      best = top;
      bestGap = gap;
    }
    top = std::max(top, other.end);
  }
  return best >= 0 ? best : top;
}

MemoryPlan planMemory(llvm::ArrayRef<Allocation> allocations) {
  std::vector<size_t> order(allocations.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return allocations[a].bytes != allocations[b].bytes ? allocations[a].bytes > allocations[b].bytes : a < b;
  });
  MemoryPlan plan;
  plan.offsets.resize(allocations.size());
  std::vector<Placed> placed;
  placed.reserve(allocations.size());
  for (size_t index : order) {
    const Allocation &wanted = allocations[index];
    int64_t size = padded(wanted.bytes);
    if (size == 0)
      continue;
    int64_t offset = bestFit(placed, wanted, size);
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    Placed entry{offset, offset + size, wanted.first, wanted.last};
    auto byBegin = [](const Placed &a, const Placed &b) { return a.begin < b.begin; };
    placed.insert(llvm::upper_bound(placed, entry, byBegin), entry);
  }
  return plan;
}

} // namespace tess::runtime
