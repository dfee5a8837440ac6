//===- Graphs.cpp - gradient and forward dags as C++ functions -----------===//
#include "ops/tblgen/Generators.h"
#include "ops/tblgen/GraphWriter.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

bool isNone(const DagInit *dag) { return operatorOf(dag)->getName() == "none"; }

/// Dags of `values` must be loops where these are lists.
void requireDescribed(const OpModel &op, ArrayRef<const DagInit *> dags, ArrayRef<ValueModel> values, StringRef field) {
  if (dags.size() != values.size())
    op.fatal(field + " must have one dag for each of its values, got " + Twine(dags.size()));
  for (auto [dag, value] : zip(dags, values)) {
    bool isLoop = operatorOf(dag)->isSubClassOf("each");
    if (value.arity == '?' && field != "gradient")
      op.fatal(field + " must not have optional results, got " + value.name);
    if (!isNone(dag) && isLoop != (value.arity == '*'))
      op.fatal(field + " must have each for a list of values and for nothing else, got " + value.name);
  }
}

void emitResults(const GraphWriter &writer, ArrayRef<const DagInit *> dags, raw_ostream &os) {
  if (dags.size() == 1 && operatorOf(dags[0])->isSubClassOf("each")) {
    os << "  return llvm::SmallVector<int, 4>(" << writer.dag(dags[0]) << ");\n}\n";
    return;
  }
  os << "  return {";
  for (const DagInit *dag : dags)
    os << writer.dag(dag) << ", ";
  os << "};\n}\n";
}

} // namespace

void emitGradient(const Model &model, const OpModel &op, raw_ostream &os) {
  std::vector<const DagInit *> dags = op.dags("gradient");
  if (dags.empty())
    return;
  requireDescribed(op, dags, op.operands, "gradient");
  os << "llvm::SmallVector<int, 4> gradient(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op,\n"
        "                                   llvm::ArrayRef<int> v, llvm::ArrayRef<bool> needed) {\n"
        "  llvm::SmallVector<int, 4> g("
     << operandCount(op) << ", -1);\n";
  GraphWriter writer(model, op, true);
  os << writer.shared(dags);
  for (unsigned i = 0; i < dags.size(); ++i) {
    if (isNone(dags[i]))
      continue;
    std::string number = std::to_string(i), value;
    if (op.operands[i].arity == '*') {
      Loop loop = writer.loop(dags[i]);
      os << "  for (int64_t " << loop.index << " = 0; " << loop.index << " < " << loop.count << "; ++" << loop.index
         << ")\n  ";
      number += " + " + loop.index;
      value = loop.body;
    } else {
      value = writer.dag(dags[i]);
    }
    std::string isThere = op.operands[i].arity == '?' ? "needed.size() > " + number + " && " : "";
    os << "  if (" << isThere << "needed[" << number << "])\n    g[" << number << "] = " << value << ";\n";
  }
  os << "  return g;\n}\n";
}

void emitForward(const Model &model, const OpModel &op, raw_ostream &os) {
  std::vector<const DagInit *> dags = op.dags("forward");
  bool hasRule = op.isLowering("Composite") && !op.def("lowering")->getValueAsString("rule").empty();
  if (op.isLowering("Composite") != (!dags.empty() || hasRule) || (!dags.empty() && hasRule))
    op.fatal("a Composite must have either forward dags or a rule, others neither");
  if (dags.empty())
    return;
  requireDescribed(op, dags, op.results, "forward");
  os << "llvm::SmallVector<int, 4> forward(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op,\n"
        "                                  [[maybe_unused]] llvm::ArrayRef<int> v) {\n";
  GraphWriter writer(model, op, false);
  os << writer.shared(dags);
  emitResults(writer, dags, os);
}

std::string emitSplits(const Model &model, const OpModel &op, raw_ostream &os) {
  std::string rows;
  for (auto [number, split] : enumerate(op.record->getValueAsListOfDefs("splits"))) {
    int64_t version = split->getValueAsInt("version");
    const ListInit *dags = split->getValueAsListInit("graph");
    if (version < 1 || version >= op.record->getValueAsInt("version") || dags->size() != op.results.size())
      op.fatal("a split must be of an older version and have one dag for each result, got version " + Twine(version));
    std::string name = "split" + std::to_string(number);
    os << "llvm::SmallVector<int, 4> " << name
       << "(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op, llvm::ArrayRef<int> v) {\n";
    std::vector<const DagInit *> graph;
    for (const Init *dag : *dags)
      graph.push_back(cast<DagInit>(dag));
    requireDescribed(op, graph, op.results, "a split");
    GraphWriter writer(model, op, false);
    os << writer.shared(graph);
    emitResults(writer, graph, os);
    rows += "    {&op_" + op.name + "::info, " + std::to_string(version) + ", " +
            cppString(split->getValueAsString("when")) + ", op_" + op.name + "::" + name + "},\n";
  }
  return rows;
}

} // namespace tess::tblgen
