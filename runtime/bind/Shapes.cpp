//===- Shapes.cpp - every value's shape, with its checks ------------------===//
#include "ops/Error.h"
#include "runtime/bind/Binder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {

llvm::Error Binder::inferShapes(llvm::ArrayRef<TensorMeta> inputs) {
  metas.resize(exe.values.size());
  layouts.resize(exe.values.size());
  unknownAxes.resize(exe.values.size());
  for (auto [index, input] : llvm::enumerate(exe.inputs)) {
    metas[input.value] = inputs[index];
    layouts[input.value] = Layout::contiguous(inputs[index].shape);
  }
  for (auto [index, value] : llvm::enumerate(exe.values))
    if (value.kind == ValueKind::Constant) {
      metas[index] = exe.constants[value.constant].meta;
      layouts[index] = Layout::contiguous(metas[index].shape);
    }
  for (const ProgramNode &node : exe.nodes)
    if (llvm::Error error = inferNode(node))
      return at(std::move(error), node.results.empty() ? "" : exe.values[node.results[0]].location);
  return llvm::Error::success();
}

llvm::Error Binder::setResult(const ProgramNode &node, ValueId value, TensorMeta meta) {
  const ValueDecl &decl = exe.values[value];
  if (meta.dtype != decl.dtype)
    return makeError(ErrorCode::Internal, node.op.name() + ": result must be " + shortName(decl.dtype) +
                                              " as the program says, got " + toString(meta));
  layouts[value] = Layout::contiguous(meta.shape);
  if (decl.kind == ValueKind::View) {
    llvm::Expected<Layout> layout = node.op.info().viewRule(node.op, layouts[decl.base], meta.shape);
    if (!layout)
      return layout.takeError();
    layouts[value] = std::move(*layout);
  }
  metas[value] = std::move(meta);
  return llvm::Error::success();
}

bool Binder::isInferred(const ProgramNode &node) const {
  auto isOutput = [](const OutputDecl &output, ValueId result) { return output.value == result; };
  return !inferred.empty() && inferred.size() == exe.outputs.size() && exe.nodes.size() == 1 &&
         llvm::equal(exe.outputs, node.results, isOutput);
}

llvm::Expected<Metas> Binder::atMost(llvm::Expected<Metas> results, const OpDef &op,
                                     llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments,
                                     llvm::function_ref<void(unsigned, unsigned)> unknown) const {
  if (!results || llvm::all_of(*results, [](const TensorMeta &meta) { return meta.isStatic(); }))
    return results;
  if (!op.info().boundRule)
    return makeError(ErrorCode::Unimplemented,
                     op.name() + ": shape must be known when inputs are bound, got " + toString((*results)[0]));
  llvm::Expected<Metas> most = op.info().boundRule(op, operands, segments);
  if (!most)
    return most;
  for (auto [index, result] : llvm::enumerate(*results))
    for (unsigned axis = 0; axis < result.rank(); ++axis)
      if (result.shape[axis] == kUnknown)
        unknown(unsigned(index), axis);
  return most;
}

llvm::Error Binder::inferNode(const ProgramNode &node) {
  Metas operands;
  for (ValueId operand : node.operands) {
    if (!unknownAxes[operand].empty())
      return makeError(ErrorCode::Unimplemented,
                       node.op.name() + ": operand must have a shape that is known when inputs are bound, got " +
                           toString(metas[operand]) + " at most, from the data");
    operands.push_back(metas[operand]);
  }
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> unknown; // result, axis
  const OpDef &op = operatorOf(node.op);
  llvm::Expected<Metas> results =
      atMost(isInferred(node) ? llvm::Expected<Metas>(Metas(inferred)) : op.infer(operands, node.segments), op,
             operands, node.segments, [&](unsigned result, unsigned axis) { unknown.push_back({result, axis}); });
  if (!results)
    return results.takeError();
  if (results->size() != node.results.size())
    return makeError(ErrorCode::Internal, node.op.name() + ": must have " + llvm::Twine(results->size()) +
                                              " results in the program, got " + llvm::Twine(node.results.size()));
  for (auto [result, axis] : unknown)
    unknownAxes[node.results[result]].push_back(axis);
  bound->dependsOnData |= !unknown.empty();
  for (auto [value, meta] : llvm::zip(node.results, *results))
    if (llvm::Error error = setResult(node, value, std::move(meta)))
      return error;
  return llvm::Error::success();
}

/// Checks that a step with an operator writes what the operator infers, whatever the nodes say of its results: kernels
/// and copies rely on it.
llvm::Error Binder::checkOperator(const Step &step) const {
  // readFlat() has compared it with its node, or ProgramLowering has just written both.
  if (program.options.isValidated)
    return llvm::Error::success();
  Metas operands = llvm::map_to_vector<4>(step.operands, [&](ValueId value) { return metas[value]; });
  const OpDef &op = operatorOf(step.op);
  llvm::Expected<Metas> results =
      atMost(op.infer(operands, step.segments), op, operands, step.segments, [](unsigned, unsigned) {});
  if (!results)
    return results.takeError();
  if (llvm::equal(*results, step.results, [&](const TensorMeta &meta, ValueId v) { return meta == metas[v]; }))
    return llvm::Error::success();
  return makeError(ErrorCode::DataLoss, step.op.name() + ": step must write what its operator computes, got " +
                                            toString(metas[step.results[0]]));
}

} // namespace tess::runtime
