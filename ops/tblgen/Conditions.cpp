//===- Conditions.cpp - conditions and sizes of records as C++ functions --===//
#include "ops/tblgen/Generators.h"
#include "ops/tblgen/TermParser.h"

using namespace llvm;

namespace tess::tblgen {

static constexpr StringLiteral kParameters =
    "([[maybe_unused]] const OpDef &op, [[maybe_unused]] llvm::ArrayRef<TensorMeta> operands,\n"
    "    [[maybe_unused]] llvm::ArrayRef<unsigned> segments) {\n";

bool hasOwnShape(const OpModel &op) {
  return !op.strings("sizes").empty() || !op.text("order").empty() || (!op.conditions.empty() && !op.signature);
}

/// The operands of inference; optional ones are the last.
static std::string operandMeta(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0)
    op.fatal("a term must name an operand, got " + name);
  return "operands[" + std::to_string(index) + "]";
}

static std::string isGiven(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0 || op.operands[index].arity != '?')
    op.fatal("given must name an optional operand, got " + name);
  return "(operands.size() > " + std::to_string(index) + ")";
}

static std::string textOf(const TermScope &scope, StringRef text) {
  Term term = parseTerm(scope, text);
  if (term.kind != Term::Text)
    scope.op.fatal("subject must be a text, got '" + text + "'");
  return term.text;
}

static void emitRequire(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  os << "llvm::Error require" << kParameters;
  for (const RequireModel &each : op.conditions)
    os << "  if (!" << conditionText(scope, each.condition) << ")\n    return shapes::mustHoldOf("
       << (each.subject.empty() ? "op" : textOf(scope, each.subject)) << ", " << messageText(scope, each.must) << ", "
       << messageText(scope, each.got) << ");\n";
  os << "  return llvm::Error::success();\n}\n";
}

static std::string listText(const TermScope &scope, StringRef text) {
  Term term = parseTerm(scope, text);
  if (term.kind != Term::List)
    scope.op.fatal("sizes and order must be lists, got '" + text + "'");
  return "terms::listOf(" + term.text + ")";
}

/// The dtypes of the results where the record has a term for each.
static std::string dtypesText(const TermScope &scope) {
  const Record *rule = scope.op.def("dtypes");
  if (!rule->isSubClassOf("DTypes"))
    return "";
  std::vector<StringRef> terms = rule->getValueAsListOfStrings("terms");
  if (terms.size() != scope.op.strings("sizes").size())
    scope.op.fatal("DTypes must have a dtype for each of the sizes, got " + Twine(terms.size()));
  std::string text = ", {";
  for (StringRef each : terms) {
    Term term = parseTerm(scope, each);
    if (term.kind != Term::DType)
      scope.op.fatal("DTypes must be dtypes, got '" + each + "'");
    text += term.text + ", ";
  }
  return text + "}";
}

static void emitShape(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  os << "llvm::Expected<Metas> shape" << kParameters;
  if (!op.conditions.empty())
    os << "  if (llvm::Error e = require(op, operands, segments))\n    return std::move(e);\n";
  std::string order = op.text("order");
  if (!order.empty()) {
    os << "  return terms::metasOf({terms::permuted(operands[0].shape, " << listText(scope, order) << ")});\n}\n";
    return;
  }
  if (op.strings("sizes").empty()) {
    os << "  return shapes::ofForward(op, operands, segments);\n}\n";
    return;
  }
  os << "  return terms::metasOf({";
  for (const std::string &size : op.strings("sizes"))
    os << listText(scope, size) << ", ";
  os << "}" << dtypesText(scope) << ");\n}\n";
}

/// Whether a term names the shape of the result.
static bool readsResult(const OpModel &op, StringRef term) { return term.contains("#" + op.results[0].name); }

