//===- TermParser.cpp - terms of records as C++ ---------------------------===//
#include "ops/tblgen/TermParser.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// A function of ops/graphs/Terms.h: its operands (I number, L list, * any number of lists, M lists, X number or list,
/// T dtype), what it gives, and whether that is plain whatever the operands are.
struct Word {
  StringLiteral name, function, operands;
  Term::Kind result;
  bool isPlain;
};
constexpr Word kWords[] = {
    {"agreed", "sizes::agreed", "II", Term::Int, false},
    {"alike", "terms::alike", "M", Term::Truth, false},
    {"axis", "terms::fromFront", "XI", Term::Int, true},
    {"axes", "terms::allAxes", "LI", Term::List, true},
    {"broadcast", "terms::broadcast", "*", Term::List, false},
    {"broadcastAll", "terms::broadcastAll", "M", Term::List, false},
    {"contains", "terms::contains", "SS", Term::Truth, true},
    {"divides", "terms::mayDivide", "II", Term::Truth, false},
    {"fits", "terms::mayFit", "LL", Term::Truth, false},
    {"hasElements", "terms::hasElements", "LL", Term::Truth, true},
    {"hasSize", "terms::hasSize", "I", Term::Truth, true},
    {"inverse", "terms::inverse", "L", Term::List, true},
    {"isComplex", "tess::isComplex", "T", Term::Truth, true},
    {"isNumber", "terms::isNumber", "I", Term::Truth, true},
    {"isOneIndex", "views::isOneIndex", "III", Term::Truth, true},
    {"isSame", "terms::isSame", "LL", Term::Truth, true},
    {"isSymbolic", "sizes::isSymbolic", "I", Term::Truth, true},
    {"joins", "terms::mayBroadcast", "*", Term::Truth, false},
    {"max", "sizes::maximum", "II", Term::Int, false},
    {"merged", "terms::merged", "LII", Term::List, false},
    {"min", "sizes::minimum", "II", Term::Int, false},
    {"product", "terms::product", "L", Term::Int, false},
    {"sliceLength", "views::sliceLength", "IIII", Term::Int, false},
    {"sliceStart", "views::sliceStart", "IIII", Term::Int, false},
    {"sliceStop", "views::sliceStop", "IIII", Term::Int, false},
    {"startsInBounds", "views::startsInBounds", "II", Term::Truth, true},
    {"sum", "terms::sum", "L", Term::Int, false},
    {"unified", "terms::unified", "M", Term::List, false},
    {"windows", "windows::countOf", "IIIII", Term::Int, false},
    {"wide", "terms::wide", "T", Term::DType, true},
    {"with", "terms::with", "LII", Term::List, false},
    {"without", "terms::without", "LI", Term::List, false},
};

Term::Kind kindOf(char letter) {
  return letter == 'I'   ? Term::Int
         : letter == 'L' ? Term::List
         : letter == 'M' ? Term::Lists
         : letter == 'S' ? Term::Text
                         : Term::DType;
}

class Parser {
public:
  Parser(const TermScope &scope, StringRef text)
      : scope(scope), op(scope.op), all(text), rest(text.trim()), indices(scope.indices) {}

  Term whole() {
    Term value = term();
    end();
    return value;
  }
  void end() const {
    if (!rest.empty())
      fail("nothing more");
  }
  std::pair<std::string, Term> range() {
    std::string index = name();
    need("<");
    Term count = sum();
    require(count.kind == Term::Int, "a number of steps");
    return {index, count};
  }

private:
  [[noreturn]] void fail(const Twine &expected) const {
    op.fatal("a term must have " + expected + ", got '" + (rest.empty() ? "its end" : rest) + "' in '" + all + "'");
  }
  void require(bool holds, const Twine &expected) const {
    if (!holds)
      op.fatal("a term must have " + expected + ", got '" + all + "'");
  }
  bool take(StringRef sign) {
    if (!rest.consume_front(sign))
      return false;
    rest = rest.ltrim();
    return true;
  }
  bool takeWord(StringRef word) {
    if (rest.take_while([](char c) { return isAlnum(c) || c == '_'; }) != word)
      return false;
    return take(word);
  }
  void need(StringRef sign) {
    if (!take(sign))
      fail(sign);
  }
  std::string name() {
    std::string word = rest.take_while([](char c) { return isAlnum(c) || c == '_'; }).str();
    if (word.empty())
      fail("a name");
    take(word);
    return word;
  }

