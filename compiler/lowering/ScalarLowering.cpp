//===- ScalarLowering.cpp - records' bodies as kernel nodes ---------------===//
#include "compiler/lowering/ScalarLowering.h"
#include "compiler/lowering/ComplexLowering.h"

namespace tess::compiler {

namespace {

/// A static attribute that the body reads, as a number.
double numberOf(const AttrValue &value) {
  if (value.kind() == AttrKind::F64)
    return value.f64();
  return value.kind() == AttrKind::Bool ? double(value.boolean()) : double(value.i64());
}

/// Lowers one ScalarProgram. A constant or attribute has no dtype of its own, so its node is made for each use.
class BodyLowering {
public:
  BodyLowering(NodeBuilder &nodes, const OpDef &op, llvm::ArrayRef<int16_t> operands, llvm::ArrayRef<DType> results)
      : nodes(nodes), spec(nodes.kernel()), op(op), operands(operands), results(results) {
    for (const AttrInfo &attr : op.info().attrs)
      slotOf.push_back(attr.isRuntime ? int16_t(spec.numAttrs++) : int16_t(-1));
  }

  llvm::SmallVector<int16_t, 2> run() {
    const ScalarProgram &program = *op.info().scalar;
    made.assign(program.nodes.size(), -1);
    for (size_t id = 0; id < program.nodes.size(); ++id)
      if (!isUntyped(program.nodes[id].fn))
        made[id] = lower(program.nodes[id]);
    llvm::SmallVector<int16_t, 2> out;
    for (auto [node, dtype] : llvm::zip(program.results, results))
      out.push_back(nodes.finish(use(node, dtype), dtype));
    return out;
  }

private:
  static bool isUntyped(ScalarFn fn) { return fn == ScalarFn::Const || fn == ScalarFn::Attr; }

  int16_t use(int16_t id, DType dtype) {
    const ScalarNode &node = op.info().scalar->nodes[id];
    if (!isUntyped(node.fn))
      return made[id];
    if (node.fn == ScalarFn::Const)
      return nodes.constant(node.constant, dtype);
    return attribute(node.a, dtype);
  }

  int16_t attribute(int16_t index, DType dtype) {
    const AttrInfo &attr = op.info().attrs[index];
    if (!attr.isRuntime) // then it is part of the code
      return nodes.constant(numberOf(op.attr(unsigned(index))), dtype);
    return nodes.attribute(attr.kind == AttrKind::I64, slotOf[index], dtype);
  }

  int16_t loadOperand(int16_t index) {
    bool widen = op.info().dtypes.kind == DTypeRuleKind::PromoteFloat;
    return widen ? nodes.cast(operands[index], results.front()) : operands[index];
  }

  llvm::SmallVector<int16_t, 3> argsOf(const ScalarNode &node) const {
    llvm::SmallVector<int16_t, 3> args;
    for (int16_t arg : {node.a, node.b, node.c})
      if (arg >= 0)
        args.push_back(arg);
    return args;
  }

  /// The dtype in which the arguments of `node` meet: that of the first argument that has one.
  DType meetingType(const ScalarNode &node, llvm::ArrayRef<int16_t> args) const {
    for (size_t i = node.fn == ScalarFn::Select ? 1 : 0; i < args.size(); ++i)
      if (made[args[i]] >= 0)
        return spec.nodes[made[args[i]]].dtype;
    return results.front();
  }

  int16_t lowerPhilox(const ScalarNode &node) {
    auto word = [&](int16_t arg) { return nodes.cast(use(arg, DType::Int64), DType::Int64); };
    int16_t seed = word(node.a), counter = word(node.b);
    return nodes.apply(node.fn, results.front() == DType::Float64 ? DType::Float64 : DType::Float32, {seed, counter});
  }

  int16_t lower(const ScalarNode &node) {
    switch (node.fn) {
    case ScalarFn::Operand:
      return loadOperand(node.a);
    case ScalarFn::Index:
      return nodes.apply(node.fn, DType::Int64, {});
    case ScalarFn::DimIndex:
      return nodes.add({.kind = NodeKind::Apply, .dtype = DType::Int64, .fn = node.fn, .slot = node.a});
    case ScalarFn::PhiloxUniform:
    case ScalarFn::PhiloxNormal:
      return lowerPhilox(node);
    case ScalarFn::Cast:
      return nodes.cast(use(node.a, results.front()), results.front());
    case ScalarFn::Real:
      return nodes.real(made[node.a]);
    case ScalarFn::Imag:
      return nodes.imag(made[node.a]);
    case ScalarFn::Conj:
      return nodes.conj(made[node.a]);
    case ScalarFn::Complex:
      return lowerJoin(node);
    default:
      return lowerFn(node);
    }
  }

  int16_t lowerJoin(const ScalarNode &node) {
    auto part = [&](int16_t arg) { return nodes.cast(made[arg], partOf(results.front())); };
    int16_t re = part(node.a), im = part(node.b);
    return nodes.join(re, im);
  }

  int16_t lowerFn(const ScalarNode &node) {
    llvm::SmallVector<int16_t, 3> args = argsOf(node);
    DType meet = meetingType(node, args);
    for (auto [i, arg] : llvm::enumerate(args)) {
      DType wanted = node.fn == ScalarFn::Select && i == 0 ? DType::Bool : meet;
      arg = nodes.cast(use(arg, wanted), wanted);
    }
    if (isComplex(meet) && node.fn != ScalarFn::Select)
      return applyComplex(nodes, node.fn, args);
    return nodes.apply(node.fn, infoOf(node.fn).type == ScalarType::Bool ? DType::Bool : meet, args);
  }

  NodeBuilder &nodes;
  KernelSpec &spec;
  const OpDef &op;
  llvm::ArrayRef<int16_t> operands;
  llvm::ArrayRef<DType> results;
  llvm::SmallVector<int16_t, 4> slotOf;
  llvm::SmallVector<int16_t, 16> made;
};

} // namespace

llvm::SmallVector<int16_t, 2> lowerElementwise(NodeBuilder &nodes, const OpDef &op, llvm::ArrayRef<int16_t> operands,
                                               llvm::ArrayRef<DType> results) {
  return BodyLowering(nodes, op, operands, results).run();
}

} // namespace tess::compiler
