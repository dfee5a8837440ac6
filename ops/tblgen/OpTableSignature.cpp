//===- OpTableSignature.cpp - operands, attributes, signature of a row ----===//
#include "ops/tblgen/Generators.h"

using namespace llvm;

namespace tess::tblgen {

static const char *arityText(char arity) {
  return arity == '*' ? "Arity::Variadic" : arity == '?' ? "Arity::Optional" : "Arity::One";
}

void emitValues(const OpModel &op, raw_ostream &os) {
  if (!op.operands.empty()) {
    os << "constexpr OperandInfo operands[] = {\n";
    for (const ValueModel &v : op.operands)
      os << "    {" << cppString(v.name) << ", " << arityText(v.arity) << ", " << dtypeMask(op, v.constraint) << "},\n";
    os << "};\n";
  }
  os << "constexpr ResultInfo results[] = {\n";
  for (const ValueModel &v : op.results)
    os << "    {" << cppString(v.name) << ", " << dtypeMask(op, v.constraint) << ", " << boolText(v.hidden) << ", "
       << arityText(v.arity) << "},\n";
  os << "};\n";
}

static const char *kindText(AttrKind kind) {
  static constexpr const char *names[] = {"None", "I64", "F64", "Bool", "Str", "I64List", "DType"};
  return names[unsigned(kind)];
}

void emitAttrs(const OpModel &op, raw_ostream &os) {
  if (op.attrs.empty())
    return;
  for (const AttrModel &attr : op.attrs) {
    if (attr.cases.empty())
      continue;
    os << "constexpr const char *cases_" << attr.name << "[] = {";
    for (const std::string &c : attr.cases)
      os << cppString(c) << ", ";
    os << "};\n";
  }
  os << "constexpr AttrInfo attrs[] = {\n";
  for (const AttrModel &attr : op.attrs) {
    os << "    {" << cppString(attr.name) << ", AttrKind::" << kindText(attr.kind) << ", " << boolText(attr.isRuntime)
       << ", " << boolText(attr.isOptional) << ", " << boolText(attr.hasDefault) << ", []() { return "
       << cppValue(attr.defaultValue) << "; }, ";
    if (attr.cases.empty())
      os << "{}";
    else
      os << "cases_" << attr.name;
    os << ", " << (attr.low.empty() ? "-kInfinity" : attr.low) << ", " << (attr.high.empty() ? "kInfinity" : attr.high)
       << ", " << cppString(attr.doc) << ", " << attr.axisOf << ", " << attr.axisExtra << ", " << attr.length << ", "
       << boolText(attr.isBindTime) << ", " << boolText(attr.isSize) << ", " << boolText(attr.isSet)
       << ", Fit::" << attr.fit << "},\n";
  }
  os << "};\n";
}

static const char *kindOf(char kind) {
  switch (kind) {
  case 'S':
    return "Symbol";
  case '*':
    return "Star";
  case 'L':
    return "Literal";
  case '/':
    return "Reduced";
  default:
    return "Attr";
  }
}

static std::string emitDims(const std::vector<DimModel> &dims, const std::string &name, raw_ostream &os) {
  if (dims.empty())
    return "{}";
  os << "constexpr DimPattern " << name << "[] = {";
  for (const DimModel &d : dims) {
    bool literal = d.kind == 'L';
    os << "{DimPattern::" << kindOf(d.kind) << ", " << (literal ? 0 : d.number) << ", " << (literal ? d.number : d.axes)
       << "}, ";
  }
  os << "};\n";
  return name;
}

static void emitSide(const std::vector<PatternModel> &patterns, StringRef side, raw_ostream &os) {
  std::string table;
  for (unsigned i = 0; i < patterns.size(); ++i) {
    std::string prefix = (side + "Dims" + Twine(i)).str();
    std::string dims = emitDims(patterns[i].dims, prefix, os);
    std::string guarded = emitDims(patterns[i].guardedDims, prefix + "Guarded", os);
    table += "{" + dims + ", " + guarded + ", " + std::to_string(patterns[i].guardAttr) + "}, ";
  }
  if (!patterns.empty())
    os << "constexpr OperandPattern " << side << "Patterns[] = {" << table << "};\n";
}

void emitSignature(const OpModel &op, raw_ostream &os) {
  if (!op.signature)
    return;
  const SignatureModel &s = *op.signature;
  emitSide(s.operands, "operand", os);
  emitSide(s.results, "result", os);
  if (!s.symbols.empty()) {
    os << "constexpr const char *symbols[] = {";
    for (const std::string &symbol : s.symbols)
      os << cppString(symbol) << ", ";
    os << "};\n";
  }
  os << "constexpr Signature signature = {" << (s.operands.empty() ? "{}" : "operandPatterns") << ", resultPatterns, "
     << (s.symbols.empty() ? "{}" : "symbols") << ", " << cppString(s.text) << ", " << boolText(s.elementwise) << ", "
     << boolText(s.isExact) << "};\n";
}

} // namespace tess::tblgen