  Term term();
  Term either() { return chain("||", &Parser::both); }
  Term both() { return chain("&&", &Parser::comparison); }
  Term chain(StringRef sign, Term (Parser::*next)());
  Term comparison();
  Term sum();
  Term product();
  Term sign();
  Term value();
  Term list();
  Term shapes(const std::string &name);
  Term loop(const Twine &function, StringRef body);
  Term word(const std::string &name);
  Term attribute();
  Term compared(StringRef sign, const Term &a, const Term &b);
  Term arithmetic(StringRef sign, const Term &a, const Term &b);
  std::string asFloat(const Term &a) const {
    require(a.kind == Term::Int || a.kind == Term::Float, "numbers on both sides of a sign");
    return a.kind == Term::Float ? a.text : "double(" + a.text + ")";
  }

  const TermScope &scope;
  const OpModel &op;
  StringRef all, rest;
  std::vector<std::string> indices;
};

Term Parser::term() {
  Term condition = either();
  if (!take("?"))
    return condition;
  require(condition.kind == Term::Truth, "a condition before ?");
  Term first = term();
  need(":");
  Term second = term();
  require(first.kind == second.kind, "two values of one kind behind ?");
  bool isPlain = first.isPlain && second.isPlain;
  auto branch = [](const Term &t) { return t.kind == Term::List ? "terms::listOf(" + t.text + ")" : t.text; };
  return {first.kind, "(" + condition.text + " ? " + branch(first) + " : " + branch(second) + ")", isPlain};
}

Term Parser::chain(StringRef sign, Term (Parser::*next)()) {
  Term value = (this->*next)();
  while (take(sign)) {
    Term more = (this->*next)();
    require(value.kind == Term::Truth && more.kind == Term::Truth, "conditions beside " + sign);
    value = {Term::Truth, ("(" + value.text + " " + sign + " " + more.text + ")").str(), value.isPlain && more.isPlain};
  }
  return value;
}

Term Parser::compared(StringRef sign, const Term &a, const Term &b) {
  bool isPlain = a.isPlain && b.isPlain;
  bool isList = a.kind == Term::List && b.kind == Term::List;
  bool isNumber = a.kind == Term::Int && b.kind == Term::Int;
  StringRef equal = scope.isDemand ? "mustEqual" : "mayEqual";
  if (isList && sign == "==")
    return {Term::Truth, ("terms::" + equal + "(" + a.text + ", " + b.text + ")").str(), false};
  if (isNumber && !isPlain) {
    bool isSwapped = sign == ">" || sign == ">=";
    StringRef function = sign == "=="       ? equal
                         : sign == "!="     ? "mayDiffer"
                         : sign.size() == 2 ? "mayBeAtMost"
                                            : "mayBeBelow";
    return {Term::Truth,
            ("terms::" + function + "(" + (isSwapped ? b : a).text + ", " + (isSwapped ? a : b).text + ")").str(),
            false};
  }
  bool isOrdered = isNumber || (a.kind == Term::Float && b.kind == Term::Float);
  bool isEquality = (sign == "==" || sign == "!=") && a.kind == b.kind && !isList;
  require(isOrdered || isEquality, "values of one kind beside " + sign);
  return {Term::Truth, ("(" + a.text + " " + sign + " " + b.text + ")").str(), true};
}

Term Parser::comparison() {
  Term a = sum();
  if (takeWord("in")) {
    Term b = sum();
    require(a.kind == Term::Int && b.kind == Term::List, "a number before in, and a list behind it");
    return {Term::Truth, "llvm::is_contained(" + b.text + ", " + a.text + ")", true};
  }
  for (StringRef sign : {"==", "!=", "<=", ">=", "<", ">"})
    if (take(sign))
      return compared(sign, a, sum());
  return a;
}

Term Parser::arithmetic(StringRef sign, const Term &a, const Term &b) {
  if (a.kind != Term::Int || b.kind != Term::Int || sign == "/") {
    require(sign != "//" && sign != "%", "whole numbers beside " + sign);
    return {Term::Float, "(" + asFloat(a) + " " + sign.str() + " " + asFloat(b) + ")", true};
  }
  bool isPlain = a.isPlain && b.isPlain;
  if (isPlain && sign.size() == 1 && sign != "%")
    return {Term::Int, ("(" + a.text + " " + sign + " " + b.text + ")").str(), true};
  StringRef function = sign == "+"    ? "add"
                       : sign == "-"  ? "subtract"
                       : sign == "*"  ? "multiply"
                       : sign == "//" ? "floorDivide"
                                      : "modulo";
  return {Term::Int, ("sizes::" + function + "(" + a.text + ", " + b.text + ")").str(), isPlain};
}

Term Parser::sum() {
  Term value = product();
  while (true) {
    if (take("+"))
      value = arithmetic("+", value, product());
    else if (take("-"))
      value = arithmetic("-", value, product());
    else
      return value;
  }
}

