//===- Subgraph.cpp - building small graphs of operators -----------------===//
#include "ops/Subgraph.h"

#include "ops/GraphPieces.h"
#include "llvm/ADT/STLExtras.h"

namespace tess {

const TensorMeta &SubgraphBuilder::meta(int value) const {
  static const TensorMeta nothing;
  return value < 0 ? nothing : metas[value];
}

int SubgraphBuilder::input(const TensorMeta &meta) {
  metas.push_back(meta);
  graph.inputs.push_back(graph.numValues);
  return graph.numValues++;
}

int SubgraphBuilder::apply(OpDef op, llvm::ArrayRef<int> inputs, llvm::ArrayRef<unsigned> segments) {
  llvm::SmallVector<int, 2> results = applyAll(std::move(op), inputs, segments);
  return results.empty() ? -1 : results[0];
}

llvm::SmallVector<int, 2> SubgraphBuilder::applyAll(OpDef op, llvm::ArrayRef<int> inputs,
                                                    llvm::ArrayRef<unsigned> segments) {
  for (const Subgraph::Node &node : graph.nodes)
    if (llvm::ArrayRef<int>(node.inputs) == inputs && llvm::ArrayRef<unsigned>(node.segments) == segments &&
        node.op.isSame(op))
      return node.outputs;
  llvm::SmallVector<TensorMeta, 4> operandMetas;
  bool isWhole = firstError.empty();
  for (int input : inputs) {
    isWhole &= input >= 0;
    operandMetas.push_back(meta(input));
  }
  if (!isWhole) {
    if (firstError.empty())
      firstError = (op.name() + ": operands of a graph rule must exist, got none").str();
    return {};
  }
  llvm::Expected<Metas> results = op.infer(operandMetas, segments);
  if (!results) {
    firstError = takeError(results.takeError()).second;
    return {};
  }
  Subgraph::Node node;
  node.op = std::move(op);
  node.inputs.assign(inputs.begin(), inputs.end());
  node.segments.assign(segments.begin(), segments.end());
  for (TensorMeta &result : *results) {
    metas.push_back(std::move(result));
    node.outputs.push_back(graph.numValues++);
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().outputs;
}

void SubgraphBuilder::fail(llvm::Error error) {
  std::string message = takeError(std::move(error)).second;
  if (firstError.empty())
    firstError = std::move(message);
}

llvm::Expected<Subgraph> SubgraphBuilder::finish(llvm::ArrayRef<int> outputs) {
  if (!firstError.empty())
    return invalidArgument(firstError);
  llvm::SmallVector<bool, 32> used(graph.numValues, false);
  for (int output : outputs)
    if (output >= 0)
      used[output] = true;
  llvm::SmallVector<Subgraph::Node, 4> kept;
  for (Subgraph::Node &node : llvm::reverse(graph.nodes)) {
    if (llvm::none_of(node.outputs, [&](int v) { return used[v]; }))
      continue;
    for (int input : node.inputs)
      used[input] = true;
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  for (int input : graph.inputs)
    graph.inputUsed.push_back(used[input]);
  graph.outputs.assign(outputs.begin(), outputs.end());
  return std::move(graph);
}

llvm::Expected<Subgraph> OpDef::makeForwardGraph(llvm::ArrayRef<TensorMeta> operands,
                                                 llvm::ArrayRef<unsigned> segments) const {
  if (!opInfo->makeForward)
    return makeError(ErrorCode::Unimplemented, name() + ": operator must be a composite, got a single one");
  if (llvm::Expected<Metas> results = infer(operands, segments); !results)
    return results.takeError();
  SubgraphBuilder builder;
  llvm::SmallVector<int, 4> values;
  for (const TensorMeta &meta : operands)
    values.push_back(builder.input(meta));
  return builder.finish(opInfo->makeForward(builder, *this, values));
}

llvm::Expected<Subgraph> OpDef::makeBackwardGraph(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<bool> needed,
                                                  llvm::ArrayRef<bool> hasOutputGrad,
                                                  llvm::ArrayRef<unsigned> segments) const {
  llvm::Expected<Metas> results = infer(operands, segments);
  if (!results)
    return results.takeError();
  SubgraphBuilder builder;
  llvm::SmallVector<int, 8> values;
  llvm::SmallVector<bool, 4> wanted;
  for (unsigned i = 0; i < operands.size(); ++i) {
    values.push_back(builder.input(operands[i]));
    wanted.push_back(needed[i] && isFloat(operands[i].dtype));
  }
  for (const TensorMeta &result : *results)
    values.push_back(builder.input(result));
  bool any = false;
  for (unsigned i = 0; i < results->size(); ++i) {
    int grad = builder.input((*results)[i]);
    bool arrives = i < hasOutputGrad.size() && hasOutputGrad[i];
    values.push_back(arrives ? grad : -1);
    any |= arrives;
  }
  llvm::SmallVector<int, 4> grads(operands.size(), -1);
  if (any && llvm::is_contained(wanted, true) && opInfo->gradient)
    grads = opInfo->gradient(builder, *this, values, wanted);
  for (unsigned i = 0; i < operands.size(); ++i)
    grads[i] = wanted[i] ? pieces::fitGradient(builder, grads[i], values[i]) : -1;
  return builder.finish(grads);
}

} // namespace tess
