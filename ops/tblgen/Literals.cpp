//===- Literals.cpp - values as C++ and Python source ---------------------===//
#include "ops/tblgen/Model.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tess::tblgen {

namespace {
struct ConstraintText {
  const char *mask;
  std::vector<std::string> names;
};
} // namespace

static const std::map<std::string, ConstraintText> &constraints() {
  static const std::vector<std::string> floats = {"f16", "bf16", "f32", "f64"},
                                        ints = {"i8", "u8", "i16", "i32", "i64"};
  auto join = [](std::vector<std::string> a, const std::vector<std::string> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  static const std::map<std::string, ConstraintText> table = {
      {"Tess_Float", {"kFloatMask", floats}},
      {"Tess_Int", {"kIntMask", ints}},
      {"Tess_Bool", {"kBoolMask", {"bool"}}},
      {"Tess_FloatOrBool", {"kFloatMask | kBoolMask", join(floats, {"bool"})}},
      {"Tess_IntOrBool", {"kIntMask | kBoolMask", join(ints, {"bool"})}},
      {"Tess_Number", {"kFloatMask | kIntMask", join(floats, ints)}},
      {"Tess_Any", {"kAnyMask", join(join(floats, ints), {"bool"})}},
      {"Tess_Index", {"maskOf(DType::Int32) | maskOf(DType::Int64)", {"i32", "i64"}}},
      {"Tess_I32", {"maskOf(DType::Int32)", {"i32"}}},
  };
  return table;
}

std::vector<std::string> dtypeNames(StringRef constraint) {
  auto it = constraints().find(constraint.str());
  return it == constraints().end() ? std::vector<std::string>() : it->second.names;
}

std::string dtypeMask(const OpModel &op, StringRef constraint) {
  auto it = constraints().find(constraint.str());
  if (it == constraints().end())
    op.fatal("operands and results must have a type of ops/Base.td, got " + constraint);
  return it->second.mask;
}

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
    return "AttrValue(DType(" + std::to_string(unsigned(value.dtype())) + "))";
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
  os << comment << " Written by tess-tblgen --" << generator << " from ops/*.td. Do not edit.\n";
}

} // namespace tess::tblgen
