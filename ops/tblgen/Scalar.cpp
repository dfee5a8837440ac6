//===- Scalar.cpp - scalar dags as tables of nodes -----------------------===//
#include "ops/tblgen/Generators.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// Numbers the terms of a body; equal terms become one node.
class Numbering {
public:
  explicit Numbering(const OpModel &op) : op(op) {}
  int term(const Init *init, StringRef name);
  std::vector<ScalarModel::Node> nodes;

private:
  int leaf(StringRef name);
  int dag(const DagInit *dag);
  int node(ScalarModel::Node node) {
    auto [it, isNew] = known.try_emplace({node.fn, node.arguments, node.constant}, nodes.size());
    if (isNew)
      nodes.push_back(std::move(node));
    return it->second;
  }

  const OpModel &op;
  std::map<std::tuple<std::string, std::vector<int>, std::string>, int> known;
};

int Numbering::leaf(StringRef name) {
  if (int i = op.operandIndex(name); i >= 0)
    return node({"Operand", "operand", {i}, ""});
  int i = op.attrIndex(name);
  if (i < 0)
    op.fatal("scalar must name an operand or an attribute, got $" + name);
  return node({"Attr", "attr", {i}, ""});
}

int Numbering::dag(const DagInit *dag) {
  const Record *fn = cast<DefInit>(dag->getOperator())->getDef();
  ScalarModel::Node made = {fn->getValueAsString("enumerator").str(), scalarFnName(fn), {}, ""};
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    const auto *number = dyn_cast<IntInit>(dag->getArg(i));
    made.arguments.push_back(number ? int(number->getValue()) : term(dag->getArg(i), dag->getArgNameStr(i)));
  }
  return node(std::move(made));
}

int Numbering::term(const Init *init, StringRef name) {
  if (const auto *inner = dyn_cast<DagInit>(init))
    return dag(inner);
  if (const auto *constant = dyn_cast<DefInit>(init))
    return node({"Const", "const", {}, constant->getDef()->getValueAsString("value").str()});
  return leaf(name);
}

} // namespace

ScalarModel scalarOf(const OpModel &op) {
  std::vector<const DagInit *> dags = op.dags("scalar");
  if (op.isLowering("Elementwise_") != !dags.empty() || (!dags.empty() && dags.size() != op.results.size()))
    op.fatal("an Elementwise_ operator must have one scalar dag for each result");
  Numbering numbering(op);
  ScalarModel model;
  for (const DagInit *dag : dags) {
    // (s_id $x) is the identity.
    bool isIdentity = scalarFnName(cast<DefInit>(dag->getOperator())->getDef()) == "id";
    model.results.push_back(isIdentity ? numbering.term(dag->getArg(0), dag->getArgNameStr(0))
                                       : numbering.term(dag, ""));
  }
  model.nodes = std::move(numbering.nodes);
  return model;
}

void emitScalar(const OpModel &op, raw_ostream &os) {
  ScalarModel scalar = scalarOf(op);
  if (scalar.results.empty())
    return;
  os << "constexpr ScalarNode scalarNodes[] = {\n";
  for (const ScalarModel::Node &node : scalar.nodes) {
    os << "    {ScalarFn::" << node.fn;
    for (int argument : node.arguments)
      os << ", " << argument;
    os << (node.constant.empty() ? "" : ", -1, -1, -1, " + node.constant) << "},\n";
  }
  os << "};\nconstexpr int16_t scalarResults[] = {";
  for (int result : scalar.results)
    os << result << ", ";
  os << "};\nconstexpr ScalarProgram scalar = {scalarNodes, scalarResults};\n";
}

} // namespace tess::tblgen
