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

/// The operands of inference; optional ones and lists of them are the last.
static std::string operandMeta(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0)
    op.fatal("a term must name an operand, got " + name);
  std::string number = std::to_string(index);
  return op.operands[index].arity == '*' ? "operands.drop_front(" + number + ")" : "operands[" + number + "]";
}

static std::string isGiven(const OpModel &op, StringRef name) {
  int index = op.operandIndex(name);
  if (index < 0 || op.operands[index].arity != '?')
    op.fatal("given must name an optional operand, got " + name);
  return "(operands.size() > " + std::to_string(index) + ")";
}

/// A term of this kind; `demand` is the error of another one.
static std::string parseKind(const TermScope &scope, StringRef text, Term::Kind kind, const Twine &demand) {
  Term term = parseTerm(scope, text);
  if (term.kind != kind)
    scope.op.fatal(demand + ", got '" + text + "'");
  return term.text;
}

static void emitRequire(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  os << "llvm::Error require" << kParameters;
  for (const RequireModel &each : op.conditions)
    os << "  if (!" << conditionText(scope, each.condition) << ")\n    return shapes::mustHoldOf("
       << (each.subject.empty() ? "op" : parseKind(scope, each.subject, Term::Text, "subject must be a text")) << ", "
       << messageText(scope, each.must) << ", " << messageText(scope, each.got) << ");\n";
  os << "  return llvm::Error::success();\n}\n";
}

