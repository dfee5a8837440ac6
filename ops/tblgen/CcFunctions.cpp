//===- CcFunctions.cpp - gen-tess-cc-functions ---------------------------===//
//
// Functions like
//   inline Tensor matmul(const Tensor &x, const Tensor &y, bool transpose_x = false, ...)
// call apply and applyAll, which the including header declares inside its
// namespace. Optional operands default to an undefined Tensor.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace tess::tblgen {

namespace {

struct Parameter {
  std::string text;
  bool hasDefault;
};

std::string attrType(AttrKind kind) {
  static constexpr const char *types[] = {
      "", "int64_t ", "double ", "bool ", "const std::string &", "const Shape &", "DType "};
  return types[unsigned(kind)];
}

std::string attrDefault(const AttrValue &value) {
  std::string text = value.toText();
  switch (value.kind()) {
  case AttrKind::F64:
    return std::isinf(value.f64()) ? (value.f64() < 0 ? "-INFINITY" : "INFINITY") : text;
  case AttrKind::I64List:
    return "{" + text.substr(1, text.size() - 2) + "}";
  case AttrKind::DType:
    return "DType(" + std::to_string(unsigned(value.dtype())) + ")";
  default:
    return text;
  }
}

std::vector<Parameter> parameters(const OpModel &op) {
  std::vector<Parameter> list;
  for (const ValueModel &v : op.operands)
    list.push_back({v.arity == '*'   ? "const std::vector<Tensor> &" + v.name
                    : v.arity == '?' ? "const Tensor &" + v.name + " = Tensor()"
                                     : "const Tensor &" + v.name,
                    v.arity == '?'});
  for (const AttrModel &attr : op.attrs)
    if (attr.isOptional)
      list.push_back({optionalType(attr) + " " + attr.name + " = std::nullopt", true});
    else
      list.push_back({attrType(attr.kind) + attr.name + (attr.hasDefault ? " = " + attrDefault(attr.defaultValue) : ""),
                      attr.hasDefault});
  return requiredFirst(list, [](const Parameter &p) { return p.hasDefault; });
}

bool isVariadic(const ValueModel &v) { return v.arity == '*'; }

void emitBody(const OpModel &op, bool returnsMany, raw_ostream &os) {
  os << "  OpDef op = OpDef::get(\"" << op.name << "\");\n";
  for (const AttrModel &attr : op.attrs)
    os << "  op.set(\"" << attr.name << "\", "
       << (attr.isOptional                  ? optionalValue(attr)
           : attr.kind == AttrKind::I64List ? "llvm::ArrayRef<int64_t>(" + attr.name + ")"
                                            : attr.name)
       << ");\n";
  const char *call = returnsMany ? "applyAll" : "apply";
  if (none_of(op.operands, isVariadic)) {
    os << "  return " << call << "(std::move(op), {";
    for (unsigned i = 0; i < op.operands.size(); ++i)
      os << (i ? ", " : "") << op.operands[i].name;
    os << "});\n";
    return;
  }
  os << "  std::vector<Tensor> allOperands;\n";
  for (const ValueModel &v : op.operands)
    if (isVariadic(v))
      os << "  allOperands.insert(allOperands.end(), " << v.name << ".begin(), " << v.name << ".end());\n";
    else
      os << "  allOperands.push_back(" << v.name << ");\n";
  os << "  return " << call << "(std::move(op), allOperands, {";
  for (unsigned i = 0; i < op.operands.size(); ++i)
    os << (i ? ", " : "") << (isVariadic(op.operands[i]) ? "unsigned(" + op.operands[i].name + ".size())" : "1");
  os << "});\n";
}

void emitFunction(const OpModel &op, raw_ostream &os) {
  unsigned visible = count_if(op.results, [](const ValueModel &v) { return !v.hidden; });
  bool returnsMany = visible > 1 || any_of(op.results, isVariadic);
  os << "\n/// " << op.summary << "\ninline " << (returnsMany ? "std::vector<Tensor> " : "Tensor ")
     << (op.pyName.empty() ? op.name : op.pyName) << "(";
  const char *separator = "";
  for (const Parameter &p : parameters(op)) {
    os << separator << p.text;
    separator = ", ";
  }
  os << ") {\n";
  emitBody(op, returnsMany, os);
  os << "}\n";
}

} // namespace

void emitCcFunctions(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-cc-functions");
  for (const OpModel &op : model.ops())
    emitFunction(op, os);
}

} // namespace tess::tblgen
