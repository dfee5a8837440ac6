//===- ValueMetas.cpp - dtypes and shapes of a program's values -----------===//
#include "runtime/bind/ValueMetas.h"
#include "ops/graphs/Control.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {
namespace {

class Inference {
public:
  Inference(const Executable &exe, InferenceFailed failed) : metas(exe.values.size()), exe(exe), failed(failed) {}
  llvm::Error nodes(size_t first, size_t end);
  std::vector<TensorMeta> metas; // by value

private:
  llvm::Error node(const ProgramNode &node);
  llvm::Error loop(size_t number);

  const Executable &exe;
  InferenceFailed failed;
};

llvm::Error Inference::node(const ProgramNode &node) {
  Metas operands = llvm::map_to_vector<4>(node.operands, [&](ValueId operand) { return metas[operand]; });
  llvm::Expected<Metas> results = node.op.infer(operands, node.segments);
  if (!results)
    return failed(results.takeError());
  for (auto [value, meta] : llvm::zip(node.results, *results))
    metas[value] = meta;
  return llvm::Error::success();
}

/// A trip reads elements of the xs, and results behind what is carried are stacked.
llvm::Error Inference::loop(size_t number) {
  const ProgramNode &node = exe.nodes[number];
  const LoopDecl &loop = exe.loops[node.loop];
  int64_t trips = hasNoBound(loop) ? 1 : loop.length < 0 ? kUnknown : loop.length;
  for (auto [index, argument] : llvm::enumerate(loop.arguments)) {
    TensorMeta meta = metas[node.operands[index]];
    if (index >= loop.numCarried && meta.rank()) {
      trips = meta.shape.front();
      meta = control::elementOf(meta);
    }
    metas[argument] = meta;
  }
  if (llvm::Error error = nodes(number + 1, number + 1 + loop.numNodes))
    return error;
  for (auto [index, result] : llvm::enumerate(node.results)) {
    const TensorMeta &yielded = metas[loop.yields[index]];
    metas[result] = index < loop.numCarried ? yielded : control::stacked(yielded, trips);
  }
  return llvm::Error::success();
}

llvm::Error Inference::nodes(size_t first, size_t end) {
  for (size_t number = first; number < end; ++number) {
    int32_t loopNumber = exe.nodes[number].loop;
    if (llvm::Error error = loopNumber < 0 ? node(exe.nodes[number]) : loop(number))
      return error;
    number += loopNumber < 0 ? 0 : exe.loops[loopNumber].numNodes;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::vector<TensorMeta>> inferValueMetas(const Executable &exe, llvm::ArrayRef<TensorMeta> inputs,
                                                        InferenceFailed failed) {
  Inference inference(exe, failed);
  for (auto [input, meta] : llvm::zip(exe.inputs, inputs))
    inference.metas[input.value] = meta;
  for (auto [meta, decl] : llvm::zip(inference.metas, exe.values))
    if (decl.kind == ValueKind::Constant)
      meta = exe.constants[decl.constant].meta;
  if (llvm::Error error = inference.nodes(0, exe.nodes.size()))
    return std::move(error);
  return std::move(inference.metas);
}

} // namespace tess::runtime
