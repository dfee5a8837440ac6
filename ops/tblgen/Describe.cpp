//===- Describe.cpp - an operator in words -------------------------------===//
#include "ops/tblgen/Describe.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace tess::tblgen {

/// "float or complex" of Tess_FloatOrComplex.
static std::string kindOfDTypes(StringRef constraint) {
  if (constraint == "Tess_Moved" || constraint == "Tess_Unquantized")
    return "any";
  std::string words;
  for (char c : constraint.drop_front(StringRef("Tess_").size())) {
    if (isUpper(c) && !words.empty())
      words += ' ';
    words += toLower(c);
  }
  return words;
}

/// A dimension in words: "*D", "N", "*D / axis", or the name of the attribute that gives it.
static std::string dimText(const OpModel &op, const DimModel &d) {
  if (d.kind == '@')
    return op.pyParameter(d.symbol);
  if (d.kind != '/')
    return (d.kind == '*' ? "*" : "") + d.symbol;
  auto [symbol, axes] = StringRef(d.symbol).split('/');
  return ("*" + symbol.trim()).str() + " / " + op.pyParameter(axes.trim());
}

static std::string dimsText(const OpModel &op, const std::vector<DimModel> &dims) {
  return "[" + join(map_range(dims, [&](const DimModel &d) { return dimText(op, d); }), ", ") + "]";
}

std::string shapedType(const OpModel &op, const ValueModel &value, const PatternModel *pattern) {
  std::string text = kindOfDTypes(value.constraint);
  if (!pattern)
    return text;
  text += dimsText(op, pattern->dims);
  if (pattern->guardAttr >= 0)
    text +=
        " (with " + op.pyParameter(op.attrs[pattern->guardAttr].name) + ": " + dimsText(op, pattern->guardedDims) + ")";
  return text;
}

static std::vector<std::string> valueLines(const OpModel &op, const std::vector<ValueModel> &values,
                                           const std::vector<PatternModel> *patterns) {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < values.size(); ++i) {
    const char *arity = values[i].arity == '*' ? "any number of " : values[i].arity == '?' ? "optional " : "";
    if (!values[i].hidden)
      lines.push_back(op.pyParameter(values[i].name) + ": " + arity +
                      shapedType(op, values[i], patterns ? &(*patterns)[i] : nullptr));
  }
  return lines;
}

/// The shapes that documentation shows; null where a rule says them.
static const SignatureModel *shapesOf(const OpModel &op) { return op.signature ? op.signature.get() : op.shown.get(); }

std::vector<std::string> operandLines(const OpModel &op) {
  return valueLines(op, op.operands, shapesOf(op) ? &shapesOf(op)->operands : nullptr);
}

std::vector<std::string> resultLines(const OpModel &op) {
  return valueLines(op, op.results, shapesOf(op) ? &shapesOf(op)->results : nullptr);
}

static const char *pyType(AttrKind kind) {
  static constexpr const char *types[] = {"None", "int", "float", "bool", "str", "Sequence[int]", "DTypeLike"};
  return types[unsigned(kind)];
}

/// A parameter, as in "axis: Sequence[int] | int | None = None": a single axis stands for a list of one, None for the
/// default.
static std::string parameterText(const OpModel &op, const AttrModel &attr) {
  bool isEmpty = attr.hasDefault && attr.kind == AttrKind::I64List && attr.defaultValue.ints().empty();
  std::string text = op.pyParameter(attr.name) + ": " + pyType(attr.kind);
  if (attr.kind == AttrKind::I64List && attr.axisOf >= 0)
    text += " | int";
  if (attr.isOptional || isEmpty)
    return text + " | None = None";
  return text + (attr.hasDefault ? " = " + pyValue(attr.defaultValue) : "");
}

/// The range of an attribute, as in ", at least 0" or ", in [0, 1]"; a limit of 1e9 or more is not shown.
static std::string rangeText(const AttrModel &attr) {
  if (attr.low.empty())
    return "";
  double high = attr.high.empty() ? INFINITY : std::stod(attr.high);
  return high < 1e9 ? ", in [" + attr.low + ", " + attr.high + "]" : ", at least " + attr.low;
}

