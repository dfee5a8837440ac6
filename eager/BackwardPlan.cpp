//===- BackwardPlan.cpp - gradient graphs, remembered --------------------===//
#include "eager/BackwardPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace tess::eager {

namespace {

constexpr size_t kMaxPlans = 4096;

struct StoredPlan {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 4> segments;
  llvm::SmallVector<bool, 4> needed, hasOutputGrad;
  BackwardPlan plan;

  bool answers(const BackwardRequest &r) const {
    return op.isSame(r.op) && llvm::ArrayRef<TensorMeta>(operands) == r.operands &&
           llvm::ArrayRef<unsigned>(segments) == r.segments && llvm::ArrayRef<bool>(needed) == r.needed &&
           llvm::ArrayRef<bool>(hasOutputGrad) == r.hasOutputGrad;
  }
};

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 29); }

uint64_t hashOf(const BackwardRequest &r) {
  uint64_t h = r.op.hash();
  for (const TensorMeta &meta : r.operands) {
    h = mix(h, uint64_t(meta.dtype) << 8 | meta.rank());
    for (int64_t d : meta.shape)
      h = mix(h, d);
  }
  for (unsigned s : r.segments)
    h = mix(h, s);
  uint64_t flags = 1;
  for (bool b : r.needed)
    flags = flags << 1 | b;
  for (bool b : r.hasOutputGrad)
    flags = flags << 1 | b;
  return mix(h, flags);
}

struct PlanTable {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, std::shared_ptr<StoredPlan>> plans;
  std::deque<uint64_t> order;

  BackwardPlan find(uint64_t hash, const BackwardRequest &request) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [first, last] = plans.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (it->second->answers(request))
        return it->second->plan;
    return nullptr;
  }
  void insert(uint64_t hash, std::shared_ptr<StoredPlan> plan) {
    std::lock_guard<std::mutex> lock(mutex);
    if (order.size() >= kMaxPlans) {
      plans.erase(order.front());
      order.pop_front();
    }
    plans.emplace(hash, std::move(plan));
    order.push_back(hash);
  }
};

PlanTable &table() {
  static PlanTable *instance = new PlanTable; // never destroyed: threads may outlive main
  return *instance;
}

} // namespace

llvm::Expected<BackwardPlan> backwardPlan(const BackwardRequest &request) {
  uint64_t hash = hashOf(request);
  if (BackwardPlan known = table().find(hash, request))
    return known;
  llvm::Expected<Subgraph> graph =
      request.op.makeBackwardGraph(request.operands, request.needed, request.hasOutputGrad, request.segments);
  if (!graph)
    return graph.takeError();
  auto stored = std::make_shared<StoredPlan>();
  stored->op = request.op;
  stored->operands.assign(request.operands.begin(), request.operands.end());
  stored->segments.assign(request.segments.begin(), request.segments.end());
  stored->needed.assign(request.needed.begin(), request.needed.end());
  stored->hasOutputGrad.assign(request.hasOutputGrad.begin(), request.hasOutputGrad.end());
  stored->plan = std::make_shared<Subgraph>(std::move(*graph));
  BackwardPlan plan = stored->plan;
  table().insert(hash, std::move(stored));
  return plan;
}

} // namespace tess::eager
