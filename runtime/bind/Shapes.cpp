//===- Shapes.cpp - every value's shape, with its checks ------------------===//
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/bind/Binder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {

void Binder::setShape(ValueId value, const TensorMeta &meta) {
  metas[value] = meta;
  layouts[value] = Layout::contiguous(meta.shape);
}

Metas Binder::metasOf(llvm::ArrayRef<ValueId> values) const {
  return llvm::map_to_vector<4>(values, [&](ValueId value) { return metas[value]; });
}

llvm::Error Binder::inferShapes(llvm::ArrayRef<TensorMeta> inputs) {
  metas.resize(exe.values.size());
  layouts.resize(exe.values.size());
  unknownAxes.resize(exe.values.size());
  symbolValues.assign(exe.symbols.size(), kUnknown);
  for (auto [decl, meta] : llvm::zip(exe.inputs, inputs)) {
    setShape(decl.value, meta);
    for (auto [dim, size] : llvm::zip(decl.dims, meta.shape))
      if (dim.symbol >= 0)
        symbolValues[dim.symbol] = size;
  }
  for (auto [index, value] : llvm::enumerate(exe.values))
    if (value.kind == ValueKind::Constant)
      setShape(ValueId(index), exe.constants[value.constant].meta);
  trips.resize(exe.loops.size());
  return inferNodes(0, exe.nodes.size());
}

llvm::Error Binder::inferNodes(size_t first, size_t end) {
  for (size_t index = first; index < end; ++index) {
    const ProgramNode &node = exe.nodes[index];
    if (llvm::Error error = node.loop < 0 ? inferNode(node) : inferLoop(node))
      return at(std::move(error), node.results.empty() ? "" : exe.values[node.results[0]].location);
    index += node.loop < 0 ? 0 : exe.loops[node.loop].numNodes;
  }
  return llvm::Error::success();
}

int64_t Binder::sizeOf(uint32_t symbol) const {
  if (symbol < sizes::kDataSymbols)
    return symbolValues[symbol];
  const auto &[value, axis] = exe.dataSizes[symbol - sizes::kDataSymbols];
  return size_t(axis) < metas[value].rank() ? metas[value].shape[axis] : kUnknown;
}

const OpDef &Binder::operatorOf(const OpDef &own) const {
  if (options.op)
    return *options.op;
  bool hasSymbols = !exe.symbols.empty() || !exe.dataSizes.empty();
  if (!hasSymbols || !own.hasExpressions())
    return own;
  return computed.emplace_back(own.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); }));
}

llvm::Error Binder::setResult(const ProgramNode &node, const OpDef &op, ValueId value, const TensorMeta &meta) {
  const ValueDecl &decl = exe.values[value];
  if (!allows(decl.dtype, meta.dtype))
    return makeError(ErrorCode::Internal, node.op.name() + ": result must be " + shortName(decl.dtype) +
                                              " as the program says, got " + toString(meta));
  setShape(value, meta);
  if (decl.kind != ValueKind::View)
    return llvm::Error::success();
  return op.info().viewRule(op, layouts[decl.base], meta.shape).moveInto(layouts[value]);
}

bool Binder::isInferred(const ProgramNode &node) const {
  auto isOutput = [](const OutputDecl &output, ValueId result) { return output.value == result; };
  return options.outputs.size() == exe.outputs.size() && exe.nodes.size() == 1 &&
         llvm::equal(exe.outputs, node.results, isOutput);
}

llvm::Expected<Metas> Binder::inferResults(const ProgramNode &node, const OpDef &op,
                                           llvm::ArrayRef<TensorMeta> operands) {
  if (isInferred(node))
    return Metas(options.outputs);
  return op.infer(operands, node.segments);
}

llvm::Error Binder::boundUnknown(const ProgramNode &node, const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                 Metas &results) {
  if (llvm::all_of(results, [](const TensorMeta &meta) { return meta.isStatic(); }))
    return llvm::Error::success();
  if (!op.info().boundRule)
    return makeError(ErrorCode::Unimplemented,
                     op.name() + ": shape must be known when inputs are bound, got " + toString(results[0]));
  bound->dependsOnData = true;
  for (auto [value, meta] : llvm::zip(node.results, results))
    for (unsigned axis = 0; axis < meta.rank(); ++axis)
      if (meta.shape[axis] == kUnknown)
        unknownAxes[value].push_back(axis);
  return op.info().boundRule(op, operands, node.segments).moveInto(results);
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
  const OpDef &op = operatorOf(node.op);
  llvm::Expected<Metas> results = inferResults(node, op, operands);
  if (!results)
    return results.takeError();
  if (results->size() != node.results.size())
    return makeError(ErrorCode::Internal, node.op.name() + ": must have " + llvm::Twine(results->size()) +
                                              " results in the program, got " + llvm::Twine(node.results.size()));
  if (llvm::Error error = boundUnknown(node, op, operands, *results))
    return error;
  for (auto [value, meta] : llvm::zip(node.results, *results))
    if (llvm::Error error = setResult(node, op, value, meta))
      return error;
  return llvm::Error::success();
}

} // namespace tess::runtime
