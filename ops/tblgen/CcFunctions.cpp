//===- CcFunctions.cpp - gen-tess-cc-functions, gen-tess-cc-methods ------===//
//
// Functions like
//   inline Tensor matmul(const Tensor &x, const Tensor &y, bool transpose_x = false, ...)
// call apply and applyAll, which the including header declares inside its
// namespace. Optional operands default to an undefined Tensor. Without the axis
// that `flatWithout` names a function flattens its operand first, as Python's
// does. Methods and operators of Tensor, those that Python's has, call the
// functions.
//
//===----------------------------------------------------------------------===//
#include "ops/table/PythonOperators.h"
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <functional>
#include <map>

using namespace llvm;

namespace tess::tblgen {

namespace {

/// "const Shape &axis = {}": type, name and what follows.
struct Parameter {
  std::string type, name, defaultText;
  bool hasDefault;
  std::string text() const { return type + name + defaultText; }
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
    list.push_back({v.arity == '*' ? "const std::vector<Tensor> &" : "const Tensor &", v.name,
                    v.arity == '?' ? " = Tensor()" : "", v.arity == '?'});
  for (const AttrModel &attr : op.attrs)
    if (attr.isOptional || attr.name == op.text("flatWithout"))
      list.push_back({optionalType(attr) + " ", attr.name, " = std::nullopt", true});
    else
      list.push_back({attrType(attr.kind), attr.name, attr.hasDefault ? " = " + attrDefault(attr.defaultValue) : "",
                      attr.hasDefault});
  return requiredFirst(list, [](const Parameter &p) { return p.hasDefault; });
}

bool isVariadic(const ValueModel &v) { return v.arity == '*'; }

bool returnsMany(const OpModel &op) {
  return count_if(op.results, [](const ValueModel &v) { return !v.hidden; }) > 1 || any_of(op.results, isVariadic);
}

StringRef resultType(const OpModel &op) { return returnsMany(op) ? "std::vector<Tensor> " : "Tensor "; }

const std::string &functionName(const OpModel &op) { return op.pyName.empty() ? op.name : op.pyName; }

/// The call along axis 0 of the flattened operand, and the shape that the result has then.
void emitFlat(const OpModel &op, raw_ostream &os) {
  std::string axis = op.text("flatWithout"), call = functionName(op) + "(flatten(" + op.operands[0].name + ")";
  for (const Parameter &p : ArrayRef(parameters(op)).drop_front())
    call += ", " + (p.name == axis ? "0" : p.name == "keepdims" ? "false" : p.name);
  call += ")";
  os << "  if (!" << axis << ")\n    return ";
  if (op.attrIndex("keepdims") >= 0)
    os << "keepdims ? reshape(" << call << ", Shape(" << op.operands[0].name << ".shape().size(), 1)) : " << call;
  else if (op.signature && op.signature->text == "(*D) -> (*D)")
    os << "reshape_like(" << call << ", " << op.operands[0].name << ")";
  else
    os << call;
  os << ";\n";
}

void emitBody(const OpModel &op, raw_ostream &os) {
  std::string flatWithout = op.text("flatWithout");
  if (!flatWithout.empty())
    emitFlat(op, os);
  os << "  OpDef op = OpDef::get(\"" << op.name << "\");\n";
  for (const AttrModel &attr : op.attrs)
    os << "  op.set(\"" << attr.name << "\", "
       << (attr.isOptional                  ? optionalValue(attr)
           : attr.name == flatWithout       ? "*" + attr.name
           : attr.kind == AttrKind::I64List ? "llvm::ArrayRef<int64_t>(" + attr.name + ")"
                                            : attr.name)
       << ");\n";
  const char *call = returnsMany(op) ? "applyAll" : "apply";
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
  os << "\n/// " << op.summary << "\ninline " << resultType(op) << functionName(op) << "("
     << join(map_range(parameters(op), std::mem_fn(&Parameter::text)), ", ") << ") {\n";
  emitBody(op, os);
  os << "}\n";
}

/// The operator that C++ has too; empty: none.
StringRef ccOperator(const OpModel &op) {
  if (op.pyOperator < 0)
    return "";
  StringRef symbol(pythonOperators[op.pyOperator].symbol);
  return is_contained({"**", "//", "@", "abs"}, symbol) ? "" : symbol;
}

/// Methods: those of Python's Tensor, and what Python has operators for and C++ has none.
std::vector<std::string> methodNames(const OpModel &op) {
  std::vector<std::string> names = op.pyMethods;
  if (op.pyOperator >= 0 && ccOperator(op).empty() && !is_contained(names, functionName(op)))
    names.push_back(functionName(op));
  return names;
}

void emitMethod(const OpModel &op, const std::string &name, bool isDefinition, raw_ostream &os) {
  std::vector<Parameter> taken = parameters(op);
  taken.erase(taken.begin()); // the tensor
  auto list = [&](auto textOf) { return join(map_range(taken, textOf), ", "); };
  if (!isDefinition) {
    os << "  /// " << op.summary << "\n  " << resultType(op) << name << "(" << list(std::mem_fn(&Parameter::text))
       << ") const;\n";
    return;
  }
  os << resultType(op) << "Tensor::" << name << "(" << list([](const Parameter &p) { return p.type + p.name; })
     << ") const { return functional::" << functionName(op) << "(*this";
  for (const Parameter &p : taken)
    os << ", " << p.name;
  os << "); }\n";
}

/// The records of one operator: that of bools alone, if it is another, and that of numbers.
struct OperatorRecords {
  const OpModel *ofBools = nullptr, *ofNumbers = nullptr;
};

std::map<int, OperatorRecords> operatorRecords(const Model &model) {
  std::map<int, OperatorRecords> all;
  for (const OpModel &op : model.ops())
    if (!ccOperator(op).empty())
      (op.operands[0].constraint == "Tess_Bool" ? all[op.pyOperator].ofBools : all[op.pyOperator].ofNumbers) = &op;
  return all;
}

void emitOperator(const OperatorRecords &records, bool isDefinition, raw_ostream &os) {
  const OpModel &op = *records.ofNumbers;
  bool isUnary = op.operands.size() == 1;
  os << (isDefinition ? "" : "/// " + op.summary + "\n") << "Tensor operator" << ccOperator(op) << "(const Tensor &x"
     << (isUnary ? "" : ", const Tensor &y") << ")";
  if (!isDefinition) {
    os << ";\n";
    return;
  }
  auto call = [&](const OpModel &of) { return "functional::" + functionName(of) + (isUnary ? "(x)" : "(x, y)"); };
  os << " { return ";
  if (records.ofBools)
    os << "x.dtype() == DType::Bool" << (isUnary ? "" : " && y.dtype() == DType::Bool") << " ? "
       << call(*records.ofBools) << " : ";
  os << call(op) << "; }\n";
}

} // namespace

void emitCcMethods(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-cc-methods");
  for (bool isDefinition : {false, true}) {
    os << "#ifdef " << (isDefinition ? "TESS_DEFINE_METHODS" : "TESS_DECLARE_METHODS") << "\n";
    for (const OpModel &op : model.ops())
      for (const std::string &name : methodNames(op))
        emitMethod(op, name, isDefinition, os);
    os << "#endif\n#ifdef " << (isDefinition ? "TESS_DEFINE_OPERATORS" : "TESS_DECLARE_OPERATORS") << "\n";
    for (const auto &[index, records] : operatorRecords(model))
      emitOperator(records, isDefinition, os);
    os << "#endif\n";
  }
}

void emitCcFunctions(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-cc-functions");
  for (bool isLast : {false, true}) // what flattens calls others
    for (const OpModel &op : model.ops())
      if (op.text("flatWithout").empty() != isLast)
        emitFunction(op, os);
}

} // namespace tess::tblgen
