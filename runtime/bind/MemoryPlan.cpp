//===- MemoryPlan.cpp - offsets of temporaries in one arena ---------------===//
#include "runtime/bind/MemoryPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tess::runtime {

static constexpr int64_t kAlignment = 64;
static int64_t padded(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The indices of the allocations that take memory.
static std::vector<size_t> numbersOf(llvm::ArrayRef<Allocation> allocations) {
  std::vector<size_t> numbers;
  for (auto [index, allocation] : llvm::enumerate(allocations))
    if (allocation.bytes)
      numbers.push_back(index);
  return numbers;
}

namespace {
struct Placed {
  int64_t begin, end;
  int32_t first, last;
};
} // namespace

/// The offset of the smallest gap for `wanted`, or of the end; `placed` is ordered by `begin`.
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

/// Places large allocations first. The time grows with the square of their number.
static MemoryPlan planBySize(llvm::ArrayRef<Allocation> allocations) {
  std::vector<size_t> order = numbersOf(allocations);
  llvm::sort(order, [&](size_t a, size_t b) {
    return allocations[a].bytes != allocations[b].bytes ? allocations[a].bytes > allocations[b].bytes : a < b;
  });
  MemoryPlan plan;
  plan.offsets.resize(allocations.size());
  std::vector<Placed> placed;
  placed.reserve(allocations.size());
  for (size_t index : order) {
    const Allocation &wanted = allocations[index];
    int64_t size = padded(wanted.bytes);
    int64_t offset = bestFit(placed, wanted, size);
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    Placed entry{offset, offset + size, wanted.first, wanted.last};
    auto byBegin = [](const Placed &a, const Placed &b) { return a.begin < b.begin; };
    placed.insert(llvm::upper_bound(placed, entry, byBegin), entry);
  }
  return plan;
}

namespace {

/// The gaps of an arena, by offset and by size.
class Gaps {
public:
  /// Takes the smallest gap that holds `size`, or else the end of the arena, which grows if necessary.
  int64_t take(int64_t size) {
    auto best = bySize.lower_bound({size, 0});
    if (best == bySize.end())
      return extend(size);
    auto [gap, begin] = *best;
    remove(byPlace.find(begin));
    if (gap > size)
      insert(begin + size, gap - size);
    return begin;
  }

  void give(int64_t begin, int64_t size) {
    auto after = byPlace.lower_bound(begin);
    if (after != byPlace.end() && after->first == begin + size) {
      size += after->second;
      after = remove(after);
    }
    if (after != byPlace.begin())
      if (auto before = std::prev(after); before->first + before->second == begin) {
        begin = before->first;
        size += before->second;
        remove(before);
      }
    insert(begin, size);
  }

  int64_t end() const { return top; }

private:
  using Places = std::map<int64_t, int64_t>; // offset -> size

  int64_t extend(int64_t size) {
    int64_t begin = top;
    if (!byPlace.empty())
      if (auto last = std::prev(byPlace.end()); last->first + last->second == top) {
        begin = last->first;
        remove(last);
      }
    top = begin + size;
    return begin;
  }

  void insert(int64_t begin, int64_t size) {
    byPlace[begin] = size;
    bySize.insert({size, begin});
  }

  Places::iterator remove(Places::iterator gap) {
    bySize.erase({gap->second, gap->first});
    return byPlace.erase(gap);
  }

  Places byPlace;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0;
};

} // namespace

/// Places allocations in the order of the steps, as an allocator would during the run.
static MemoryPlan planByStep(llvm::ArrayRef<Allocation> allocations) {
  std::vector<size_t> starts = numbersOf(allocations), ends = starts;
  llvm::sort(starts, [&](size_t a, size_t b) {
    return std::tuple(allocations[a].first, -allocations[a].bytes, a) <
           std::tuple(allocations[b].first, -allocations[b].bytes, b);
  });
  llvm::sort(ends,
             [&](size_t a, size_t b) { return std::pair(allocations[a].last, a) < std::pair(allocations[b].last, b); });
  MemoryPlan plan;
  plan.offsets.resize(allocations.size());
  Gaps gaps;
  size_t ended = 0;
  for (size_t index : starts) {
    for (; allocations[ends[ended]].last < allocations[index].first; ++ended)
      gaps.give(plan.offsets[ends[ended]], padded(allocations[ends[ended]].bytes));
    plan.offsets[index] = gaps.take(padded(allocations[index].bytes));
  }
  plan.bytes = gaps.end();
  return plan;
}

MemoryPlan planMemory(llvm::ArrayRef<Allocation> allocations) {
  constexpr size_t kMaxBySize = 4096; // takes 10 ms
  return allocations.size() <= kMaxBySize ? planBySize(allocations) : planByStep(allocations);
}

} // namespace tess::runtime
