//===- OperatorGraphs.cpp - forward and backward graphs of an operator ----===//
//
// A record's rules append to a builder; here are the graphs that users of an
// OpDef get. On narrow floats an operator computes in float32 and rounds once.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/ForwardRules.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/inference/RuleErrors.h"
#include "ops/vocabulary/Quantization.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess {

static bool anyNarrow(llvm::ArrayRef<TensorMeta> metas) {
  return llvm::any_of(metas, [](const TensorMeta &meta) { return isNarrowFloat(meta.dtype); });
}

/// Whether a node rounds; copies, views and constants do not.
static bool rounds(const Subgraph::Node &node) {
  Lowering lowering = node.op.info().lowering;
  return !node.inputs.empty() &&
         (lowering == Lowering::Elementwise || lowering == Lowering::Reduction || lowering == Lowering::Window ||
          lowering == Lowering::Compute || lowering == Lowering::Library || lowering == Lowering::Composite);
}

/// Whether some result is rounded more than once on its way.
static bool roundsTwice(const Subgraph &graph) {
  llvm::SmallVector<unsigned, 32> count(graph.numValues, 0);
  unsigned most = 0;
  for (const Subgraph::Node &node : graph.nodes) {
    unsigned depth = rounds(node);
    for (int input : node.inputs)
      depth = std::max(depth, count[input] + rounds(node));
    for (int output : node.outputs)
      most = std::max(most, count[output] = depth);
  }
  return most > 1;
}

/// The graph that `build` makes. Where a narrow result would be rounded more than once, it computes in float32
/// (`wide`).
static llvm::Expected<Subgraph> roundedOnce(llvm::ArrayRef<TensorMeta> operands,
                                            llvm::function_ref<llvm::Expected<Subgraph>(bool wide)> build) {
  llvm::Expected<Subgraph> graph = build(false);
  if (!graph || !anyNarrow(operands) || !roundsTwice(*graph))
    return graph;
  return build(true);
}

/// An input of the graph, cast to float32 when it is narrow and `wide` is set.
static int wideInput(SubgraphBuilder &builder, const TensorMeta &meta, bool wide) {
  return wide && isNarrowFloat(meta.dtype) ? builder.wideInput(meta) : builder.input(meta);
}

/// Checks that a forward rule makes the meta that inference says; a size that one of them does not know may be any.
static llvm::Error checkResult(const OpDef &op, const TensorMeta &made, const TensorMeta &result) {
  auto mayBe = [](auto pair) {
    auto [a, b] = pair;
    return a == b || a == kUnknown || b == kUnknown;
  };
  if (made.dtype == result.dtype && made.rank() == result.rank() &&
      llvm::all_of(llvm::zip(made.shape, result.shape), mayBe))
    return llvm::Error::success();
  return makeError(ErrorCode::Internal,
                   op.name() + ": forward rule must give " + toString(result) + ", got " + toString(made));
}

static llvm::Expected<Subgraph> forwardGraph(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                             llvm::ArrayRef<TensorMeta> results, bool wide) {
  SubgraphBuilder builder;
  llvm::SmallVector<int, 4> values;
  for (const TensorMeta &meta : operands)
    values.push_back(wideInput(builder, meta, wide));
  llvm::SmallVector<int, 4> outputs = op.info().makeForward(builder, op, values);
  for (auto [output, result] : llvm::zip(outputs, results)) {
    if (output < 0)
      continue; // the rule has failed
    if (wide)
      output = pieces::castTo(builder, output, result.dtype);
    if (llvm::Error error = checkResult(op, builder.meta(output), result))
      builder.fail(std::move(error));
  }
  return builder.finish(outputs);
}

llvm::Expected<Subgraph> OpDef::makeForwardGraph(llvm::ArrayRef<TensorMeta> operands,
                                                 llvm::ArrayRef<unsigned> segments) const {
  if (!opInfo->makeForward)
    return makeError(ErrorCode::Unimplemented, name() + ": operator must be a composite, got a single one");
  llvm::Expected<Metas> results = infer(operands, segments);
  if (!results)
    return results.takeError();
  return roundedOnce(operands, [&](bool wide) { return forwardGraph(*this, operands, *results, wide); });
}