static std::string listText(const TermScope &scope, StringRef text) {
  return "terms::listOf(" + parseKind(scope, text, Term::List, "sizes and order must be lists") + ")";
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
  for (StringRef each : terms)
    text += parseKind(scope, each, Term::DType, "DTypes must be dtypes") + ", ";
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
  if (op.results[0].arity == '*') {
    os << "  return terms::metasOf("
       << parseKind(scope, op.strings("sizes")[0], Term::Lists, "sizes of a list of results must be lists")
       << ");\n}\n";
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
  auto meta = [&](StringRef name) {
    return op.resultIndex(name) == 0 ? std::string("(*metas)[0]") : ofOperands.meta(name);
  };
  TermScope scope = {op, meta, ofOperands.given};
  os << "llvm::Error normalise(OpDef &op, llvm::ArrayRef<TensorMeta> operands) {\n";
  std::string taken; // a term sees the attributes as they are given, so they are set behind the last one
  for (auto [number, each] : enumerate(all)) {
    StringRef name = each->getValueAsString("attr"), term = each->getValueAsString("term");
    int attr = op.attrIndex(name);
    if (attr < 0)
      op.fatal("normalised must name attributes, got " + name);
    std::string value = "value" + std::to_string(number);
    os << "  std::optional<AttrValue> " << value << ";\n  if (" << conditionText(scope, each->getValueAsString("when"))
       << ") {\n";
    if (readsResult(op, term) || each->getValueAsBit("isChecked"))
      os << "    llvm::Expected<Metas> metas = op.infer(operands);\n    if (!metas)\n      return metas.takeError();\n";
    os << "    " << value << " = " << attrText(scope, op.attrs[attr].kind, term) << ";\n  }\n";
    taken += "  if (" + value + ")\n    op.set(" + cppString(name) + ", std::move(*" + value + "));\n";
  }
  os << taken << "  return llvm::Error::success();\n}\n";
}

/// The copy of an operand, or of each in a list of them.
static void emitRegion(TermScope scope, const Record &region, raw_ostream &os) {
  StringRef name = region.getValueAsString("operand"), range = region.getValueAsString("range");
  int first = scope.op.operandIndex(name);
  if (first < 0 || (scope.op.operands[first].arity == '*') == range.empty())
    scope.op.fatal("a CopyRegion must name an operand, or with a range a list of them, got " + name);
  std::string operand = std::to_string(first);
  if (!range.empty()) {
    auto [index, count] = parseRange(scope, range);
    scope.indices.push_back(index);
    os << "  for (int64_t " << index << " = 0; " << index << " < " << count.text << "; ++" << index << ")\n  ";
    operand += " + " + index;
  }
  os << "  regions::add(all, " << operand << ", operands[" << operand << "], result";
  for (StringRef field : {"from", "to", "size", "steps"}) {
    StringRef term = region.getValueAsString(field);
    os << ", " << (term.empty() ? "{}" : listText(scope, term));
  }
  os << ");\n";
}

static void emitRegions(const OpModel &op, const TermScope &ofOperands, raw_ostream &os) {
  std::vector<const Record *> all = op.record->getValueAsListOfDefs("copies");
  if (op.isLowering("Movement") == all.empty())
    op.fatal("a Movement must have copies, others none");
  if (all.empty())
    return;
  auto layout = [&](StringRef name) {
    return op.resultIndex(name) == 0 ? std::string("result") : ofOperands.meta(name);
  };
  TermScope scope = {op, layout, ofOperands.given};
  os << "llvm::Expected<regions::Regions> copies([[maybe_unused]] const OpDef &op, llvm::ArrayRef<Layout> operands,\n"
        "                                        const Layout &result) {\n  regions::Regions all;\n";
  for (const Record *each : all)
    emitRegion(scope, *each, os);
  os << "  return all;\n}\n";
}

static void emitChannelAxis(const OpModel &op, const TermScope &scope, raw_ostream &os) {
  Term axis = parseTerm({op, scope.meta, scope.given, {"i"}}, op.text("channelAxis"));
  if (axis.kind != Term::Int || !op.text("channels").empty())
    op.fatal("channelAxis must be a number, and the only rule for channels, got '" + op.text("channelAxis") + "'");
  os << "int channelAxis([[maybe_unused]] const OpDef &op, [[maybe_unused]] llvm::ArrayRef<TensorMeta> operands,\n"
        "                int i, unsigned) {\n  return int("
     << axis.text << ");\n}\n";
}

/// The number of multiplications, over the operands of inference and the results.
static void emitMultiplyAdds(const OpModel &op, const TermScope &ofOperands, raw_ostream &os) {
  auto meta = [&](StringRef name) {
    int result = op.resultIndex(name);
    return result < 0 ? ofOperands.meta(name) : "results[" + std::to_string(result) + "]";
  };
  TermScope scope = {op, meta, ofOperands.given};
  os << "double multiplyAdds([[maybe_unused]] const OpDef &op, [[maybe_unused]] llvm::ArrayRef<TensorMeta> operands,\n"
        "                    [[maybe_unused]] llvm::ArrayRef<TensorMeta> results) {\n  return terms::times({";
  for (const std::string &factor : op.strings("multiplyAdds"))
    os << parseKind(scope, factor, Term::Int, "multiplyAdds must be numbers") << ", ";
  os << "});\n}\n";
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
  if (!op.strings("multiplyAdds").empty())
    emitMultiplyAdds(op, scope, os);
  std::vector<std::string> strided = op.strings("strided");
  if (op.text("order").empty() && strided.empty())
    return;
  auto layout = [&](StringRef name) -> std::string {
    if (op.operandIndex(name) != 0)
      op.fatal("order and strided must name operand 0 only, got " + name);
    return "x";
  };
  TermScope ofLayout = {op, layout, given};
  os << "llvm::Expected<Layout> view([[maybe_unused]] const OpDef &op, const Layout &x,\n"
        "                            [[maybe_unused]] llvm::ArrayRef<int64_t> shape) {\n";
  if (strided.empty()) {
    os << "  return terms::permuted(x, " << listText(ofLayout, op.text("order")) << ");\n}\n";
    return;
  }
  if (strided.size() != 2 || !op.text("order").empty())
    op.fatal("strided must have two lists and come without order, got " + Twine(strided.size()));
  os << "  return terms::strided(x, shape, " << listText(ofLayout, strided[0]) << ", " << listText(ofLayout, strided[1])
     << ");\n}\n";
}

} // namespace tess::tblgen
