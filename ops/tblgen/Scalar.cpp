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
  std::vector<std::string> nodes;

private:
  int leaf(StringRef name);
  int dag(const DagInit *dag);
  int node(const std::string &text) {
    auto [it, isNew] = known.try_emplace(text, nodes.size());
    if (isNew)
      nodes.push_back(text);
    return it->second;
  }

  const OpModel &op;
  std::map<std::string, int> known;
};

int Numbering::leaf(StringRef name) {
  if (int i = op.operandIndex(name); i >= 0)
    return node("{ScalarFn::Operand, " + std::to_string(i) + "}");
  int i = op.attrIndex(name);
  if (i < 0)
    op.fatal("scalar must name an operand or an attribute, got $" + name);
  return node("{ScalarFn::Attr, " + std::to_string(i) + "}");
}

int Numbering::dag(const DagInit *dag) {
  const Record *fn = cast<DefInit>(dag->getOperator())->getDef();
  std::string text = ("{ScalarFn::" + fn->getValueAsString("enumerator")).str();
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    const auto *number = dyn_cast<IntInit>(dag->getArg(i));
    int value = number ? int(number->getValue()) : term(dag->getArg(i), dag->getArgNameStr(i));
    text += ", " + std::to_string(value);
  }
  return node(text + "}");
}

int Numbering::term(const Init *init, StringRef name) {
  if (const auto *inner = dyn_cast<DagInit>(init))
    return dag(inner);
  if (const auto *constant = dyn_cast<DefInit>(init))
    return node("{ScalarFn::Const, -1, -1, -1, " + constant->getDef()->getValueAsString("value").str() + "}");
  return leaf(name);
}

} // namespace

void emitScalar(const OpModel &op, raw_ostream &os) {
  std::vector<const DagInit *> dags = op.dags("scalar");
  if (op.isLowering("Elementwise_") != !dags.empty() || (!dags.empty() && dags.size() != op.results.size()))
    op.fatal("an Elementwise_ operator must have one scalar dag for each result");
  if (dags.empty())
    return;
  Numbering numbering(op);
  std::string results;
  for (const DagInit *dag : dags) {
    // (s_id $x) is the identity.
    bool isIdentity = scalarFnName(cast<DefInit>(dag->getOperator())->getDef()) == "id";
    int node = isIdentity ? numbering.term(dag->getArg(0), dag->getArgNameStr(0)) : numbering.term(dag, "");
    results += std::to_string(node) + ", ";
  }
  os << "constexpr ScalarNode scalarNodes[] = {\n";
  for (const std::string &node : numbering.nodes)
    os << "    " << node << ",\n";
  os << "};\nconstexpr int16_t scalarResults[] = {" << results << "};\n"
     << "constexpr ScalarProgram scalar = {scalarNodes, scalarResults};\n";
}

} // namespace tess::tblgen
