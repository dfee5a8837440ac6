//===- GraphWriter.cpp - dags of records as calls -------------------------===//
#include "ops/tblgen/GraphWriter.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// A short form of ops/graphs/GraphPieces.h or ops/graphs/PixelPieces.h: how its call begins, how many values it takes,
/// and its terms: I a number, L a list, T a dtype, S a text, A the value of an attribute.
struct Piece {
  StringLiteral name, call;
  unsigned values;
  StringLiteral terms;
};
constexpr Piece kPieces[] = {
    {"accumulate", "pieces::accumulate(b, ", 2, ""},
    {"as", "pieces::castTo(b, ", 1, "T"},
    {"count", "pieces::countOf(b, ", 1, "LT"},
    {"extent", "pieces::sizeOf(b, ", 1, "IT"},
    {"interpolated", "pieces::interpolated(b, ", 3, "IS"},
    {"numbers", "pieces::numbersAlong(b, ", 1, "IT"},
    {"pixels", "pieces::pixelsAt(b, ", 3, "SSA"},
    {"pixels_of", "pieces::pixelsOf(b, op, ", 4, "SSA"},
    {"summed", "pieces::sumOfBroadcast(b, ", 2, ""},
    {"unflatten", "pieces::splitAxis(b, op, ", 1, "III"},
};

} // namespace

static bool isMany(ArrayRef<ValueModel> values, int index) { return index >= 0 && values[index].arity == '*'; }

std::string operandCount(const OpModel &op) {
  bool isFixed = all_of(op.operands, [](const ValueModel &v) { return v.arity == '1'; });
  return isFixed ? std::to_string(op.operands.size()) : "needed.size()";
}

/// A value of a gradient, counted behind the operands.
std::string GraphWriter::behindOperands(unsigned i) const {
  bool isFixed = operandCount(op) != "needed.size()";
  return isFixed ? "v[" + std::to_string(op.operands.size() + i) + "]" : "v[needed.size() + " + std::to_string(i) + "]";
}

/// The term for a name. `v` holds the operands, then the results, then the gradients of the results.
std::string GraphWriter::value(StringRef name) const {
  if (isMany(op.operands, op.operandIndex(name)) || isMany(op.results, op.resultIndex(name)))
    op.fatal("a dag must name a value of a list by at, got $" + name);
  if (int i = op.operandIndex(name); i >= 0)
    return op.operands[i].arity == '1' ? "v[" + std::to_string(i) + "]"
                                       : "(" + given(name) + " ? v[" + std::to_string(i) + "] : -1)";
  if (isGradient) {
    if (int i = op.resultIndex(name); i >= 0)
      return behindOperands(i);
    if (name.starts_with("d"))
      if (int i = op.resultIndex(name.drop_front()); i >= 0)
        return op.results.size() == 1 ? behindOperands(1)
                                      : "pieces::gradientOf(b, v, " + operandCount(op) + ", " + std::to_string(i) + ")";
  }
  op.fatal("a dag must name an operand, a result or the gradient of a result, got $" + name);
}

/// The meta of a value, or those of a list of operands, which are the last ones.
std::string GraphWriter::metaOf(StringRef name) const {
  int index = op.operandIndex(name);
  if (!isMany(op.operands, index))
    return "b.meta(" + value(name) + ")";
  return "pieces::metasOf(b, v.slice(" + std::to_string(index) + ", " + (isGradient ? "needed" : "v") + ".size() - " +
         std::to_string(index) + "))";
}

/// A value of a list of operands or results, or its gradient.
std::string GraphWriter::elementOf(StringRef name, StringRef index) const {
  Term number = withScope([&](const TermScope &scope) { return parseTerm(scope, index); });
  if (number.kind != Term::Int)
    op.fatal("at must have a number, got '" + index + "'");
  if (int first = op.operandIndex(name); isMany(op.operands, first))
    return "v[" + std::to_string(first) + " + " + number.text + "]";
  if (isGradient && isMany(op.results, op.resultIndex(name)))
    return "v[" + operandCount(op) + " + " + number.text + "]";
  if (isGradient && name.starts_with("d") && isMany(op.results, op.resultIndex(name.drop_front())))
    return "pieces::gradientOf(b, v, " + operandCount(op) + ", " + number.text + ")";
  op.fatal("at must name a list of operands, or of results in a gradient, got $" + name);
}