Term Parser::product() {
  Term value = sign();
  while (true) {
    StringRef found;
    for (StringRef each : {"*", "//", "/", "%"})
      if (found.empty() && take(each))
        found = each;
    if (found.empty())
      return value;
    value = arithmetic(found, value, sign());
  }
}

Term Parser::sign() {
  if (take("-")) {
    Term number = sign();
    if (number.kind == Term::Int && !number.isPlain)
      return {Term::Int, "sizes::multiply(" + number.text + ", -1)"};
    require(number.kind == Term::Int || number.kind == Term::Float, "a number behind -");
    return {number.kind, "-" + number.text, true};
  }
  if (rest.starts_with("!") && !rest.starts_with("!=") && take("!")) {
    Term condition = sign();
    require(condition.kind == Term::Truth && condition.isPlain, "a condition that no size leaves open behind !");
    return {Term::Truth, "!" + condition.text, true};
  }
  Term found = value();
  while (take("[")) {
    bool isStart = take(":");
    Term index = term();
    need("]");
    require(index.kind == Term::Int && index.isPlain, "a number that is no size as an index");
    if (found.kind == Term::Lists && !isStart) {
      found = {Term::List, found.text + "[" + index.text + "]"};
      continue;
    }
    require(found.kind == Term::List, "a list before [");
    found.kind = isStart ? Term::List : Term::Int;
    found.text = (isStart ? "terms::start(" : "terms::at(") + found.text + ", " + index.text + ")";
  }
  return found;
}

/// The shape of an operand, or those of the operands in a list of them.
Term Parser::shapes(const std::string &name) {
  int index = op.operandIndex(name);
  if (index >= 0 && op.operands[index].arity == '*')
    return {Term::Lists, "terms::shapesOf(" + scope.meta(name) + ")"};
  return {Term::List, scope.meta(name) + ".shape"};
}

Term Parser::attribute() {
  std::string attr = name();
  int index = op.attrIndex(attr);
  require(index >= 0, "an attribute behind $");
  const AttrModel &model = op.attrs[index];
  bool isExpanded = any_of(op.attrs, [](const AttrModel &each) { return each.isBindTime; });
  require(!model.isRuntime || isExpanded, "attributes that are known before it runs");
  std::string text = "op.attr(" + std::to_string(index) + ")";
  switch (model.kind) {
  case AttrKind::I64:
    return {Term::Int, text + ".i64()", !model.isSize};
  case AttrKind::F64:
    return {Term::Float, text + ".f64()", true};
  case AttrKind::Bool:
    return {Term::Truth, text + ".boolean()", true};
  case AttrKind::Str:
    return {Term::Text, text + ".str()", true};
  case AttrKind::I64List:
    return {Term::List, text + ".ints()", !model.isSize};
  case AttrKind::DType:
    return {Term::DType, text + ".dtype()", true};
  case AttrKind::None:
  case AttrKind::Parameter:
  case AttrKind::Body:
    break; // a record has none
  }
  fail("an attribute with a value");
}

/// `body`, which is next, for each step of the range behind it, or for those of a list that the condition takes.
Term Parser::loop(const Twine &function, StringRef body) {
  rest = rest.drop_front(body.size() + StringRef(" for ").size()).ltrim();
  auto [index, count] = range();
  indices.push_back(index);
  std::string taken, step = "([[maybe_unused]] int64_t " + index + ") -> ";
  if (takeWord("if")) {
    Term condition = term();
    require(condition.kind == Term::Truth, "a condition behind if");
    taken = ", [&]" + step + "bool { return " + condition.text + "; }";
  }
  StringRef behind = rest;
  rest = body;
  Term each = term();
  end();
  rest = behind;
  indices.pop_back();
  StringRef type = each.kind == Term::Truth ? "bool" : each.kind == Term::Int ? "int64_t" : "IntList";
  std::string value = each.kind == Term::List ? "terms::listOf(" + each.text + ")" : each.text;
  std::string text =
      (function + "(" + count.text + ", [&]" + step + type + " { return " + value + "; }" + taken + ")").str();
  return {each.kind, text, each.isPlain};
}

/// What stands before the `for` that belongs to the bracket that has just been opened; empty when there is none.
StringRef bodyOfLoop(StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (depth < 0)
      return "";
    if (depth == 0 && text.substr(i).starts_with(" for "))
      return text.take_front(i);
  }
  return "";
}

