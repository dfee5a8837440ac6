//===- Graphs.cpp - gradient and forward dags as C++ functions -----------===//
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// Turns one dag into nested calls of ops/GraphPieces.h.
class Writer {
public:
  Writer(const Model &model, const OpModel &op, bool isGradient) : model(model), op(op), isGradient(isGradient) {}
  std::string term(const Init *init, StringRef name) const;
  std::string dag(const DagInit *dag) const;

private:
  std::string value(StringRef name) const;
  std::string attr(const ParsedAttr &attr) const;
  std::string joined(StringRef text) const;
  std::string choice(const DagInit *dag, StringRef condition) const;
  std::string constant(const Record &def) const;
  std::string special(StringRef callee, const DagInit *dag, const std::vector<ParsedAttr> &attrs) const;

  const Model &model;
  const OpModel &op;
  bool isGradient;
};

/// The term for a name. `v` holds the operands, then the results, then the gradients of the results.
std::string Writer::value(StringRef name) const {
  if (int i = op.operandIndex(name); i >= 0)
    return "v[" + std::to_string(i) + "]";
  if (isGradient) {
    unsigned n = op.operands.size();
    if (int i = op.resultIndex(name); i >= 0)
      return "v[" + std::to_string(n + i) + "]";
    if (name.starts_with("d"))
      if (int i = op.resultIndex(name.drop_front()); i >= 0)
        return op.results.size() == 1
                   ? "v[" + std::to_string(n + 1) + "]"
                   : "pieces::gradientOf(b, v, " + std::to_string(n) + ", " + std::to_string(i) + ")";
  }
  op.fatal("a dag must name an operand, a result or the gradient of a result, got $" + name);
}

/// A list of numbers, and of attributes that are lists, as in "[1, *$strides]".
std::string Writer::joined(StringRef text) const {
  SmallVector<StringRef> items;
  text.drop_front().drop_back().split(items, ',');
  std::vector<std::string> parts;
  for (StringRef item : items) {
    item = item.trim();
    bool isList = item.consume_front("*$");
    int index = isList ? op.attrIndex(item) : -1;
    int64_t number;
    if (isList ? index < 0 || op.attrs[index].kind != AttrKind::I64List : item.getAsInteger(10, number))
      op.fatal("a list of an attribute must have numbers and *$ attributes that are lists, got " + text);
    parts.push_back(isList ? "op.attr(" + std::to_string(index) + ").ints()" : ("IntList{" + item + "}").str());
  }
  return "AttrValue(pieces::joined({" + join(parts, ", ") + "}))";
}

std::string Writer::attr(const ParsedAttr &attr) const {
  StringRef reference = attr.reference;
  if (reference.starts_with("["))
    return joined(reference);
  if (reference.empty())
    return cppValue(attr.value);
  if (reference.consume_front("@"))
    return "AttrValue(b.meta(" + value(reference) + ").dtype)";
  if (reference.consume_front("#"))
    return "AttrValue(pieces::shapeOf(b, " + value(reference) + "))";
  int index = op.attrIndex(reference.drop_front());
  bool isOne = index >= 0 && op.attrs[index].kind == AttrKind::I64 && attr.attr->kind == AttrKind::I64List;
  if (index < 0 || (op.attrs[index].kind != attr.attr->kind && !isOne))
    op.fatal("an attribute reference must name an attribute of the same kind, got " + reference);
  return "op.attr(" + std::to_string(index) + ")";
}

/// The call of an operator that needs only the shape of its last operand, or may have nothing to do.
std::string Writer::special(StringRef callee, const DagInit *dag, const std::vector<ParsedAttr> &attrs) const {
  auto arg = [&](unsigned i) { return term(dag->getArg(i), dag->getArgNameStr(i)); };
  if (callee == "reshape_like")
    return "pieces::reshapeLike(b, " + arg(0) + ", " + arg(1) + ")";
  if (callee == "sum_to")
    return "pieces::sumTo(b, " + arg(0) + ", " + arg(1) + ")";
  if (callee == "broadcast_like")
    return "pieces::broadcastLike(b, " + arg(0) + ", " + arg(1) + ")";
  if (callee == "full_like" && attrs.size() == 1 && attrs[0].reference.empty())
    return "pieces::fullLike(b, " + arg(0) + ", " + attrs[0].value.toText() + ")";
  if (callee == "conj")
    return "pieces::conj(b, " + arg(0) + ")";
  if (callee == "cast" && attrs.size() == 1 && StringRef(attrs[0].reference).starts_with("@"))
    return "pieces::castTo(b, " + arg(0) + ", b.meta(" + value(StringRef(attrs[0].reference).drop_front()) + ").dtype)";
  return "";
}

/// One of two terms, by the value of an attribute.
std::string Writer::choice(const DagInit *dag, StringRef condition) const {
  std::vector<ParsedAttr> parsed = parseAttrText(op, condition);
  if (parsed.size() != 1 || !parsed[0].reference.empty() || parsed[0].attr->isRuntime || dag->getNumArgs() != 2)
    op.fatal("when must choose between two dags by the value of one attribute that is known before it runs, got '" +
             condition + "'");
  int index = op.attrIndex(parsed[0].attr->name);
  auto arg = [&](unsigned i) { return term(dag->getArg(i), dag->getArgNameStr(i)); };
  return "(op.attr(" + std::to_string(index) + ") == AttrValue(" + cppValue(parsed[0].value) + ") ? " + arg(0) + " : " +
         arg(1) + ")";
}