/// The error of a composite whose operators refuse its operands: what its record demands of them, or what they say.
static llvm::Error refusedBy(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::Error inner) {
  llvm::ArrayRef<ConstraintInfo> constraints = op.info().constraints;
  if (constraints.size() != 1)
    return inner;
  llvm::consumeError(std::move(inner));
  std::string shown;
  for (auto [i, operand] : llvm::enumerate(operands))
    shown += (i ? i + 1 == operands.size() ? " and " : ", " : "") + std::string(op.info().operands[i].name) + " " +
             toString(operand);
  return shapes::mustHoldOf(op, constraints.front().text, shown);
}

namespace shapes {

llvm::Expected<Metas> ofForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  SubgraphBuilder builder;
  llvm::SmallVector<int, 4> values;
  for (const TensorMeta &meta : operands)
    values.push_back(builder.input(meta));
  llvm::SmallVector<int, 4> outputs = op.info().makeForward(builder, op, values);
  Metas results;
  for (int output : outputs)
    results.push_back(builder.meta(output));
  llvm::Expected<Subgraph> graph = builder.finish(outputs);
  return graph ? llvm::Expected<Metas>(std::move(results)) : refusedBy(op, operands, graph.takeError());
}

} // namespace shapes

namespace channels {

int ofForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int, unsigned result) {
  SubgraphBuilder builder;
  llvm::SmallVector<int, 4> values;
  for (const TensorMeta &operand : operands)
    values.push_back(builder.input(operand));
  llvm::SmallVector<int, 4> outputs = op.info().makeForward(builder, op, values);
  DType made = builder.meta(outputs[result]).dtype;
  llvm::Expected<Subgraph> graph = builder.finish(outputs);
  if (graph)
    return isPerChannel(made) ? int(quantizationOf(made)->axis) : -1;
  llvm::consumeError(graph.takeError()); // inference says why
  return -1;
}

} // namespace channels

namespace {

/// The gradients that a backward graph must give.
struct BackwardRequest {
  llvm::ArrayRef<TensorMeta> operands, results;
  llvm::SmallVector<bool, 4> wanted; // by operand
  llvm::ArrayRef<bool> hasOutputGrad;
  llvm::ArrayRef<bool> hasSum; // by operand; empty: none has one
};

} // namespace

static llvm::Expected<Subgraph> backwardGraph(const OpDef &op, const BackwardRequest &request, bool wide) {
  SubgraphBuilder builder;
  llvm::SmallVector<int, 8> values;
  for (const TensorMeta &operand : request.operands)
    values.push_back(wideInput(builder, operand, wide));
  for (const TensorMeta &result : request.results)
    values.push_back(wideInput(builder, result, wide));
  bool any = false;
  for (auto [i, result] : llvm::enumerate(request.results)) {
    int grad = wideInput(builder, result, wide);
    bool arrives = i < request.hasOutputGrad.size() && request.hasOutputGrad[i];
    values.push_back(arrives ? grad : -1);
    any |= arrives;
  }
  for (auto [operand, hasSum] : llvm::zip(request.operands, request.hasSum)) {
    int sum = builder.input(operand);
    values.push_back(hasSum ? sum : -1);
  }
  llvm::SmallVector<int, 4> grads(request.operands.size(), -1);
  if (any && llvm::is_contained(request.wanted, true) && op.info().gradient)
    grads = op.info().gradient(builder, op, values, request.wanted);
  for (auto [i, operand] : llvm::enumerate(request.operands)) {
    int fitted = request.wanted[i] ? pieces::fitGradient(builder, grads[i], values[i]) : -1;
    grads[i] = fitted < 0 ? -1 : pieces::castTo(builder, fitted, operand.dtype);
  }
  return builder.finish(grads);
}

llvm::Expected<Subgraph> OpDef::makeBackwardGraph(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<bool> needed,
                                                  llvm::ArrayRef<bool> hasOutputGrad, llvm::ArrayRef<unsigned> segments,
                                                  llvm::ArrayRef<bool> hasSum) const {
  llvm::Expected<Metas> results = infer(operands, segments);
  if (!results)
    return results.takeError();
  BackwardRequest request{operands, *results, {}, hasOutputGrad, hasSum};
  for (auto [operand, need] : llvm::zip(operands, needed))
    request.wanted.push_back(need && isDifferentiable(operand.dtype));
  return roundedOnce(operands, [&](bool wide) { return backwardGraph(*this, request, wide); });
}

} // namespace tess
