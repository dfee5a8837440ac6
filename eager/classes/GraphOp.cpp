//===- GraphOp.cpp - operators of a graph as one operator ----------------===//
#include "eager/classes/GraphOp.h"

#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tess::eager {

/// The body with the sizes of these operands.
static Subgraph sizedBody(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  Subgraph body = control::bodyOf(op);
  llvm::SmallVector<int64_t, 8> sizeOf;
  llvm::ArrayRef<int64_t> symbols = symbolsOf(op);
  size_t axis = 0;
  for (const TensorMeta &operand : operands)
    for (int64_t size : operand.shape) {
      if (axis < symbols.size() && symbols[axis] > 0) {
        sizeOf.resize(std::max<size_t>(sizeOf.size(), symbols[axis]), kUnknown);
        sizeOf[symbols[axis] - 1] = size;
      }
      ++axis;
    }
  for (Subgraph::Node &node : body.nodes)
    if (node.op.hasExpressions())
      node.op = node.op.withSymbols([&](uint32_t symbol) { return sizeOf[symbol]; });
  return body;
}

static llvm::Expected<Metas> inferGraph(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                        llvm::ArrayRef<unsigned>) {
  Subgraph body = sizedBody(op, operands);
  llvm::Expected<std::vector<TensorMeta>> values = inferValues(body, operands);
  if (!values)
    return values.takeError();
  Metas results;
  for (int id : body.outputs)
    results.push_back((*values)[id]);
  return results;
}

static const OpInfo &graphInfo() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr OperandInfo operands[] = {{"inputs", Arity::Variadic, kMovedMask}};
  static constexpr ResultInfo results[] = {{"outs", kMovedMask, false, Arity::Variadic}};
  static const AttrInfo attrs[] = {
      {"body", AttrKind::Body, false, true, false, nullptr, {}, -kInfinity, kInfinity, "the operators"},
      {"symbols", AttrKind::I64List, false, true, false, nullptr, {}, -kInfinity, kInfinity, "sizes in the body"},
      {"sized", AttrKind::Bool, false, true, false, nullptr, {}, -kInfinity, kInfinity, "for these sizes alone"}};
  static const OpInfo info = [] {
    OpInfo made = {};
    made.name = "graph";
    made.opdefName = "Graph";
    made.summary = "operators of a graph";
    made.id = std::numeric_limits<uint16_t>::max();
    made.version = 1;
    made.operands = operands;
    made.results = results;
    made.attrs = attrs;
    made.shapeRule = inferGraph;
    made.dtypes.kind = DTypeRuleKind::Rule;
    made.lowering = Lowering::Composite;
    made.regionSteps = -1;
    return made;
  }();
  return info;
}

OpDef graphOp(Subgraph body, IntList symbols, bool isSized) {
  OpDef op(graphInfo());
  op.set("body", BodyRef(std::make_shared<const Body>(std::move(body))));
  if (llvm::any_of(symbols, [](int64_t symbol) { return symbol > 0; }))
    op.set("symbols", std::move(symbols));
  if (isSized)
    op.set("sized", true);
  return op;
}

bool isSized(const OpDef &op) { return control::findBody(op) && &op.info() == &graphInfo() && op.has("sized"); }

llvm::ArrayRef<int64_t> symbolsOf(const OpDef &op) {
  bool hasSome = control::findBody(op) && &op.info() == &graphInfo() && op.has("symbols");
  return hasSome ? llvm::ArrayRef<int64_t>(op.ints("symbols")) : llvm::ArrayRef<int64_t>();
}

} // namespace tess::eager