std::string Writer::dag(const DagInit *dag) const {
  const Record *def = cast<DefInit>(dag->getOperator())->getDef();
  if (def->getName() == "same")
    return term(dag->getArg(0), dag->getArgNameStr(0));
  if (def->isSubClassOf("when"))
    return choice(dag, def->getValueAsString("condition"));
  const OpModel *callee = model.find(def->getValueAsString("opName"));
  if (!callee)
    op.fatal("a dag must be made of known operators, got " + def->getValueAsString("opName"));
  if (all_of(callee->operands, [](const ValueModel &v) { return v.arity == '1'; }) &&
      callee->operands.size() != dag->getNumArgs())
    op.fatal(callee->name + " must have " + Twine(callee->operands.size()) + " operands, got " +
             Twine(dag->getNumArgs()));
  std::vector<ParsedAttr> attrs = parseAttrText(*callee, def->getValueAsString("attrText"));
  if (std::string text = special(callee->name, dag, attrs); !text.empty())
    return text;
  std::string text = "pieces::call(b, \"" + callee->name + "\", {";
  for (unsigned i = 0; i < dag->getNumArgs(); ++i)
    text += (i ? ", " : "") + term(dag->getArg(i), dag->getArgNameStr(i));
  text += "}";
  if (!attrs.empty()) {
    text += ", {";
    for (const ParsedAttr &a : attrs)
      text += "{\"" + a.attr->name + "\", " + attr(a) + "}, ";
    text += "}";
  }
  return text + ")";
}

std::string Writer::term(const Init *init, StringRef name) const {
  if (const auto *inner = dyn_cast<DagInit>(init))
    return dag(inner);
  if (const auto *number = dyn_cast<DefInit>(init))
    return constant(*number->getDef());
  return value(name);
}

std::string Writer::constant(const Record &def) const {
  StringRef number = def.getValueAsString("value");
  std::string text = number.str();
  if (number.consume_front("$")) {
    int index = op.attrIndex(number);
    if (index < 0)
      op.fatal("a constant must be a number or an attribute, got $" + number);
    text = "op.attr(" + std::to_string(index) + ")";
  }
  return "pieces::constantLike(b, " + text + ", " + value(def.getValueAsString("likeOperand")) + ")";
}

bool isNone(const DagInit *dag) { return cast<DefInit>(dag->getOperator())->getDef()->getName() == "none"; }

void requireSingles(const OpModel &op) {
  auto single = [](const ValueModel &v) { return v.arity == '1'; };
  if (!all_of(op.operands, single) || !all_of(op.results, single))
    op.fatal("operators with optional or variadic operands must name a rule, dags cannot describe them");
}

} // namespace

void emitGradient(const Model &model, const OpModel &op, raw_ostream &os) {
  std::vector<const DagInit *> dags = op.dags("gradient");
  if (dags.empty())
    return;
  requireSingles(op);
  if (dags.size() != op.operands.size())
    op.fatal("gradient must have one dag for each operand");
  os << "llvm::SmallVector<int, 4> gradient(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op,\n"
        "                                   llvm::ArrayRef<int> v, llvm::ArrayRef<bool> needed) {\n"
        "  llvm::SmallVector<int, 4> g("
     << op.operands.size() << ", -1);\n";
  Writer writer(model, op, true);
  for (unsigned i = 0; i < dags.size(); ++i)
    if (!isNone(dags[i]))
      os << "  if (needed[" << i << "])\n    g[" << i << "] = " << writer.dag(dags[i]) << ";\n";
  os << "  return g;\n}\n";
}

void emitForward(const Model &model, const OpModel &op, raw_ostream &os) {
  std::vector<const DagInit *> dags = op.dags("forward");
  bool hasRule = op.isLowering("Composite") && !op.def("lowering")->getValueAsString("rule").empty();
  if (op.isLowering("Composite") != (!dags.empty() || hasRule) || (!dags.empty() && hasRule))
    op.fatal("a Composite must have either forward dags or a rule, others neither");
  if (dags.empty())
    return;
  requireSingles(op);
  if (dags.size() != op.results.size())
    op.fatal("forward must have one dag for each result");
  os << "llvm::SmallVector<int, 4> forward(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op,\n"
        "                                  llvm::ArrayRef<int> v) {\n  return {";
  Writer writer(model, op, false);
  for (const DagInit *dag : dags)
    os << writer.dag(dag) << ", ";
  os << "};\n}\n";
}

std::string emitSplits(const Model &model, const OpModel &op, raw_ostream &os) {
  std::string rows;
  for (auto [number, split] : enumerate(op.record->getValueAsListOfDefs("splits"))) {
    requireSingles(op);
    int64_t version = split->getValueAsInt("version");
    const ListInit *dags = split->getValueAsListInit("graph");
    if (version < 1 || version >= op.record->getValueAsInt("version") || dags->size() != op.results.size())
      op.fatal("a split must be of an older version and have one dag for each result, got version " + Twine(version));
    std::string name = "split" + std::to_string(number);
    os << "llvm::SmallVector<int, 4> " << name
       << "(SubgraphBuilder &b, [[maybe_unused]] const OpDef &op, llvm::ArrayRef<int> v) {\n  return {";
    for (const Init *dag : *dags)
      os << Writer(model, op, false).dag(cast<DagInit>(dag)) << ", ";
    os << "};\n}\n";
    rows += "    {&op_" + op.name + "::info, " + std::to_string(version) + ", " +
            cppString(split->getValueAsString("when")) + ", op_" + op.name + "::" + name + "},\n";
  }
  return rows;
}

} // namespace tess::tblgen