/// Whether an optional operand or attribute is given, or the gradient of a result arrives.
std::string GraphWriter::given(StringRef name) const {
  if (int i = op.operandIndex(name); i >= 0 && op.operands[i].arity == '?')
    return (isGradient ? "(needed.size() > " : "(v.size() > ") + std::to_string(i) + ")";
  if (int i = isGradient && name.starts_with("d") ? op.resultIndex(name.drop_front()) : -1; i >= 0)
    return "(" + behindOperands(op.results.size() + i) + " >= 0)";
  int i = op.attrIndex(name);
  if (i < 0 || !op.attrs[i].isOptional)
    op.fatal("given must name an optional operand or attribute, got " + name);
  return "(op.attr(" + std::to_string(i) + ").kind() != AttrKind::None)";
}

std::string GraphWriter::attr(const ParsedAttr &attr) const {
  StringRef reference = attr.reference;
  if (reference.empty())
    return cppValue(attr.value);
  int index = reference.starts_with("$") ? op.attrIndex(reference.drop_front()) : -1;
  bool isOne = index >= 0 && op.attrs[index].kind == AttrKind::I64 && attr.attr->kind == AttrKind::I64List;
  if (index >= 0 && (op.attrs[index].kind == attr.attr->kind || isOne))
    return "op.attr(" + std::to_string(index) + ")";
  return withScope([&](const TermScope &scope) { return attrText(scope, attr.attr->kind, reference); });
}

/// The call of an operator that needs only the shape of its last operand, or may have nothing to do.
std::string GraphWriter::special(StringRef callee, const DagInit *dag, const std::vector<ParsedAttr> &attrs) const {
  auto arg = [&](unsigned i) { return argument(dag, i); };
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
  if (callee == "cast" && attrs.size() == 1 && !attrs[0].reference.empty())
    return "pieces::castTo(b, " + arg(0) + ", " + attr(attrs[0]) + ".dtype())";
  return "";
}

/// "axis=1", the value of one attribute, or a term.
std::string GraphWriter::condition(StringRef text) const {
  size_t sign = text.find('=');
  bool isValue = sign != StringRef::npos &&
                 all_of(text.take_front(sign), [](char c) { return isAlnum(c) || c == '_'; }) &&
                 !text.substr(sign).starts_with("==");
  if (!isValue)
    return withScope([&](const TermScope &scope) { return conditionText(scope, text); });
  std::vector<ParsedAttr> parsed = parseAttrText(op, text);
  if (parsed.size() != 1 || !parsed[0].reference.empty() || parsed[0].attr->isRuntime)
    op.fatal("when must choose between two dags by the value of one attribute that is known before it runs, got '" +
             text + "'");
  int index = op.attrIndex(parsed[0].attr->name);
  return "op.attr(" + std::to_string(index) + ") == AttrValue(" + cppValue(parsed[0].value) + ")";
}

/// One of two terms.
std::string GraphWriter::choice(const DagInit *dag, StringRef text) const {
  if (dag->getNumArgs() != 2)
    op.fatal("when must choose between two dags, got '" + text + "'");
  return "(" + condition(text) + " ? " + argument(dag, 0) + " : " + argument(dag, 1) + ")";
}

std::string GraphWriter::piece(const DagInit *dag, const Record &def) const {
  StringRef name = def.getValueAsString("piece");
  const Piece *found = find_if(kPieces, [&](const Piece &each) { return each.name == name; });
  std::vector<StringRef> terms = def.getValueAsListOfStrings("terms");
  if (found == std::end(kPieces) || terms.size() != found->terms.size() || dag->getNumArgs() != found->values)
    op.fatal("a piece must be one of ops/tblgen/Graphs.cpp with its values and terms, got " + name);
  std::string text = found->call.str();
  for (unsigned i = 0; i < dag->getNumArgs(); ++i)
    text += (i ? ", " : "") + argument(dag, i);
  for (auto [kind, each] : zip(found->terms, terms)) {
    if (int index = kind == 'A' ? op.attrIndex(each.drop_front()) : -1; index >= 0) {
      text += ", op.attr(" + std::to_string(index) + ")";
      continue;
    }
    if (std::optional<DType> dtype = kind == 'T' ? parseDType(each) : std::nullopt) {
      text += ", " + cppDType(*dtype);
      continue;
    }
    Term::Kind wanted = kind == 'I'   ? Term::Int
                        : kind == 'L' ? Term::List
                        : kind == 'T' ? Term::DType
                        : kind == 'S' ? Term::Text
                                      : Term::Float;
    Term value = withScope([&](const TermScope &scope) { return parseTerm(scope, each); });
    if (value.kind != wanted)
      op.fatal("a piece must be one of ops/tblgen/Graphs.cpp with its values and terms, got '" + each + "'");
    text += ", " + value.text;
  }
  return text + ")";
}

