//===- SymbolicPlan.cpp - gradient graphs by expressions of sizes ---------===//
#include "eager/gradients/SymbolicPlan.h"

#include "eager/stack/Apply.h"
#include "eager/stack/Call.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Evaluate.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// Whether sizes of the call may stand in the gradient's graph, or in that for fewer gradients of results.
static bool mayTakeSizes(const BackwardPlan &plan) {
  return plan.hasOutputGrad.size() > 1 || llvm::any_of(plan.graph->nodes, [](const Subgraph::Node &node) {
           return llvm::any_of(node.op.info().attrs, [](const AttrInfo &attr) { return attr.isSize; });
         });
}

std::unique_ptr<SymbolicPlan> symbolicPlan(const Call &call, const BackwardPlan &plan) {
  Tracer *tracer = activeTracer();
  if (!tracer || !plan.graph)
    return nullptr;
  Metas operands = plan.operands;
  for (auto [meta, operand] : llvm::zip_equal(operands, call.operands)) {
    llvm::ArrayRef<int64_t> shape = recordedShape(*operand.tensor);
    meta.shape.assign(shape.begin(), shape.end());
  }
  bool isOfData =
      llvm::any_of(operands, [](const TensorMeta &meta) { return llvm::any_of(meta.shape, sizes::dependsOnData); });
  if (!isOfData && !mayTakeSizes(plan)) // where data decides a size, this graph may lack what others have
    return nullptr;
  const OpDef *recorded = static_cast<const OpDefOperator &>(call.op).recorded;
  llvm::Expected<BackwardPlanRef> symbolic = backwardPlan(plan, recorded ? *recorded : plan.op, operands);
  if (symbolic)
    return std::make_unique<SymbolicPlan>(SymbolicPlan{std::move(*symbolic), tracer->number()});
  llvm::consumeError(symbolic.takeError()); // a rule wants to know a size
  return nullptr;
}

/// Whether data decides a size in the graph. Its sizes may be 0 or 1, for which a graph by numbers is a shorter one.
static bool dependsOnData(const Subgraph &graph) {
  bool found = false;
  for (const Subgraph::Node &node : graph.nodes)
    node.op.forEachSymbol([&](uint32_t symbol) { found |= symbol >= sizes::kDataSymbols; });
  return found;
}

/// Whether `symbolic` reads no values that `graph` does not: others have not been saved.
static bool readsNoMore(const Subgraph &graph, const Subgraph &symbolic) {
  return llvm::all_of(llvm::zip_equal(graph.inputUsed, symbolic.inputUsed),
                      [](auto used) { return std::get<0>(used) || !std::get<1>(used); });
}

static bool mayTakeItsPlace(const Tracer &tracer, const Subgraph &graph, const Subgraph &symbolic) {
  auto sizeOf = [&](uint32_t symbol) { return tracer.sizeOf(symbol); };
  return isSameAt(graph, symbolic, sizeOf) || (dependsOnData(symbolic) && readsNoMore(graph, symbolic));
}

/// The graph that a recording of this thread writes down in the place of that of `plan`; null: there is none.
static BackwardPlanRef recordedPlan(const BackwardPlan &plan, const SymbolicPlan *symbolic) {
  Tracer *tracer = symbolic ? activeTracer() : nullptr;
  if (LLVM_LIKELY(!tracer) || tracer->number() != symbolic->recording)
    return nullptr;
  BackwardPlanRef recorded = symbolic->plan;
  if (recorded->hasOutputGrad != plan.hasOutputGrad || recorded->hasSum != plan.hasSum)
    if (llvm::Error e = backwardPlan(*recorded, plan.hasOutputGrad, plan.hasSum).moveInto(recorded)) {
      llvm::consumeError(std::move(e));
      return nullptr;
    }
  return recorded->graph && mayTakeItsPlace(*tracer, *plan.graph, *recorded->graph) ? recorded : nullptr;
}

/// Whether each gradient has the shape of its operand.
static bool fitOperands(llvm::ArrayRef<TensorRef> grads, llvm::ArrayRef<TensorMeta> operands) {
  return llvm::all_of(llvm::zip_equal(grads, operands), [](auto pair) {
    const auto &[grad, operand] = pair;
    return !grad || grad->shape() == llvm::ArrayRef<int64_t>(operand.shape);
  });
}

/// run() for results that a tape sees.
static llvm::Expected<Tensors> runCounted(const GraphProgram &program, llvm::ArrayRef<Operand> operands) {
  llvm::Expected<Tensors> results = run(program, operands);
  if (results)
    count(Count::Results, llvm::count_if(program.outputs, [](const auto &output) { return output.result >= 0; }));
  return results;
}

llvm::Expected<Tensors> applyBackward(const BackwardPlan &plan, const SymbolicPlan *symbolic,
                                      llvm::ArrayRef<Operand> operands) {
  BackwardPlanRef recorded = recordedPlan(plan, symbolic);
  if (!recorded) {
    const GraphProgram *program = plan.programs->find(plan, operands);
    return program ? runCounted(*program, operands) : apply(*plan.graph, operands);
  }
  auto applyNode = [](const Subgraph::Node &node, llvm::ArrayRef<Operand> read, Tensors &results) {
    return applyExpressions(node.op, read, node.segments, results);
  };
  llvm::Expected<Tensors> grads = evaluate(*recorded->graph, operands, applyNode);
  // An expression may be 1 in this run and repeat, so that the gradient is a sum, which the graph by numbers has.
  return grads && !fitOperands(*grads, plan.operands) ? apply(*plan.graph, operands) : std::move(grads);
}

} // namespace tess::eager
