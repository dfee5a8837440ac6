//===- InlineSubgraph.cpp - operators of a Subgraph as IR -----------------===//
#include "compiler/transforms/InlineSubgraph.h"
#include "ir/OpBridge.h"

using namespace mlir;

namespace tess::compiler {

FailureOr<SmallVector<Value>> inlineSubgraph(OpBuilder &builder, Location location, const Subgraph &graph,
                                             ArrayRef<Value> inputs) {
  SmallVector<Value> values(graph.numValues);
  for (auto [id, input] : llvm::zip(graph.inputs, inputs))
    values[id] = input;
  for (const Subgraph::Node &node : graph.nodes) {
    SmallVector<Value> operands = llvm::map_to_vector(node.inputs, [&](int id) { return values[id]; });
    FailureOr<Operation *> op = ir::createInferred(builder, location, node.op, operands, node.segments);
    if (failed(op))
      return failure();
    for (auto [id, result] : llvm::zip(node.outputs, (*op)->getResults()))
      values[id] = result;
  }
  return llvm::map_to_vector(graph.outputs, [&](int id) { return id < 0 ? Value() : values[id]; });
}

} // namespace tess::compiler
