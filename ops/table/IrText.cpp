//===- IrText.cpp - an operator as text of the dialect -------------------===//
#include "ops/table/IrText.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace tess {

static std::string typeText(const TensorMeta &meta) {
  std::string text = "tensor<";
  for (int64_t dim : meta.shape)
    text += (dim == kUnknown ? "?" : std::to_string(dim)) + "x";
  return text + mlirName(meta.dtype).str() + ">";
}

static std::string typesText(llvm::ArrayRef<TensorMeta> metas) {
  return "(" + llvm::join(llvm::map_range(metas, typeText), ", ") + ")";
}

/// Six digits where they are the number, else all that it needs; infinities in hexadecimal.
static std::string floatText(double value) {
  llvm::APFloat number(value);
  llvm::SmallString<32> text;
  if (number.isFinite()) {
    number.toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0, /*TruncateZero=*/false);
    if (llvm::APFloat(number.getSemantics(), text).bitwiseIsEqual(number))
      return text.str().str();
    text.clear();
    number.toString(text);
    if (text.str().contains('.'))
      return text.str().str();
    text.clear();
  }
  number.bitcastToAPInt().toString(text, /*Radix=*/16, /*Signed=*/false, /*formatAsCLiteral=*/true);
  return text.str().str();
}

template <typename T> static std::string arrayText(const char *type, llvm::ArrayRef<T> list) {
  std::string text = std::string("array<") + type;
  for (auto [index, value] : llvm::enumerate(list))
    text += (index ? ", " : ": ") + std::to_string(value);
  return text + ">";
}

static std::string stringText(llvm::StringRef value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '"';
  llvm::printEscapedString(value, stream);
  stream << '"';
  return text;
}

static std::string attributeText(const AttrValue &value) {
  switch (value.kind()) {
  case AttrKind::None:
    return "";
  case AttrKind::I64:
    return std::to_string(value.i64()) + " : si64";
  case AttrKind::F64:
    return floatText(value.f64()) + " : f64";
  case AttrKind::Bool:
    return value.boolean() ? "true" : "false";
  case AttrKind::Str:
    return stringText(value.str());
  case AttrKind::I64List:
    return arrayText("i64", llvm::ArrayRef<int64_t>(value.ints()));
  case AttrKind::DType:
    return '"' + shortName(value.dtype()).str() + '"';
  case AttrKind::Body:
  case AttrKind::Parameter:
    break; // no example of a record has one
  }
  llvm_unreachable("every other kind has a text");
}

/// " {axis = 1 : si64}": in the order of names, without those that have their default.
static std::string attributesText(const OpDef &op, llvm::ArrayRef<unsigned> segments) {
  std::map<std::string, std::string> texts;
  for (auto [index, info] : llvm::enumerate(op.info().attrs))
    if (const AttrValue &value = op.attr(unsigned(index));
        value.kind() != AttrKind::None && !(info.hasDefault && value == defaultOf(info)))
      texts[info.name] = attributeText(value);
  if (llvm::count_if(op.info().operands, [](const OperandInfo &o) { return o.arity != Arity::One; }) > 1)
    texts["operandSegmentSizes"] = arrayText("i32", segments);
  if (texts.empty())
    return "";
  return " {" + llvm::join(llvm::map_range(texts, [](const auto &t) { return t.first + " = " + t.second; }), ", ") +
         "}";
}

static std::string operandsText(const OpInfo &info, llvm::ArrayRef<unsigned> segments) {
  llvm::SmallVector<std::string> names;
  for (auto [operand, count] : llvm::zip(info.operands, segments))
    for (unsigned i = 0; i < count; ++i)
      names.push_back("%" + std::string(operand.name) +
                      (operand.arity == Arity::Variadic ? "_" + std::to_string(i) : ""));
  return llvm::join(names, ", ");
}

/// The names of several groups of results; one group has the number of the first value, with its size.
static std::string resultsText(const OpInfo &info, size_t count) {
  if (info.results.size() > 1)
    return llvm::join(llvm::map_range(info.results, [](const ResultInfo &r) { return std::string("%") + r.name; }),
                      ", ");
  return count == 1 ? "%0" : "%0:" + std::to_string(count);
}

llvm::Expected<std::string> irTextOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                     llvm::ArrayRef<unsigned> segments) {
  llvm::Expected<Metas> results = op.infer(operands, segments);
  if (!results)
    return results.takeError();
  std::string resultTypes = results->size() == 1 ? typeText(results->front()) : typesText(*results);
  return resultsText(op.info(), results->size()) + " = tess." + op.name().str() + " " +
         operandsText(op.info(), segments) + attributesText(op, segments) + " : " + typesText(operands) + " -> " +
         resultTypes;
}

} // namespace tess
