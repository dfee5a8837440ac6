//===- BackwardPlan.cpp - gradient graphs, remembered --------------------===//
#include "eager/gradients/BackwardPlan.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/LruCache.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <mutex>

namespace tess::eager {

namespace {

constexpr uint64_t kMostBytes = uint64_t(16) << 20;
constexpr unsigned kFrontBits = 8;

struct MetaView {
  DType dtype;
  llvm::ArrayRef<int64_t> shape;
};

struct Request {
  const OpDef &op;
  llvm::SmallVector<MetaView, 4> operands;
  llvm::ArrayRef<unsigned> segments;
  llvm::ArrayRef<bool> needed, hasOutputGrad;
  llvm::ArrayRef<bool> hasSum = {};

  bool isAnsweredBy(const BackwardPlan &plan) const {
    auto isSame = [](const TensorMeta &known, const MetaView &asked) {
      return known.dtype == asked.dtype && llvm::ArrayRef<int64_t>(known.shape) == asked.shape;
    };
    return plan.op.isSame(op) && llvm::equal(plan.operands, operands, isSame) &&
           llvm::ArrayRef<unsigned>(plan.segments) == segments && llvm::ArrayRef<bool>(plan.needed) == needed &&
           llvm::ArrayRef<bool>(plan.hasOutputGrad) == hasOutputGrad && llvm::ArrayRef<bool>(plan.hasSum) == hasSum;
  }
};

uint64_t hashOf(const Request &r) {
  uint64_t h = r.op.hash();
  for (const MetaView &meta : r.operands) {
    h = mixHash(h, uint64_t(meta.dtype) << 8 | meta.shape.size());
    for (int64_t d : meta.shape)
      h = mixHash(h, d);
  }
  for (unsigned s : r.segments)
    h = mixHash(h, s);
  uint64_t flags = 1;
  for (bool b : r.needed)
    flags = flags << 1 | b;
  for (bool b : r.hasOutputGrad)
    flags = flags << 1 | b;
  for (bool b : r.hasSum)
    flags = flags << 1 | b;
  return mixHash(h, flags);
}

uint64_t bytesOf(llvm::ArrayRef<Subgraph::Node> nodes) {
  uint64_t bytes = 0;
  for (const Subgraph::Node &node : nodes)
    bytes += sizeof(node) + node.op.heldBytes() + (node.inputs.size() + node.outputs.size()) * sizeof(int);
  return bytes;
}

uint64_t bytesOf(const BackwardPlan &plan) {
  uint64_t bytes = sizeof(plan) + plan.operands.size() * sizeof(TensorMeta) + plan.op.heldBytes();
  constexpr unsigned kCopies = 3; // the graph's own nodes, and those of its two programs
  return plan.graph ? bytes + kCopies * bytesOf(plan.graph->nodes) + plan.graph->inputs.size() * (sizeof(int) + 1)
                    : bytes;
}

struct PlanTable {
  PlanTable() { runtime::holdAcrossFork(mutex); }

  std::mutex mutex;
  LruCache<BackwardPlanRef, uint64_t> plans{kMostBytes};
};

PlanTable &table() {
  static PlanTable *instance = new PlanTable; // never destroyed: threads may outlive main
  return *instance;
}
const runtime::MadeAtLoad<table> kMade;

llvm::Expected<BackwardPlanRef> makePlan(const Request &r) {
  llvm::IntrusiveRefCntPtr<BackwardPlan> plan(new BackwardPlan);
  plan->op = r.op;
  for (const MetaView &meta : r.operands)
    plan->operands.push_back(TensorMeta(meta.dtype, meta.shape));
  plan->segments.assign(r.segments.begin(), r.segments.end());
  plan->needed.assign(r.needed.begin(), r.needed.end());
  plan->hasOutputGrad.assign(r.hasOutputGrad.begin(), r.hasOutputGrad.end());
  plan->hasSum.assign(r.hasSum.begin(), r.hasSum.end());
  if (r.op.info().gradient)
    if (llvm::Error e = r.op.makeBackwardGraph(plan->operands, r.needed, r.hasOutputGrad, r.segments, r.hasSum)
                            .moveInto(plan->graph))
      return std::move(e);
  if (plan->graph)
    plan->programs.emplace(*plan);
  return BackwardPlanRef(plan);
}

llvm::Expected<BackwardPlanRef> planFor(const Request &request) {
  thread_local std::array<BackwardPlanRef, 1 << kFrontBits> front; // direct-mapped
  uint64_t hash = hashOf(request);
  BackwardPlanRef &slot = front[hash >> (64 - kFrontBits)];
  if (slot && request.isAnsweredBy(*slot))
    return slot;
  {
    std::lock_guard<std::mutex> lock(table().mutex);
    BackwardPlanRef *known = table().plans.find(hash);
    if (known && request.isAnsweredBy(**known))
      return slot = *known;
  }
  llvm::Expected<BackwardPlanRef> made = makePlan(request);
  if (!made)
    return made;
  std::lock_guard<std::mutex> lock(table().mutex);
  table().plans.insert(hash, *made, bytesOf(**made)); // unless another request of this hash has one
  return slot = *made;
}

} // namespace

BackwardPlanStats backwardPlanStats() {
  std::lock_guard<std::mutex> lock(table().mutex);
  return {table().plans.size(), table().plans.bytes(), table().plans.limit()};
}

llvm::Expected<BackwardPlanRef> backwardPlan(const OpDef &op, llvm::ArrayRef<Operand> operands,
                                             llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<bool> needed,
                                             llvm::ArrayRef<bool> hasOutputGrad) {
  Request request{op, {}, segments, needed, hasOutputGrad};
  for (const Operand &operand : operands)
    request.operands.push_back({operand.tensor->dtype(), operand.tensor->shape()});
  return planFor(request);
}

/// As planFor(), for operands with these metas.
static llvm::Expected<BackwardPlanRef> planFor(Request request, llvm::ArrayRef<TensorMeta> operands) {
  for (const TensorMeta &operand : operands)
    request.operands.push_back({operand.dtype, operand.shape});
  return planFor(request);
}

llvm::Expected<BackwardPlanRef> backwardPlan(const BackwardPlan &plan, llvm::ArrayRef<bool> hasOutputGrad,
                                             llvm::ArrayRef<bool> hasSum) {
  return planFor({plan.op, {}, plan.segments, plan.needed, hasOutputGrad, hasSum}, plan.operands);
}

llvm::Expected<BackwardPlanRef> backwardPlan(const BackwardPlan &plan, const OpDef &op,
                                             llvm::ArrayRef<TensorMeta> operands) {
  return planFor({op, {}, plan.segments, plan.needed, plan.hasOutputGrad}, operands);
}

} // namespace tess::eager
