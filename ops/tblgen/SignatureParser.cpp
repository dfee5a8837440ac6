//===- SignatureParser.cpp - parsing signature strings --------------------===//
#include "ops/tblgen/Model.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

class Parser {
public:
  Parser(const OpModel &op, SignatureModel &signature) : op(op), signature(signature) {}
  std::vector<PatternModel> side(StringRef text);

private:
  PatternModel pattern(StringRef &rest);
  std::vector<DimModel> dims(StringRef &rest);
  DimModel dim(StringRef text);
  unsigned symbolIndex(StringRef name, bool isStar);
  void expect(StringRef &rest, char c);

  const OpModel &op;
  SignatureModel &signature;
};

void Parser::expect(StringRef &rest, char c) {
  rest = rest.ltrim();
  if (!rest.consume_front(StringRef(&c, 1)))
    op.fatal("signature must have '" + Twine(c) + "' before '" + rest + "'");
}

unsigned Parser::symbolIndex(StringRef name, bool isStar) {
  for (unsigned i = 0; i < signature.symbols.size(); ++i)
    if (signature.symbols[i] == name) {
      if (signature.symbolIsStar[i] != isStar)
        op.fatal("symbol must be starred everywhere or nowhere, got " + name);
      return i;
    }
  signature.symbols.push_back(name.str());
  signature.symbolIsStar.push_back(isStar);
  if (signature.symbols.size() > 12)
    op.fatal("signature must have at most 12 symbols");
  return signature.symbols.size() - 1;
}

DimModel Parser::dim(StringRef text) {
  int64_t literal;
  if (!text.getAsInteger(10, literal))
    return {'L', text.str(), literal};
  bool isStar = text.consume_front("*");
  if (text.consume_front("@")) {
    int index = op.attrIndex(text);
    if (index < 0 || (op.attrs[index].kind != (isStar ? AttrKind::I64List : AttrKind::I64)))
      op.fatal("@ must name an integer attribute, *@ a list, got " + text);
    return {'@', text.str(), index};
  }
  auto [symbol, axes] = text.split('/');
  if (axes.empty())
    return {isStar ? '*' : 'S', text.str(), symbolIndex(text, isStar)};
  int attr = op.attrIndex(axes.trim());
  if (!isStar || attr < 0 || op.attrs[attr].axisOf < 0)
    op.fatal("/ must stand between a starred symbol and an axis attribute, got " + text);
  return {'/', text.str(), symbolIndex(symbol.trim(), true), attr + 256 * (op.attrIndex("keepdims") + 1)};
}

std::vector<DimModel> Parser::dims(StringRef &rest) {
  expect(rest, '(');
  auto [inside, after] = rest.split(')');
  rest = after;
  SmallVector<StringRef> parts;
  inside.split(parts, ',', -1, false);
  std::vector<DimModel> list;
  unsigned stars = 0;
  for (StringRef part : parts)
    if (!part.trim().empty()) {
      list.push_back(dim(part.trim()));
      stars += list.back().kind == '*';
    }
  if (stars > 1)
    op.fatal("a pattern must have at most one starred symbol, got (" + inside + ")");
  return list;
}

PatternModel Parser::pattern(StringRef &rest) {
  PatternModel model;
  rest = rest.ltrim();
  if (!rest.starts_with("(")) {
    auto [guard, after] = rest.split('?');
    model.guardAttr = op.attrIndex(guard.trim());
    if (model.guardAttr < 0 || op.attrs[model.guardAttr].kind != AttrKind::Bool)
      op.fatal("a guard must be a boolean attribute, got '" + guard.trim() + "'");
    rest = after;
    model.guardedDims = dims(rest);
    expect(rest, ':');
  }
  model.dims = dims(rest);
  if (rest.starts_with("?") || rest.starts_with("*")) {
    model.arity = rest[0];
    rest = rest.drop_front();
  }
  return model;
}

std::vector<PatternModel> Parser::side(StringRef text) {
  std::vector<PatternModel> list;
  text = text.trim();
  while (!text.empty()) {
    list.push_back(pattern(text));
    text = text.ltrim();
    if (!text.empty())
      expect(text, ',');
  }
  return list;
}

bool isLoneStar(const PatternModel &p) {
  return p.guardAttr < 0 && p.arity == '1' && p.dims.size() == 1 && p.dims[0].kind == '*' && p.dims[0].number == 0;
}

} // namespace

std::unique_ptr<SignatureModel> parseSignature(const OpModel &op) {
  auto signature = std::make_unique<SignatureModel>();
  signature->text = op.text("shapes");
  auto [in, out] = StringRef(signature->text).split("->");
  Parser parser(op, *signature);
  signature->operands = parser.side(in);
  signature->results = parser.side(out);
  for (const PatternModel &pattern : signature->operands)
    if (any_of(pattern.dims, [](const DimModel &d) { return d.kind == '/' || d.kind == '@'; }))
      op.fatal("/ and @ must stand in results only, got '" + signature->text + "'");
  if (signature->operands.size() != op.operands.size() || signature->results.size() != op.results.size())
    op.fatal("signature must have a pattern for every operand and result, got '" + signature->text + "'");
  for (auto [pattern, operand] : zip(signature->operands, op.operands))
    if (pattern.arity != operand.arity)
      op.fatal("arity of " + operand.name + " must be the same in signature and arguments");
  signature->elementwise =
      !op.operands.empty() && all_of(signature->operands, isLoneStar) && all_of(signature->results, isLoneStar);
  return signature;
}

static bool hasStar(const std::vector<DimModel> &dims) {
  return any_of(dims, [](const DimModel &d) { return d.kind == '*' || d.kind == '/'; });
}

/// The constraints in order: ranks of the operands, symbols as they appear, literals, axes.
std::vector<std::string> signatureConstraints(const OpModel &op) {
  std::vector<std::string> texts;
  if (op.signature) {
    const SignatureModel &s = *op.signature;
    for (auto [pattern, operand] : zip(s.operands, op.operands)) {
      unsigned fixed = pattern.dims.size() - hasStar(pattern.dims);
      if (!hasStar(pattern.dims) || fixed)
        texts.push_back(operand.name + " must have rank " + (hasStar(pattern.dims) ? ">= " : "") +
                        std::to_string(fixed));
    }
    for (unsigned i = 0; i < s.symbols.size(); ++i) {
      unsigned uses = 0;
      for (const PatternModel &pattern : s.operands)
        for (const DimModel &d : pattern.dims)
          uses += (d.kind == 'S' || d.kind == '*') && d.number == i ? (pattern.arity == '*' ? 2 : 1) : 0;
      if (uses > 1)
        texts.push_back(!s.symbolIsStar[i] ? "dimension " + s.symbols[i] + " must match"
                        : s.isExact        ? std::string("operands must have one shape")
                        : s.elementwise    ? std::string("operands must broadcast")
                                           : "dimensions *" + s.symbols[i] + " must broadcast");
    }
    for (auto [pattern, operand] : zip(s.operands, op.operands))
      for (unsigned i = 0; i < pattern.dims.size(); ++i)
        if (pattern.dims[i].kind == 'L')
          texts.push_back("dimension " + std::to_string(i) + " of " + operand.name + " must be " +
                          pattern.dims[i].symbol);
  }
  for (const AttrModel &attr : op.attrs)
    if (attr.axisOf >= 0)
      texts.push_back(attr.name +
                      (attr.kind == AttrKind::I64List ? " must be distinct axes of " : " must be an axis of ") +
                      op.operands[attr.axisOf].name);
  return texts;
}

} // namespace tess::tblgen
