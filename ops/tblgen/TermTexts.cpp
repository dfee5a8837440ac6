//===- TermTexts.cpp - what terms are put into, as C++ ---------------------===//
#include "ops/tblgen/TermParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

std::string conditionText(const TermScope &scope, StringRef text) {
  Term term = parseTerm(scope, text);
  if (term.kind != Term::Truth)
    scope.op.fatal("a condition must be one, got '" + text + "'");
  return term.text;
}

std::string attrText(const TermScope &scope, AttrKind kind, StringRef text) {
  static constexpr std::pair<AttrKind, Term::Kind> kinds[] = {
      {AttrKind::I64, Term::Int},  {AttrKind::F64, Term::Float},    {AttrKind::Bool, Term::Truth},
      {AttrKind::Str, Term::Text}, {AttrKind::I64List, Term::List}, {AttrKind::DType, Term::DType}};
  Term term = parseTerm(scope, text);
  bool isWhole = kind == AttrKind::F64 && term.kind == Term::Int;
  auto *wanted = find_if(kinds, [&](auto each) { return each.first == kind; });
  if (!isWhole && term.kind != wanted->second)
    scope.op.fatal("an attribute must be given a value of its kind, got '" + text + "'");
  if (term.kind == Term::List)
    return "AttrValue(terms::listOf(" + term.text + "))";
  return "AttrValue(" + (isWhole ? "double(" + term.text + ")" : term.text) + ")";
}

std::string messageText(const TermScope &scope, StringRef text) {
  std::vector<std::string> parts = {"std::string()"};
  while (!text.empty()) {
    auto [words, behind] = text.split('{');
    if (!words.empty())
      parts.push_back(cppString(words));
    if (behind.empty())
      break;
    auto [inner, after] = behind.split('}');
    text = after;
    bool isOperand = scope.op.operandIndex(inner) >= 0;
    Term term = isOperand ? Term{Term::Text, ""} : parseTerm(scope, inner);
    if (term.kind != Term::Int && term.kind != Term::List && term.kind != Term::Text && term.kind != Term::DType)
      scope.op.fatal("a message must have operands, numbers, lists, texts and dtypes in braces, got '" + inner + "'");
    parts.push_back("terms::text(" + (isOperand ? scope.meta(inner) : term.text) + ")");
  }
  return join(parts, " + ");
}

} // namespace tess::tblgen
