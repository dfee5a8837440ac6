//===- ScalarBodies.cpp - what elementwise operators compute --------------===//
#include "compiler/transforms/ScalarBodies.h"
#include "ir/OpBridge.h"

using namespace mlir;

namespace tess::compiler {

/// The node that the only result of the record's body is; null where there is none.
static const ScalarNode *resultOf(Operation *op) {
  const OpInfo *info = op ? ir::infoOf(op) : nullptr;
  if (!info || !info->scalar || info->scalar->results.size() != 1)
    return nullptr;
  return &info->scalar->nodes[info->scalar->results.front()];
}

std::optional<ScalarFn> binaryFunctionOf(Operation *op) {
  const ScalarNode *result = resultOf(op);
  if (!result || op->getNumOperands() != 2 || infoOf(result->fn).isLeaf || infoOf(result->fn).arity != 2)
    return std::nullopt;
  auto isOperand = [&](int16_t id, int16_t number) {
    const ScalarNode &node = ir::infoOf(op)->scalar->nodes[id];
    return node.fn == ScalarFn::Operand && node.a == number;
  };
  return isOperand(result->a, 0) && isOperand(result->b, 1) ? std::optional(result->fn) : std::nullopt;
}

std::optional<unsigned> numberAttrOf(Operation *op) {
  const ScalarNode *result = resultOf(op);
  if (!result || op->getNumOperands() != 0 || result->fn != ScalarFn::Attr || op->hasAttr(ir::kScalarsAttr))
    return std::nullopt;
  return unsigned(result->a);
}

std::optional<double> numberOf(Value value) {
  Operation *op = value.getDefiningOp();
  std::optional<unsigned> attr = numberAttrOf(op);
  if (!attr || ir::infoOf(op)->attrs[*attr].kind != AttrKind::F64)
    return std::nullopt;
  return ir::opDefOf(op).attr(*attr).f64();
}

} // namespace tess::compiler
