//===- Subgraph.cpp - building small graphs of operators -----------------===//
#include "ops/graphs/Subgraph.h"

#include "ops/graphs/BodySymbols.h"
#include "llvm/ADT/Hashing.h"
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

int SubgraphBuilder::wideInput(const TensorMeta &meta) {
  const int narrow = input(meta);
  OpDef cast = OpDef::get("cast");
  cast.set("dtype", DType::Float32);
  const int wide = apply(std::move(cast), {narrow});
  narrowInputs.push_back({wide, narrow});
  return wide;
}

/// The narrow value that `value` is, cast to float32 by wideInput(); -1: there is none.
int SubgraphBuilder::narrowOf(int value) {
  for (auto [wide, narrow] : narrowInputs)
    if (wide == value)
      return narrow;
  for (const Subgraph::Node &node : graph.nodes) {
    if (!llvm::is_contained(node.outputs, value))
      continue;
    if (node.op.info().lowering != Lowering::View)
      return -1;
    OpDef view = node.op; // a view of what was cast may be one more node
    llvm::SmallVector<int, 4> inputs(node.inputs);
    llvm::SmallVector<unsigned, 4> segments(node.segments);
    inputs[0] = narrowOf(inputs[0]);
    return inputs[0] < 0 ? -1 : apply(std::move(view), inputs, segments);
  }
  return -1;
}

llvm::SmallVector<int, 2> SubgraphBuilder::applyAll(OpDef op, llvm::ArrayRef<int> inputs,
                                                    llvm::ArrayRef<unsigned> segments) {
  const DTypeRule &rule = op.info().dtypes;
  if (rule.kind != DTypeRuleKind::PromoteOr)
    return append(std::move(op), inputs, segments);
  llvm::SmallVector<int, 4> given(inputs);
  for (int &value : given)
    if (const int narrow = narrowOf(value); narrow >= 0) {
      value = narrow;
      op.set(op.info().attrs[rule.attr].name, DType::Float32);
    }
  return append(std::move(op), given, segments);
}

llvm::SmallVector<int, 2> SubgraphBuilder::append(OpDef op, llvm::ArrayRef<int> inputs,
                                                  llvm::ArrayRef<unsigned> segments) {
  uint64_t hash = llvm::hash_combine(op.hash(), llvm::hash_combine_range(inputs));
  for (auto [node, nodeHash] : llvm::zip_equal(graph.nodes, hashes))
    if (nodeHash == hash && llvm::ArrayRef<int>(node.inputs) == inputs &&
        llvm::ArrayRef<unsigned>(node.segments) == segments && node.op.isSame(op))
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
  hashes.push_back(hash);
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
    node.op.forEachSymbol([&](uint32_t symbol) {
      if (control::isBodySymbol(symbol))
        used[control::valueOf(symbol)] = true;
    });
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  for (int input : graph.inputs)
    graph.inputUsed.push_back(used[input]);
  graph.outputs.assign(outputs.begin(), outputs.end());
  return std::move(graph);
}

} // namespace tess
