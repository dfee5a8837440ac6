//===- CompositeGradient.cpp - the gradient of a composite operator -------===//
//
// Reverse mode through the forward graph. Saved results replace the nodes that
// computed them; all other values that are needed are computed again.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/GraphPieces.h"
#include "llvm/ADT/STLExtras.h"

namespace tess {

namespace {

class ReverseMode {
public:
  ReverseMode(SubgraphBuilder &b, const Subgraph &forward)
      : b(b), forward(forward), values(forward.numValues, -1), grads(forward.numValues, -1),
        active(forward.numValues, false) {}

  void bindInput(unsigned index, int value, bool wanted) {
    values[forward.inputs[index]] = value;
    active[forward.inputs[index]] = wanted;
  }
  void bindOutput(unsigned index, int value, int grad) {
    int id = forward.outputs[index];
    saved.push_back({id, value});
    grads[id] = pieces::accumulate(b, grads[id], grad);
  }
  void replay();
  void reverse();
  int gradOfInput(unsigned index) const { return grads[forward.inputs[index]]; }

private:
  void reverse(const Subgraph::Node &node);
  bool addsAtIndices(const Subgraph::Node &node);

  SubgraphBuilder &b;
  const Subgraph &forward;
  llvm::SmallVector<int, 32> values, grads;
  llvm::SmallVector<bool, 32> active;
  llvm::SmallVector<std::pair<int, int>, 4> saved;
};

void ReverseMode::replay() {
  for (const Subgraph::Node &node : forward.nodes) {
    llvm::SmallVector<int, 4> inputs;
    bool isActive = false;
    for (int input : node.inputs) {
      inputs.push_back(values[input]);
      isActive |= active[input];
    }
    llvm::SmallVector<int, 2> outputs = b.applyAll(node.op, inputs, node.segments);
    for (auto [id, value] : llvm::zip(node.outputs, outputs)) {
      values[id] = value;
      active[id] = isActive && isDifferentiable(b.meta(value).dtype);
    }
    for (auto [id, value] : saved)
      if (llvm::is_contained(node.outputs, id))
        values[id] = value;
  }
}

void ReverseMode::reverse(const Subgraph::Node &node) {
  bool arrives = llvm::any_of(node.outputs, [&](int id) { return grads[id] >= 0; });
  if (!arrives || !node.op.info().gradient)
    return;
  llvm::SmallVector<int, 8> all;
  llvm::SmallVector<bool, 4> wanted;
  for (int id : node.inputs) {
    all.push_back(values[id]);
    wanted.push_back(active[id]);
  }
  for (int id : node.outputs)
    all.push_back(values[id]);
  for (int id : node.outputs)
    all.push_back(grads[id]);
  if (!llvm::is_contained(wanted, true) || addsAtIndices(node))
    return;
  llvm::SmallVector<int, 4> inner = node.op.info().gradient(b, node.op, all, wanted);
  for (unsigned i = 0; i < node.inputs.size(); ++i)
    if (wanted[i] && inner[i] >= 0) {
      int id = node.inputs[i];
      int fitted = pieces::fitGradient(b, inner[i], values[id]);
      if (const DType dtype = b.meta(values[id]).dtype; isNarrowFloat(dtype)) // of a product in float32
        fitted = pieces::castTo(b, fitted, dtype);
      grads[id] = pieces::accumulate(b, grads[id], fitted);
    }
}

/// Of several lookups in one value all but the last one's gradients are added where its gradient lies by then, so that
/// they need no zeros and no sums of their own.
bool ReverseMode::addsAtIndices(const Subgraph::Node &node) {
  if (node.op.info().lowering != Lowering::Lookup)
    return false;
  int &grad = grads[node.inputs[0]];
  if (grad < 0)
    return false;
  llvm::SmallVector<int, 4> operands = {grad, grads[node.outputs[0]]};
  for (int index : llvm::drop_begin(node.inputs))
    operands.push_back(values[index]);
  grad = pieces::callWrite(b, "add_along_axes", operands,
                           {{"axes", node.op.attr("axes")}, {"caller", node.op.attr("caller")}});
  return true;
}

void ReverseMode::reverse() {
  for (const Subgraph::Node &node : llvm::reverse(forward.nodes))
    reverse(node);
}

} // namespace

llvm::SmallVector<int, 4> differentiateForward(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> values,
                                               llvm::ArrayRef<bool> needed) {
  unsigned numOperands = needed.size(), numResults = (values.size() - numOperands) / 2;
  llvm::SmallVector<int, 4> grads(numOperands, -1);
  llvm::SmallVector<TensorMeta, 4> metas;
  for (int operand : values.take_front(numOperands))
    metas.push_back(b.meta(operand));
  llvm::Expected<Subgraph> forward = op.makeForwardGraph(metas);
  if (!forward) {
    b.fail(forward.takeError());
    return grads;
  }
  ReverseMode pass(b, *forward);
  for (unsigned i = 0; i < numOperands; ++i)
    pass.bindInput(i, values[i], needed[i]);
  for (unsigned i = 0; i < numResults; ++i)
    pass.bindOutput(i, values[numOperands + i], values[numOperands + numResults + i]);
  pass.replay();
  pass.reverse();
  for (unsigned i = 0; i < numOperands; ++i)
    grads[i] = needed[i] ? pass.gradOfInput(i) : -1;
  return grads;
}

} // namespace tess
