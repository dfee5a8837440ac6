//===- NodeBuilder.cpp - appends nodes to a kernel ------------------------===//
#include "compiler/lowering/NodeBuilder.h"

namespace tess::compiler {

int16_t NodeBuilder::add(KernelNode node) {
  spec.nodes.push_back(std::move(node));
  return int16_t(spec.nodes.size() - 1);
}

int16_t NodeBuilder::load(int16_t operand) {
  return add({.kind = NodeKind::Load, .dtype = spec.operands[operand].dtype, .operand = operand});
}

int16_t NodeBuilder::lookup(int16_t operand, llvm::ArrayRef<int16_t> indices, DType dtype) {
  int16_t slot = int16_t(spec.numLookups);
  spec.numLookups += unsigned(indices.size());
  return add({.kind = NodeKind::Lookup,
              .dtype = dtype,
              .args = llvm::SmallVector<int16_t, 3>(indices),
              .operand = operand,
              .slot = slot});
}

int16_t NodeBuilder::constant(double value, DType dtype) {
  return add({.kind = NodeKind::Const, .dtype = dtype, .constant = value});
}

int16_t NodeBuilder::attribute(bool isInt, int16_t slot, DType dtype) {
  return add({.kind = NodeKind::Attr, .dtype = dtype, .slot = slot, .attrIsInt = isInt});
}

int16_t NodeBuilder::apply(ScalarFn fn, DType dtype, llvm::ArrayRef<int16_t> args) {
  return add({.kind = NodeKind::Apply, .dtype = dtype, .fn = fn, .args = llvm::SmallVector<int16_t, 3>(args)});
}

int16_t NodeBuilder::cast(int16_t arg, DType dtype) {
  if (spec.nodes[arg].dtype == dtype)
    return arg;
  return apply(ScalarFn::Cast, dtype, {arg});
}

int16_t NodeBuilder::real(int16_t node) {
  if (!isComplex(dtypeOf(node)))
    return node;
  const KernelNode &made = spec.nodes[node];
  bool isJoined = made.kind == NodeKind::Apply && made.fn == ScalarFn::Complex;
  return isJoined ? made.args[0] : apply(ScalarFn::Real, partOf(dtypeOf(node)), {node});
}

int16_t NodeBuilder::imag(int16_t node) {
  if (!isComplex(dtypeOf(node)))
    return constant(0, dtypeOf(node));
  const KernelNode &made = spec.nodes[node];
  bool isJoined = made.kind == NodeKind::Apply && made.fn == ScalarFn::Complex;
  return isJoined ? made.args[1] : apply(ScalarFn::Imag, partOf(dtypeOf(node)), {node});
}

int16_t NodeBuilder::join(int16_t real, int16_t imag) {
  return apply(ScalarFn::Complex, complexOf(dtypeOf(real)), {real, imag});
}

int16_t NodeBuilder::conj(int16_t node) {
  if (!isComplex(dtypeOf(node)))
    return node;
  int16_t re = real(node), im = imag(node);
  return join(re, apply(ScalarFn::Neg, partOf(dtypeOf(node)), {im}));
}

int16_t NodeBuilder::reduce(ReduceKind kind, int16_t arg, DType dtype) {
  if (isComplex(dtype)) { // a sum or a mean, which goes by parts
    int16_t re = reduce(kind, real(arg), partOf(dtype)), im = reduce(kind, imag(arg), partOf(dtype));
    return join(re, im);
  }
  return add({.kind = NodeKind::Reduce, .dtype = dtype, .reduceKind = kind, .args = {arg}});
}

int16_t NodeBuilder::scan(ScalarFn fn, bool exclusive, llvm::ArrayRef<int16_t> args, DType dtype) {
  if (isComplex(dtype)) { // a sum, which goes by parts
    int16_t re = scan(fn, exclusive, {real(args[0])}, partOf(dtype));
    return join(re, scan(fn, exclusive, {imag(args[0])}, partOf(dtype)));
  }
  llvm::SmallVector<int16_t, 3> same;
  for (int16_t arg : args)
    same.push_back(cast(arg, dtype));
  return add({.kind = NodeKind::Scan, .dtype = dtype, .fn = fn, .exclusive = exclusive, .args = same});
}

int16_t NodeBuilder::finish(int16_t id, DType dtype) {
  int16_t result = cast(id, dtype);
  KernelNode &node = spec.nodes[result];
  if (!computesWider(dtype) || node.kind == NodeKind::Load)
    return result;
  node.roundsHere = true;
  return result;
}

} // namespace tess::compiler