static void emitNormalise(const OpModel &op, const TermScope &ofOperands, raw_ostream &os) {
  std::vector<const Record *> all = op.record->getValueAsListOfDefs("normalised");
  if (all.empty())
    return;
  if (!op.text("normalise").empty())
    op.fatal("normalised must not come with normalise, got " + op.text("normalise"));
  auto meta = [&](StringRef name) {
    return op.resultIndex(name) == 0 ? std::string("(*metas)[0]") : ofOperands.meta(name);
  };
  TermScope scope = {op, meta, ofOperands.given};
  os << "llvm::Error normalise(OpDef &op, llvm::ArrayRef<TensorMeta> operands) {\n";
  for (const Record *each : all) {
    StringRef name = each->getValueAsString("attr"), term = each->getValueAsString("term");
    int attr = op.attrIndex(name);
    if (attr < 0)
      op.fatal("normalised must name attributes, got " + name);
    os << "  if (" << conditionText(scope, each->getValueAsString("when")) << ") {\n";
    if (readsResult(op, term))
      os << "    llvm::Expected<Metas> metas = op.infer(operands);\n    if (!metas)\n      return metas.takeError();\n";
    os << "    op.set(" << cppString(name) << ", " << attrText(scope, op.attrs[attr].kind, term) << ");\n  }\n";
  }
  os << "  return llvm::Error::success();\n}\n";
}

static void emitRegions(const OpModel &op, const TermScope &ofOperands, raw_ostream &os) {
  std::vector<const Record *> all = op.record->getValueAsListOfDefs("copies");
  bool hasRule = op.isLowering("Movement") && !op.def("lowering")->getValueAsString("rule").empty();
  if ((op.isLowering("Movement") && !hasRule) != !all.empty())
    op.fatal("a Movement must have either copies or a rule, others neither");
  if (all.empty())
    return;
  auto layout = [&](StringRef name) {
    return op.resultIndex(name) == 0 ? std::string("result") : ofOperands.meta(name);
  };
  TermScope scope = {op, layout, ofOperands.given};
  os << "llvm::Expected<regions::Regions> copies([[maybe_unused]] const OpDef &op, llvm::ArrayRef<Layout> operands,\n"
        "                                        const Layout &result) {\n  regions::Regions all;\n";
  for (const Record *each : all) {
    int operand = op.operandIndex(each->getValueAsString("operand"));
    if (operand < 0)
      op.fatal("a CopyRegion must name an operand, got " + each->getValueAsString("operand"));
    os << "  regions::add(all, " << operand << ", operands[" << operand << "], result";
    for (StringRef field : {"from", "to", "size"})
      os << ", " << listText(scope, each->getValueAsString(field));
    os << ");\n";
  }
  os << "  return all;\n}\n";
}

static void emitChannelAxis(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  Term axis = parseTerm({op, scope.meta, scope.given, {"i"}}, op.text("channelAxis"));
  if (axis.kind != Term::Int || !op.text("channels").empty())
    op.fatal("channelAxis must be a number, and the only rule for channels, got '" + op.text("channelAxis") + "'");
  os << "int channelAxis([[maybe_unused]] const OpDef &op, [[maybe_unused]] llvm::ArrayRef<TensorMeta> operands,\n"
        "                int i) {\n  return int("
     << axis.text << ");\n}\n";
}

void emitConditions(const OpModel &op, raw_ostream &os) {
  auto meta = [&](StringRef name) { return operandMeta(op, name); };
  auto given = [&](StringRef name) { return isGiven(op, name); };
  TermScope scope = {op, meta, given};
  if (!op.conditions.empty())
    emitRequire(op, {op, meta, given, {}, /*isDemand=*/true}, os);
  if (hasOwnShape(op))
    emitShape(op, scope, os);
  emitNormalise(op, scope, os);
  emitRegions(op, scope, os);
  if (!op.text("channelAxis").empty())
    emitChannelAxis(op, scope, os);
  if (op.text("order").empty())
    return;
  auto layout = [&](StringRef name) -> std::string {
    if (op.operandIndex(name) != 0)
      op.fatal("order must name operand 0 only, got " + name);
    return "x";
  };
  TermScope ofLayout = {op, layout, given};
  os << "llvm::Expected<Layout> view([[maybe_unused]] const OpDef &op, const Layout &x, llvm::ArrayRef<int64_t>) {\n"
        "  return terms::permuted(x, "
     << listText(ofLayout, op.text("order")) << ");\n}\n";
}

} // namespace tess::tblgen