/// The operands of a call, of which a list is the last one.
std::string GraphWriter::arguments(const DagInit *dag) const {
  unsigned count = dag->getNumArgs();
  const auto *last = count ? dyn_cast<DagInit>(dag->getArg(count - 1)) : nullptr;
  bool hasList = last && operatorOf(last)->isSubClassOf("each");
  std::string text;
  for (unsigned i = 0; i + hasList < count; ++i)
    text += (i ? ", " : "") + argument(dag, i);
  if (!hasList)
    return "{" + text + "}";
  std::string list = argument(dag, count - 1);
  return count == 1 ? list : "pieces::joined({" + text + "}, " + list + ")";
}

std::string GraphWriter::called(const DagInit *dag, const Record &def, StringRef result) const {
  const OpModel *callee = model.find(def.getValueAsString("opName"));
  if (!callee)
    op.fatal("a dag must be made of known operators, got " + def.getValueAsString("opName"));
  auto isOne = [](const ValueModel &v) { return v.arity == '1'; };
  if (all_of(callee->operands, isOne) && callee->operands.size() != dag->getNumArgs())
    op.fatal(callee->name + " must have " + Twine(callee->operands.size()) + " operands, got " +
             Twine(dag->getNumArgs()));
  std::vector<ParsedAttr> attrs = parseAttrText(*callee, def.getValueAsString("attrText"));
  if (std::string text = special(callee->name, dag, attrs); !text.empty())
    return text;
  int number = result.empty() ? 0 : callee->resultIndex(result);
  if (number < 0)
    op.fatal("a result must be one of " + callee->name + ", got " + result);
  std::string text = "pieces::call(b, \"" + callee->name + "\", " + arguments(dag);
  bool hasOptional = any_of(callee->operands, [](const ValueModel &v) { return v.arity == '?'; });
  if (!attrs.empty() || number > 0 || hasOptional) {
    text += ", {";
    for (const ParsedAttr &a : attrs)
      text += "{\"" + a.attr->name + "\", " + attr(a) + "}, ";
    text += "}";
  }
  if (number > 0 || hasOptional)
    text += ", " + std::to_string(number);
  if (hasOptional) {
    text += ", {";
    for (unsigned i = 0; i < callee->operands.size(); ++i)
      text += (i ? ", " : "") + std::string(i < dag->getNumArgs() ? "1" : "0");
    text += "}";
  }
  return text + ")";
}

/// The dag in a word that has one.
const DagInit *GraphWriter::onlyDag(const DagInit *dag) const {
  const auto *only = dag->getNumArgs() == 1 ? dyn_cast<DagInit>(dag->getArg(0)) : nullptr;
  if (!only)
    op.fatal(operatorOf(dag)->getType()->getAsString() + " must have one dag");
  return only;
}

std::string GraphWriter::texts(const TermScope &scope, const Record &def) const {
  return messageText(scope, def.getValueAsString("must")) + ", " + messageText(scope, def.getValueAsString("got"));
}

/// A dag that is no shared value.
std::string GraphWriter::inner(const DagInit *dag) const {
  const Record &def = *operatorOf(dag);
  if (def.getName() == "same")
    return argument(dag, 0);
  if (def.getName() == "none")
    return "-1";
  if (def.isSubClassOf("at"))
    return elementOf(dag->getArgNameStr(0), def.getValueAsString("index"));
  if (def.isSubClassOf("when"))
    return choice(dag, def.getValueAsString("condition"));
  if (def.isSubClassOf("piece"))
    return piece(dag, def);
  if (def.isSubClassOf("result")) {
    const DagInit *call = onlyDag(dag);
    return called(call, *operatorOf(call), def.getValueAsString("result"));
  }
  if (def.isSubClassOf("must"))
    return withScope([&](const TermScope &scope) {
      return "(" + conditionText(scope, def.getValueAsString("condition")) + " ? " + argument(dag, 0) +
             " : pieces::refused(b, shapes::mustHoldOf(op, " + texts(scope, def) + ")))";
    });
  if (!def.isSubClassOf("each"))
    return called(dag, def, "");
  Loop made = loop(dag);
  return "pieces::each(" + made.count + ", [&](int64_t " + made.index + ") { return " + made.body + "; })";
}

