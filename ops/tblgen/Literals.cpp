//===- Literals.cpp - values as C++ and Python source ---------------------===//
#include "ops/tblgen/Model.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tess::tblgen {

namespace {
/// A set of dtypes, and its text in C++.
struct Constraint {
  DTypeMask mask;
  const char *text;
};
} // namespace

static const std::map<std::string, Constraint> &constraints() {
#define TESS_SET(...)                                                                                                  \
  {                                                                                                                    \
    __VA_ARGS__, #__VA_ARGS__                                                                                          \
  }
  static const std::map<std::string, Constraint> table = {
      {"Tess_Float", TESS_SET(kFloatMask)},
      {"Tess_HalfOrF32", TESS_SET(maskOf(DType::Float16) | maskOf(DType::BFloat16) | maskOf(DType::Float32))},
      {"Tess_WideFloat", TESS_SET(maskOf(DType::Float32) | maskOf(DType::Float64))},
      {"Tess_Int", TESS_SET(kIntMask)},
      {"Tess_Bool", TESS_SET(kBoolMask)},
      {"Tess_FloatOrBool", TESS_SET(kFloatMask | kBoolMask)},
      {"Tess_IntOrBool", TESS_SET(kIntMask | kBoolMask)},
      {"Tess_Number", TESS_SET(kNumberMask)},
      {"Tess_NumberOrBool", TESS_SET(kNumberMask | kBoolMask)},
      {"Tess_Complex", TESS_SET(kComplexMask)},
      {"Tess_FloatOrComplex", TESS_SET(kFloatMask | kComplexMask)},
      {"Tess_NumberOrComplex", TESS_SET(kNumberMask | kComplexMask)},
      {"Tess_NumberOrBoolOrComplex", TESS_SET(kNumberMask | kBoolMask | kComplexMask)},
      {"Tess_Any", TESS_SET(kAnyMask)},
      {"Tess_Unquantized", TESS_SET(kUnquantizedMask)},
      {"Tess_Moved", TESS_SET(kMovedMask)},
      {"Tess_Quantized", TESS_SET(kQuantizedMask)},
      {"Tess_QuantizedOrInt", TESS_SET(kQuantizedMask | kIntMask)},
      {"Tess_Byte", TESS_SET(kByteMask)},
      {"Tess_SignedByte", TESS_SET(kSignedByteMask)},
      {"Tess_F32", TESS_SET(maskOf(DType::Float32))},
      {"Tess_Index", TESS_SET(maskOf(DType::Int32) | maskOf(DType::Int64))},
      {"Tess_I8", TESS_SET(maskOf(DType::Int8))},
      {"Tess_I32", TESS_SET(maskOf(DType::Int32))},
  };
#undef TESS_SET
  return table;
}

std::vector<std::string> dtypeNames(StringRef constraint) {
  std::vector<std::string> names;
  auto it = constraints().find(constraint.str());
  DTypeMask mask = it == constraints().end() ? 0 : it->second.mask;
  if ((mask & kQuantizedMask) == kQuantizedMask && mask != kMovedMask)
    names.push_back("qint8<0.5>"); // a kind alone is no dtype of a tensor
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (mask & maskOf(DType(i)) && !isQuantized(DType(i)))
      names.push_back(shortName(DType(i)).str());
  return names;
}

static const Constraint &knownConstraint(const OpModel &op, StringRef constraint) {
  auto it = constraints().find(constraint.str());
  if (it == constraints().end())
    op.fatal("operands and results must have a type of ops/records/Base.td, got " + constraint);
  return it->second;
}

std::string dtypeMask(const OpModel &op, StringRef constraint) { return knownConstraint(op, constraint).text; }

DTypeMask dtypeBits(const OpModel &op, StringRef constraint) { return knownConstraint(op, constraint).mask; }

std::string optionalType(const AttrModel &attr) {
  static constexpr const char *types[] = {"",           "int64_t", "double", "bool", "std::string", "tess::IntList",
                                          "tess::DType"};
  return std::string("std::optional<") + types[unsigned(attr.kind)] + ">";
}

std::string optionalValue(const AttrModel &attr) {
  return attr.name + " ? tess::AttrValue(*" + attr.name + ") : tess::AttrValue()";
}

std::string cppString(StringRef text) { return AttrValue(text.str()).toText(); } // escapes as C++ does

static std::string listText(const IntList &list, StringRef open, StringRef close) {
  return (open + join(map_range(list, [](int64_t v) { return std::to_string(v); }), ", ") + close).str();
}

std::string cppDType(DType dtype) {
  if (parametersOf(dtype)) // whose number is of this process
    return "*parseDType(" + cppString(shortName(dtype)) + ")";
  return "DType(" + std::to_string(unsigned(dtype)) + ")";
}

std::string cppValue(const AttrValue &value) {
  switch (value.kind()) {
  case AttrKind::None:
    return "AttrValue()";
  case AttrKind::I64:
    return "AttrValue(int64_t(" + value.toText() + "))";
  case AttrKind::F64:
    if (std::isinf(value.f64()))
      return value.f64() < 0 ? "AttrValue(-kInfinity)" : "AttrValue(kInfinity)";
    return "AttrValue(" + value.toText() + ")";
  case AttrKind::Bool:
    return "AttrValue(" + value.toText() + ")";
  case AttrKind::Str:
    return "AttrValue(" + cppString(value.str()) + ")";
  case AttrKind::I64List:
    return "AttrValue(IntList" + listText(value.ints(), "{", "}") + ")";
  case AttrKind::DType:
    return "AttrValue(" + cppDType(value.dtype()) + ")";
  case AttrKind::Parameter:
  case AttrKind::Body:
    break; // a record has none
  }
  return "";
}

std::string pyValue(const AttrValue &value) {
  switch (value.kind()) {
  case AttrKind::None:
    return "None";
  case AttrKind::Bool:
    return value.boolean() ? "True" : "False";
  case AttrKind::F64:
    if (!std::isfinite(value.f64()))
      return "float(\"" + value.toText() + "\")";
    return value.toText();
  case AttrKind::I64List:
    return listText(value.ints(), "[", "]");
  case AttrKind::DType:
    return "\"" + numpyName(value.dtype()).str() + "\"";
  case AttrKind::I64:
  case AttrKind::Str:
  case AttrKind::Parameter:
  case AttrKind::Body:
    return value.toText();
  }
  return "";
}

void banner(raw_ostream &os, StringRef generator, StringRef comment) {
  os << comment << " Written by tess-tblgen --" << generator << " from ops/records/*.td. Do not edit.\n";
}

} // namespace tess::tblgen
