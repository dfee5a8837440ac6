//===- Expansion.cpp - composites, operator by operator -------------------===//
//
// A composite with an attribute that is read at bind time, as the sections of
// split are, would be a program of its own for each value. Its operators have
// classes that serve all values. Each thread remembers the graphs of its latest
// calls.
//
//===----------------------------------------------------------------------===//
#include "eager/Dispatch.h"
#include "eager/Evaluate.h"
#include "ops/Hash.h"

#include <array>
#include <memory>

namespace tess::eager {

namespace {

/// The operators of a composite for operands of these metas.
struct KnownGraph {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 4> segments;
  Subgraph graph;

  bool answers(const DispatchCall &call, const Metas &metas) const {
    return op.isSame(call.op) && operands == metas && segments == call.segments;
  }
};

constexpr unsigned kSlotBits = 6;
/// A direct-mapped cache; a graph that is replaced lives on in the call that runs it.
using KnownGraphs = std::array<std::shared_ptr<const KnownGraph>, 1 << kSlotBits>;

std::shared_ptr<const KnownGraph> &slotOf(const DispatchCall &call, const Metas &metas) {
  thread_local KnownGraphs known;
  uint64_t h = call.op.hash();
  for (const TensorMeta &meta : metas)
    for (int64_t size : meta.shape)
      h = mixHash(h, uint64_t(size));
  return known[h >> (64 - kSlotBits)];
}

llvm::Expected<std::shared_ptr<const KnownGraph>> graphOf(const DispatchCall &call) {
  Metas metas = metasOf(call.operands);
  std::shared_ptr<const KnownGraph> &known = slotOf(call, metas);
  if (known && known->answers(call, metas))
    return known;
  llvm::Expected<Subgraph> graph = call.op.makeForwardGraph(metas, call.segments);
  if (!graph)
    return graph.takeError();
  known = std::make_shared<const KnownGraph>(
      KnownGraph{call.op, std::move(metas), llvm::SmallVector<unsigned, 4>(call.segments), std::move(*graph)});
  return known;
}

/// Whether `x` shows the memory of an operand. A composite is no view: its results have memory of their own.
bool sharesMemory(const TensorImpl &x, llvm::ArrayRef<Operand> operands) {
  return llvm::any_of(operands, [&](const Operand &operand) { return &operand.tensor->storage() == &x.storage(); });
}

} // namespace

llvm::Error dispatchExpanded(const DispatchCall &call, Tensors &results) {
  llvm::Expected<std::shared_ptr<const KnownGraph>> known = graphOf(call);
  if (!known)
    return known.takeError();
  auto applyNode = [](const Subgraph::Node &node, llvm::ArrayRef<Operand> operands, Tensors &made) {
    return dispatch({node.op, operands, node.segments, nullptr, /*isPart=*/true}, made);
  };
  llvm::Expected<Tensors> made = evaluate((*known)->graph, call.operands, applyNode);
  if (!made)
    return made.takeError();
  for (TensorRef &result : *made) {
    if (sharesMemory(*result, call.operands)) {
      Tensors copy;
      if (llvm::Error e = dispatch({OpDef::get("copy"), {Operand(result)}, {}}, copy))
        return e;
      result = std::move(copy.front());
    }
    results.push_back(std::move(result));
  }
  return llvm::Error::success();
}

} // namespace tess::eager