std::vector<std::string> attrLines(const OpModel &op) {
  std::vector<std::string> lines;
  for (const AttrModel &attr : op.attrs) {
    std::string line = parameterText(op, attr);
    if (!attr.doc.empty())
      line += ", " + attr.doc;
    if (!attr.cases.empty())
      line += ": one of " + join(attr.cases, ", ");
    lines.push_back(line + rangeText(attr));
  }
  if (std::string operand = inPlaceOperand(op); !operand.empty())
    lines.push_back("inplace: bool = False, write the result into the memory of " + op.pyParameter(operand) +
                    " and return that tensor");
  return lines;
}

std::string inPlaceOperand(const OpModel &op) {
  std::vector<std::string> pairs = op.strings("inplace");
  if (pairs.empty() || op.results.size() != 1 || op.results[0].arity != '1')
    return "";
  std::string name = StringRef(pairs[0]).split('=').first.str();
  ArrayRef<ValueModel> before = ArrayRef<ValueModel>(op.operands).take_front(op.operandIndex(name) + 1);
  return all_of(before, [](const ValueModel &v) { return v.arity == '1'; }) ? name : "";
}

std::string dtypeLine(const OpModel &op) {
  const Record *rule = op.def("dtypes");
  if (rule->isSubClassOf("Same"))
    return "that of " + op.pyParameter(rule->getValueAsString("operand"));
  if (rule->isSubClassOf("SumOf"))
    return "that of " + op.pyParameter(rule->getValueAsString("operand")) + "; of bool int32";
  if (rule->isSubClassOf("PartOf"))
    return "that of " + op.pyParameter(rule->getValueAsString("operand")) + "; of complex numbers that of their parts";
  if (rule->isSubClassOf("ComplexOf"))
    return "complex, of the promoted parts, which are at least float32";
  if (rule->isSubClassOf("PromoteFloat"))
    return "promoted; integers and bool become float32";
  if (rule->isSubClassOf("Promote"))
    return "promoted";
  if (rule->isSubClassOf("PromoteOr"))
    return "promoted, or given by " + op.pyParameter(rule->getValueAsString("attr"));
  if (rule->isSubClassOf("Fixed"))
    return numpyName(*parseDType(rule->getValueAsString("dtype"))).str();
  if (rule->isSubClassOf("FromAttr"))
    return "given by " + op.pyParameter(rule->getValueAsString("attr"));
  return "see above";
}

/// Whether eager mode casts the operand first, whatever its dtype.
static bool isCast(const OpModel &op, const ValueModel &operand) {
  const Record *rule = op.def("dtypes");
  bool promotes = rule->isSubClassOf("PromoteFloat") || rule->isSubClassOf("ComplexOf");
  return promotes && is_contained(rule->getValueAsListOfStrings("operands"), operand.name);
}

std::vector<std::string> raisesLines(const OpModel &op) {
  std::vector<std::string> lines;
  for (const auto &[label, text] : op.constraints)
    lines.push_back("ValueError: " + text);
  for (const ValueModel &v : op.operands)
    if (v.constraint == "Tess_Any")
      lines.push_back("TypeError: " + op.pyParameter(v.name) + " must be neither quantized nor intb");
    else if (v.constraint != "Tess_Moved" && v.constraint != "Tess_Unquantized" && !isCast(op, v))
      lines.push_back("TypeError: " + op.pyParameter(v.name) + " must be " + kindOfDTypes(v.constraint));
  lines.push_back("TypeError: each argument must be of its kind, operands tensors, arrays or numbers");
  return lines;
}

/// "F.ones((2, 3))", "F.ones((4,), dtype=\"int64\")".
static std::string pythonOperand(const ExampleOperand &operand) {
  std::string dims;
  for (int64_t d : operand.shape)
    dims += std::to_string(d) + ", ";
  if (operand.shape.size() > 1)
    dims.resize(dims.size() - 2);
  else if (operand.shape.size() == 1)
    dims.pop_back();
  std::string dtype = operand.dtype == "f32" ? "" : ", dtype=\"" + numpyName(*parseDType(operand.dtype)).str() + "\"";
  return "F.ones((" + dims + ")" + dtype + ")";
}

/// The operand for each shape of the sample; a variadic operand takes the shapes that the others leave.
static std::vector<const ValueModel *> operandOfShapes(const OpModel &op, size_t count) {
  size_t extra = count - count_if(op.operands, [](const ValueModel &v) { return v.arity == '1'; });
  std::vector<const ValueModel *> list;
  for (const ValueModel &v : op.operands) {
    size_t n = v.arity == '1' ? 1 : v.arity == '*' ? extra : std::min<size_t>(extra, 1);
    extra -= v.arity == '1' ? 0 : n;
    list.insert(list.end(), n, &v);
  }
  return list;
}