Loop GraphWriter::loop(const DagInit *dag) const {
  StringRef range = operatorOf(dag)->getValueAsString("range");
  auto [index, count] = withScope([&](const TermScope &scope) { return parseRange(scope, range); });
  indices.push_back(index);
  std::string body = argument(dag, 0);
  indices.pop_back();
  return {index, count.text, body};
}

std::string GraphWriter::dag(const DagInit *dag) const {
  auto name = names.find(dag);
  return name == names.end() ? inner(dag) : name->second + "()";
}

std::string GraphWriter::term(const Init *init, StringRef name) const {
  if (const auto *inner = dyn_cast<DagInit>(init))
    return dag(inner);
  if (const auto *number = dyn_cast<DefInit>(init))
    return constant(*number->getDef());
  return value(name);
}

std::string GraphWriter::constant(const Record &def) const {
  StringRef number = def.getValueAsString("value");
  std::string text = number.str();
  if (number.consume_front("$")) {
    int index = op.attrIndex(number);
    if (index < 0)
      op.fatal("a constant must be a number or an attribute, got $" + number);
    text = "op.attr(" + std::to_string(index) + ")";
    if (op.attrs[index].kind == AttrKind::I64)
      text = "double(" + text + ".i64())";
  }
  return "pieces::constantLike(b, " + text + ", " + value(def.getValueAsString("likeOperand")) + ")";
}

/// The index of a loop.
static StringRef indexOf(const DagInit *dag) {
  return operatorOf(dag)->getValueAsString("range").split('<').first.trim();
}

/// Whether a text of the dag, or of one in it, names the index of a loop around it.
static bool mentions(const Init *init, StringRef index) {
  const auto *dag = dyn_cast<DagInit>(init);
  if (!dag || (operatorOf(dag)->isSubClassOf("each") && indexOf(dag) == index))
    return false;
  for (const RecordVal &field : operatorOf(dag)->getValues()) {
    std::string text = field.getValue()->getAsString();
    for (size_t i = 0; (i = StringRef(text).find(index, i)) != StringRef::npos; i += index.size()) {
      auto isWord = [&](size_t at) { return at < text.size() && (isAlnum(text[at]) || text[at] == '_'); };
      if (!isWord(i - 1) && !isWord(i + index.size()))
        return true;
    }
  }
  return any_of(dag->getArgs(), [&](const Init *arg) { return mentions(arg, index); });
}

void GraphWriter::count(const DagInit *dag, bool isInLoop) {
  unsigned before = uses[dag];
  uses[dag] += isInLoop ? 2 : 1;
  if (before > 1 || (before == 1 && !isInLoop))
    return;
  bool isLoop = operatorOf(dag)->isSubClassOf("each");
  for (const Init *arg : dag->getArgs())
    if (const auto *inner = dyn_cast<DagInit>(arg))
      count(inner, isLoop || (isInLoop && uses[dag] > 1));
  if (before == 0)
    order.push_back(dag);
}

std::string GraphWriter::shared(ArrayRef<const DagInit *> dags) {
  for (const DagInit *each : dags)
    if (operatorOf(each)->getName() != "none")
      count(each, false);
  std::vector<std::string> loops;
  for (const DagInit *each : order)
    if (operatorOf(each)->isSubClassOf("each"))
      loops.push_back(indexOf(each).str());
  std::string text;
  for (const DagInit *each : order) {
    const Record *def = operatorOf(each);
    bool isWord = def->isSubClassOf("each") || def->getName() == "same" || def->getName() == "none";
    if (isWord || uses[each] < 2 || any_of(loops, [&](StringRef index) { return mentions(each, index); }))
      continue;
    std::string name = "shared" + std::to_string(names.size());
    text += "  pieces::Once " + name + "([&] { return " + inner(each) + "; });\n";
    names[each] = name;
  }
  return text;
}

} // namespace tess::tblgen