Term Parser::list() {
  if (StringRef body = bodyOfLoop(rest); !body.empty()) {
    Term value = loop("terms::each", body);
    need("]");
    require(value.kind == Term::Int || value.kind == Term::List, "a number or a list for each step");
    value.kind = value.kind == Term::Int ? Term::List : Term::Lists;
    return value;
  }
  std::vector<std::string> numbers, parts; // numbers behind the last list, and what is before them
  bool isPlain = true;
  auto endPart = [&] {
    if (!numbers.empty())
      parts.push_back("IntList{" + join(numbers, ", ") + "}");
    numbers.clear();
  };
  while (!take("]")) {
    bool isList = take("*");
    Term item = isList ? sign() : term();
    require(item.kind == (isList ? Term::List : Term::Int), "numbers in a list, and lists behind *");
    isPlain &= item.isPlain;
    if (isList) {
      endPart();
      parts.push_back("terms::listOf(" + item.text + ")");
    } else {
      numbers.push_back(item.text);
    }
    if (!take(",") && !rest.starts_with("]"))
      fail("]");
  }
  if (parts.empty())
    return {Term::List, "IntList{" + join(numbers, ", ") + "}", isPlain};
  endPart();
  return {Term::List, "terms::joined({" + join(parts, ", ") + "})", isPlain};
}

Term Parser::word(const std::string &name) {
  const Word *found = find_if(kWords, [&](const Word &each) { return each.name == name; });
  require(found != std::end(kWords), "a word of ops/graphs/Terms.h before (");
  std::vector<std::string> operands;
  bool isPlain = true;
  Term::Kind result = found->result;
  do {
    Term operand = term();
    bool isMany = found->operands == "*";
    require(isMany || operands.size() < found->operands.size(), "as many operands as " + name + " has");
    char kind = isMany ? 'L' : found->operands[operands.size()];
    bool fits = kind == 'X' ? operand.kind == Term::Int || operand.kind == Term::List : operand.kind == kindOf(kind);
    require(fits, "operands that " + name + " takes");
    result = kind == 'X' ? operand.kind : result;
    isPlain &= operand.isPlain;
    operands.push_back(isMany ? "terms::Sizes(" + operand.text + ")" : operand.text);
  } while (take(","));
  need(")");
  require(found->operands == "*" || operands.size() == found->operands.size(), "as many operands as " + name + " has");
  std::string inside = join(operands, ", ");
  if (found->operands == "*")
    inside = "{" + inside + "}";
  return {result, (found->function + "(" + inside + ")").str(), found->isPlain || isPlain};
}

Term Parser::value() {
  if (take("(")) {
    Term inner = term();
    need(")");
    return inner;
  }
  if (take("["))
    return list();
  if (take("$"))
    return attribute();
  if (take("#"))
    return shapes(name());
  if (take("@"))
    return {Term::DType, scope.meta(name()) + ".dtype", true};
  if (take("'")) {
    StringRef text = rest.take_until([](char c) { return c == '\''; });
    rest = rest.drop_front(text.size());
    need("'");
    return {Term::Text, cppString(text), true};
  }
  if (!rest.empty() && isDigit(rest.front())) {
    StringRef number = rest.take_while([](char c) { return isDigit(c) || c == '.'; });
    take(number);
    bool isFloat = number.contains('.');
    return {isFloat ? Term::Float : Term::Int, isFloat ? number.str() : ("int64_t(" + number + ")").str(), true};
  }
  std::string word = name();
  if (word == "true" || word == "false")
    return {Term::Truth, word, true};
  if (word == "inf")
    return {Term::Float, "kInfinity", true};
  if (is_contained(indices, word))
    return {Term::Int, word, true};
  if (std::optional<DType> dtype = parseDType(word))
    return {Term::DType, cppDType(*dtype), true};
  need("(");
  if (word == "given") {
    std::string text = scope.given(name());
    need(")");
    return {Term::Truth, text, true};
  }
  if (word == "len") {
    Term list = term();
    need(")");
    require(list.kind == Term::List || list.kind == Term::Lists, "a list behind len");
    return {Term::Int, "int64_t(" + list.text + ".size())", true};
  }
  if (word != "all" && word != "count")
    return this->word(word);
  StringRef body = bodyOfLoop(rest);
  if (body.empty())
    fail("a condition for each step of a range");
  Term value = loop("terms::" + word, body);
  need(")");
  require(value.kind == Term::Truth, "a condition for each step");
  return word == "all" ? value : Term{Term::Int, value.text, true};
}

} // namespace

Term parseTerm(const TermScope &scope, StringRef text) { return Parser(scope, text).whole(); }

std::pair<std::string, Term> parseRange(const TermScope &scope, StringRef text) {
  Parser parser(scope, text);
  std::pair<std::string, Term> range = parser.range();
  parser.end();
  return range;
}

} // namespace tess::tblgen
