//===- Expansion.cpp - composites, operator by operator -------------------===//
//
// A composite with an attribute that is read at bind time, as the sections of
// split are, would be a program of its own for each value. Its operators have
// classes that serve all values. Each thread remembers the graphs of its latest
// calls; one that comes back again and again is worth a program of its own.
//
//===----------------------------------------------------------------------===//
#include "eager/classes/GraphOp.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/GraphProgram.h"
#include "eager/tensor/Evaluate.h"
#include "ops/vocabulary/Hash.h"

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
  unsigned runs = 0;                   // so far, as long as they are few
  std::optional<GraphProgram> program; // none: too few runs, or none can be

  bool answers(const DispatchCall &call, const Metas &metas) const {
    return op.isSame(call.op) && operands == metas && segments == call.segments;
  }
};

constexpr unsigned kSlotBits = 6;
/// A direct-mapped cache; a graph that is replaced lives on in the call that runs it.
using KnownGraphs = std::array<std::shared_ptr<KnownGraph>, 1 << kSlotBits>;

std::shared_ptr<KnownGraph> &slotOf(const DispatchCall &call, const Metas &metas) {
  thread_local KnownGraphs known;
  uint64_t h = call.op.hash();
  for (const TensorMeta &meta : metas)
    for (int64_t size : meta.shape)
      h = mixHash(h, uint64_t(size));
  return known[h >> (64 - kSlotBits)];
}

llvm::Expected<std::shared_ptr<KnownGraph>> graphOf(const DispatchCall &call) {
  Metas metas = metasOf(call.operands);
  std::shared_ptr<KnownGraph> &known = slotOf(call, metas);
  if (known && known->answers(call, metas))
    return known;
  llvm::Expected<Subgraph> graph = call.op.makeForwardGraph(metas, call.segments);
  if (!graph)
    return graph.takeError();
  known = std::make_shared<KnownGraph>(
      KnownGraph{call.op, std::move(metas), llvm::SmallVector<unsigned, 4>(call.segments), std::move(*graph), 0, {}});
  return known;
}

/// Whether a result is a view of what an operator made, which a program would copy.
bool givesViews(const Subgraph &graph) {
  return llvm::any_of(graph.nodes, [&](const Subgraph::Node &node) {
    const OpInfo &info = node.op.info();
    return info.lowering == Lowering::View && !info.keepsOrder() &&
           llvm::is_contained(graph.outputs, node.outputs.front());
  });
}

/// Whether the compiler takes the operators of the graph: those of which eager would apply the operators are another's.
bool mayBeCompiled(const Subgraph &graph) {
  return mayBeProgram(graph) && !givesViews(graph) &&
         llvm::none_of(graph.nodes, [](const Subgraph::Node &node) { return node.op.info().isExpandedFirst; });
}

/// The program of the graph, for these sizes alone where it cannot have symbols; none: it may not have one.
std::optional<GraphProgram> makeProgram(const KnownGraph &known, llvm::ArrayRef<Operand> operands) {
  if (!mayBeCompiled(known.graph))
    return std::nullopt;
  SizeSymbols symbols(known.operands);
  auto make = [&](llvm::ArrayRef<TensorMeta> metas) { return known.op.makeForwardGraph(metas, known.segments); };
  std::optional<GraphProgram> program;
  if (std::optional<Subgraph> bySymbols = symbols.in(known.graph, known.operands, make))
    program = writeProgram(known.graph, *bySymbols, symbols, operands, std::nullopt);
  if (!program)
    program = writeSizedProgram(known.graph, operands);
  return mayHaveProgram(known.op.info(), program->op, known.operands) ? std::move(program) : std::nullopt;
}

/// What to run in the place of the operators; null: one by one, which walk operands by their strides, too.
const GraphProgram *programOf(KnownGraph &known, llvm::ArrayRef<Operand> operands) {
  if (known.runs <= kFewRuns) {
    ++known.runs;
    if (known.runs > kFewRuns)
      known.program = makeProgram(known, operands);
  }
  bool isPlain = llvm::all_of(operands, [](const Operand &operand) { return operand.tensor->isContiguous(); });
  return known.program && isPlain ? &*known.program : nullptr;
}

/// Whether `x` shows the memory of an operand. A composite is no view: its results have memory of their own.
bool sharesMemory(const TensorImpl &x, llvm::ArrayRef<Operand> operands) {
  return llvm::any_of(operands, [&](const Operand &operand) { return &operand.tensor->storage() == &x.storage(); });
}

} // namespace

llvm::Error dispatchExpanded(const DispatchCall &call, Tensors &results) {
  llvm::Expected<std::shared_ptr<KnownGraph>> found = graphOf(call);
  if (!found)
    return found.takeError();
  std::shared_ptr<KnownGraph> known = std::move(*found);
  auto applyNode = [](const Subgraph::Node &node, llvm::ArrayRef<Operand> operands, Tensors &made) {
    return dispatch({node.op, operands, node.segments, nullptr, /*isPart=*/true}, made);
  };
  const GraphProgram *program = programOf(*known, call.operands);
  llvm::Expected<Tensors> made =
      program ? eager::run(*program, call.operands) : evaluate(known->graph, call.operands, applyNode);
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
