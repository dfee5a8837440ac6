//===- Evaluate.cpp - the operators of a Subgraph, one by one -------------===//
#include "eager/tensor/Evaluate.h"
#include "eager/tensor/Placement.h"
#include "ops/graphs/Control.h"

#include <cassert>

namespace tess::eager {

/// For each value of `graph` the index of the last node that reads it; -1: none. An output has the number of nodes.
static llvm::SmallVector<int, 16> lastUses(const Subgraph &graph, bool hasBodySizes) {
  llvm::SmallVector<int, 16> last(graph.numValues, -1);
  for (unsigned n = 0; n < graph.nodes.size(); ++n) {
    for (int id : graph.nodes[n].inputs)
      last[id] = n;
    if (hasBodySizes)
      graph.nodes[n].op.forEachSymbol([&](uint32_t symbol) {
        if (control::isBodySymbol(symbol))
          last[control::valueOf(symbol)] = n;
      });
  }
  for (int id : graph.outputs)
    if (id >= 0)
      last[id] = graph.nodes.size();
  return last;
}

/// The node with the sizes of `values` for its symbols.
static Subgraph::Node withSizes(const Subgraph::Node &node, llvm::ArrayRef<TensorRef> values) {
  Subgraph::Node sized = node;
  sized.op = control::withBodySizes(node.op, [&](int value, unsigned axis) { return values[value]->shape()[axis]; });
  return sized;
}

llvm::Expected<Tensors> evaluate(const Subgraph &graph, llvm::ArrayRef<Operand> operands, ApplyNode applyNode,
                                 bool hasBodySizes) {
  assert(operands.size() == graph.inputs.size() && "one operand for each input of the graph");
  llvm::SmallVector<TensorRef, 16> values(graph.numValues);
  for (unsigned i = 0; i < operands.size(); ++i)
    values[graph.inputs[i]] = TensorRef(operands[i].tensor);
  OnDevice here(operands); // of nodes without operands
  llvm::SmallVector<int, 16> lastUse = lastUses(graph, hasBodySizes);
  llvm::SmallVector<Operand, 4> read;
  for (int n = 0; n < int(graph.nodes.size()); ++n) {
    const Subgraph::Node &node = graph.nodes[n];
    read.clear();
    for (int id : node.inputs) {
      assert(values[id] && "inputs that nodes read must be given");
      read.push_back(values[id]);
    }
    Tensors made;
    bool isSized = hasBodySizes && node.op.hasExpressions();
    if (llvm::Error e = applyNode(isSized ? withSizes(node, values) : node, read, made))
      return std::move(e);
    for (unsigned r = 0; r < node.outputs.size(); ++r)
      values[node.outputs[r]] = std::move(made[r]);
    for (llvm::ArrayRef<int> ids : {llvm::ArrayRef<int>(node.inputs), llvm::ArrayRef<int>(node.outputs)})
      for (int id : ids)
        if (lastUse[id] <= n)
          values[id].reset(); // nothing reads it any more
  }
  Tensors results;
  for (int id : graph.outputs)
    results.push_back(id < 0 ? TensorRef() : values[id]);
  return results;
}

} // namespace tess::eager