std::vector<ExampleOperand> exampleOperands(const OpModel &op) {
  const SampleModel &sample = op.samples.front();
  std::vector<const ValueModel *> values = operandOfShapes(op, sample.shapes.size());
  std::vector<ExampleOperand> list;
  for (auto [value, shape] : zip(values, sample.shapes)) {
    std::vector<std::string> names = dtypeNames(value->constraint), wanted;
    copy_if(sample.dtypes, std::back_inserter(wanted), [&](const std::string &d) { return is_contained(names, d); });
    names = wanted.empty() ? names : wanted;
    list.push_back({value, is_contained(names, "f32") ? "f32" : names.back(), shape});
  }
  return list;
}

/// The call of an operator that has no function.
static std::vector<std::string> applyLines(const OpModel &op) {
  std::string attrs, operands;
  for (const auto &[name, value] : op.samples.front().attrs)
    attrs += (attrs.empty() ? "" : ", ") + name + "=" + pyValue(value);
  for (const ExampleOperand &operand : exampleOperands(op))
    operands += ", " + pythonOperand(operand);
  return {">>> import tessera.functional as F", ">>> from tessera.core import apply",
          ">>> from tessera.core.ops import builtin",
          ">>> results = apply(builtin." + op.opdefName + "(" + attrs + ")" + operands + ")"};
}

/// The operands of the first sample as arguments: those of a variadic operand are a list.
static std::string positionalArguments(const OpModel &op) {
  std::vector<std::string> list;
  for (const ValueModel &value : op.operands) {
    std::vector<std::string> own;
    for (const ExampleOperand &operand : exampleOperands(op))
      if (operand.value->name == value.name)
        own.push_back(pythonOperand(operand));
    if (value.arity == '*')
      list.push_back("[" + join(own, ", ") + "]");
    else
      list.insert(list.end(), own.begin(), own.end());
  }
  return join(list, ", ");
}

/// The call of the function, with the shape of its result in the place of `@shape`.
static std::vector<std::string> callLines(const OpModel &op) {
  std::string arguments = positionalArguments(op);
  for (const auto &[name, value] : op.samples.front().attrs)
    arguments += (arguments.empty() ? "" : ", ") + op.pyParameter(name) + "=" + pyValue(value);
  StringRef part = StringRef(op.pyModule).rsplit('.').second;
  const bool isOwn = part == "fft" || part == "quantized"; // name spaces within tessera.functional
  std::string home = isOwn ? "F." + part.str() + "." : StringRef(op.pyModule).starts_with("functional") ? "F." : "";
  std::vector<std::string> lines{">>> import tessera.functional as F"};
  if (home.empty())
    lines.push_back(">>> from tessera." + op.pyModule + " import " + op.pyName);
  std::string call = home + op.pyName + "(" + arguments + ")";
  bool isOne = count_if(op.results, [](const ValueModel &v) { return !v.hidden; }) == 1 && op.results[0].arity == '1';
  lines.push_back(isOne ? ">>> " + call + ".shape" : ">>> [each.shape for each in " + call + "]");
  lines.push_back("@shape");
  return lines;
}

std::vector<std::string> exampleLines(const OpModel &op) {
  if (std::string own = op.text("example"); !own.empty()) {
    SmallVector<StringRef> parts;
    StringRef(own).split(parts, '\n');
    return {parts.begin(), parts.end()};
  }
  return op.pyName.empty() ? applyLines(op) : callLines(op);
}

std::string pySignature(const OpModel &op) {
  std::vector<std::pair<std::string, bool>> list;
  for (const ValueModel &v : op.operands)
    list.emplace_back(op.pyParameter(v.name) + (v.arity == '*'   ? ": Sequence[TensorLike]"
                                                : v.arity == '?' ? ": TensorLike | None = None"
                                                                 : ": TensorLike"),
                      v.arity == '?');
  for (const AttrModel &attr : op.attrs)
    list.emplace_back(parameterText(op, attr), attr.hasDefault || attr.isOptional);
  list = requiredFirst(list, [](const auto &p) { return p.second; });
  return join(map_range(list, [](const auto &p) { return p.first; }), ", ") +
         (inPlaceOperand(op).empty() ? "" : ", *, inplace: bool = False");
}

} // namespace tess::tblgen
