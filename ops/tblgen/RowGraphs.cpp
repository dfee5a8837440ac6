//===- RowGraphs.cpp - dags of a plug-in's records as data ----------------===//
//
// A list of nodes, each after those that it reads, and the results. A value is "$x",
// an operand, a result or the gradient of one, or the number of a node.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/RowGraphs.h"
#include "ops/tblgen/GraphWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// Writes the dags of one field of a record.
class RowGraph {
public:
  explicit RowGraph(const OpModel &op) : op(op) {}
  json::Value dag(const DagInit *dag);
  json::Array nodes;

private:
  json::Value term(const Init *init, StringRef name);
  json::Array arguments(const DagInit *dag);
  json::Object made(const DagInit *dag);
  json::Object called(const DagInit *dag, StringRef result);
  json::Object condition(StringRef text) const;
  json::Object attributes(StringRef text) const;
  json::Value add(json::Object node) {
    nodes.push_back(std::move(node));
    return int64_t(nodes.size() - 1);
  }
  [[noreturn]] void refuse(const Twine &what) const {
    op.fatal("dags of a plug-in must be made of op, result, when, K, same and none, got " + what);
  }

  const OpModel &op;
  std::map<const DagInit *, json::Value> known;
};

bool isIdentifier(StringRef text) {
  return !text.empty() && !isDigit(text[0]) && all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

/// "$a" or "@x".
bool isReference(StringRef text) {
  return (text.starts_with("$") || text.starts_with("@")) && isIdentifier(text.drop_front());
}

json::Array RowGraph::arguments(const DagInit *dag) {
  json::Array values;
  for (unsigned i = 0; i < dag->getNumArgs(); ++i)
    values.push_back(term(dag->getArg(i), dag->getArgNameStr(i)));
  return values;
}

json::Value RowGraph::term(const Init *init, StringRef name) {
  if (const auto *inner = dyn_cast<DagInit>(init))
    return dag(inner);
  if (const auto *def = dyn_cast<DefInit>(init))
    return add(json::Object{{"constant", def->getDef()->getValueAsString("value")},
                            {"like", "$" + def->getDef()->getValueAsString("likeOperand").str()}});
  if (name.empty())
    refuse("a value without a name");
  return "$" + name.str();
}

json::Object RowGraph::attributes(StringRef text) const {
  json::Object attrs;
  SmallVector<StringRef> items;
  text.split(items, ';', -1, false);
  for (StringRef item : items) {
    auto [key, value] = item.split('=');
    value = value.trim();
    if (!isReference(value) && (value.find_first_of("$@#(") != StringRef::npos || value.contains(" for ")))
      op.fatal("attributes in dags of a plug-in must be values, $attribute or @operand, got '" + item + "'");
    attrs[key.trim()] = value;
  }
  return attrs;
}

/// "swap=true", or "isComplex(@x)".
json::Object RowGraph::condition(StringRef text) const {
  StringRef dtype = text.trim();
  if (dtype.consume_front("isComplex(@") && dtype.consume_back(")") && isIdentifier(dtype))
    return json::Object{{"is_complex", "$" + dtype.str()}};
  auto [name, value] = text.split('=');
  if (!isIdentifier(name.trim()) || value.starts_with("=") || op.attrIndex(name.trim()) < 0)
    op.fatal("when must ask for the value of an attribute, or isComplex, in a plug-in, got '" + text + "'");
  std::vector<ParsedAttr> parsed = parseAttrText(op, text);
  if (parsed.size() != 1 || !parsed[0].reference.empty() || parsed[0].attr->isRuntime)
    op.fatal("when must choose by the value of one attribute that is known before it runs, got '" + text + "'");
  return json::Object{{"attribute", parsed[0].attr->name}, {"equals", parsed[0].value.toText()}};
}

json::Object RowGraph::called(const DagInit *dag, StringRef result) {
  const Record *def = operatorOf(dag);
  json::Object node{{"op", def->getValueAsString("opName")}, {"inputs", arguments(dag)}};
  if (json::Object attrs = attributes(def->getValueAsString("attrText")); !attrs.empty())
    node["attributes"] = std::move(attrs);
  if (!result.empty())
    node["result"] = result;
  return node;
}

json::Object RowGraph::made(const DagInit *dag) {
  const Record *def = operatorOf(dag);
  if (def->isSubClassOf("op"))
    return called(dag, "");
  if (def->isSubClassOf("when") && dag->getNumArgs() == 2)
    return json::Object{{"when", condition(def->getValueAsString("condition"))}, {"inputs", arguments(dag)}};
  const auto *only = dag->getNumArgs() == 1 ? dyn_cast<DagInit>(dag->getArg(0)) : nullptr;
  if (def->isSubClassOf("result") && only && operatorOf(only)->isSubClassOf("op"))
    return called(only, def->getValueAsString("result"));
  refuse(dag->getAsString());
}

json::Value RowGraph::dag(const DagInit *dag) {
  StringRef name = operatorOf(dag)->getName();
  if (name == "none")
    return nullptr;
  if (name == "same" && dag->getNumArgs() == 1)
    return term(dag->getArg(0), dag->getArgNameStr(0));
  if (auto found = known.find(dag); found != known.end())
    return found->second;
  json::Value number = add(made(dag));
  known.emplace(dag, number);
  return number;
}

} // namespace

json::Object rowGraph(const OpModel &op, ArrayRef<const DagInit *> dags) {
  RowGraph graph(op);
  json::Array results;
  for (const DagInit *dag : dags)
    results.push_back(graph.dag(dag));
  return json::Object{{"nodes", std::move(graph.nodes)}, {"results", std::move(results)}};
}

} // namespace tess::tblgen
