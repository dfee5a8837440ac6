// One stateless class for each record, for typed construction and access.
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace tess::tblgen {

namespace {

/// The C++ type of an attribute as a parameter; resultType() has those of results.
const char *parameterType(AttrKind kind) {
  static constexpr const char *types[] = {
      "", "int64_t ", "double ", "bool ", "llvm::StringRef ", "llvm::ArrayRef<int64_t> ", "DType "};
  return types[unsigned(kind)];
}

const char *resultType(AttrKind kind) {
  static constexpr const char *types[] = {
      "", "int64_t ", "double ", "bool ", "const std::string &", "const IntList &", "tess::DType "};
  return types[unsigned(kind)];
}

const char *accessor(AttrKind kind) {
  static constexpr const char *names[] = {"", "i64()", "f64()", "boolean()", "str()", "ints()", "dtype()"};
  return names[unsigned(kind)];
}

std::string parameterDefault(const AttrModel &attr) {
  const AttrValue &value = attr.defaultValue;
  switch (attr.kind) {
  case AttrKind::F64:
    return value == AttrValue(INFINITY) ? "INFINITY" : value == AttrValue(-INFINITY) ? "-INFINITY" : value.toText();
  case AttrKind::Str:
    return cppString(value.str());
  case AttrKind::I64List:
    return "IntList{" + value.toText().substr(1, value.toText().size() - 2) + "}";
  case AttrKind::DType:
    return "tess::DType(" + std::to_string(unsigned(value.dtype())) + ")";
  default:
    return value.toText();
  }
}

/// The attributes in the order of the parameters: required ones come first.
std::vector<const AttrModel *> parameters(const OpModel &op) {
  std::vector<const AttrModel *> list;
  for (const AttrModel &attr : op.attrs)
    list.push_back(&attr);
  return requiredFirst(list, [](const AttrModel *attr) { return attr->hasDefault || attr->isOptional; });
}

void emitGetter(const AttrModel &attr, unsigned index, raw_ostream &os) {
  std::string value = "attr(" + std::to_string(index) + "u)." + accessor(attr.kind);
  std::string type = resultType(attr.kind);
  if (attr.isOptional) {
    type = optionalType(attr);
    value = "has(\"" + attr.name + "\") ? " + type + "(" + value + ") : std::nullopt";
    type += " ";
  }
  os << "  " << type << "get" << convertToCamelFromSnakeCase(attr.name, true) << "() const { return " << value
     << "; }\n";
}

/// `id`: the number of the record in allOps().
void emitClass(const OpModel &op, size_t id, raw_ostream &os) {
  // No summary: a sentence that changes would compile all that includes the classes.
  os << "\nclass " << op.opdefName << " : public OpDef {\npublic:\n"
     << "  static const OpInfo &record() { return allOps()[" << id << "]; }\n"
     << "  explicit " << op.opdefName << "(";
  const char *separator = "";
  for (const AttrModel *attr : parameters(op)) {
    std::string type = parameterType(attr->kind);
    if (attr->kind == AttrKind::DType)
      type = "tess::DType ";
    os << separator << (attr->isOptional ? optionalType(*attr) + " " : type) << attr->name
       << (attr->isOptional   ? " = std::nullopt"
           : attr->hasDefault ? " = " + parameterDefault(*attr)
                              : "");
    separator = ", ";
  }
  os << ") : OpDef(record()";
  for (const AttrModel &attr : op.attrs)
    os << ", "
       << (attr.isOptional              ? optionalValue(attr)
           : attr.kind == AttrKind::Str ? attr.name + ".str()"
                                        : attr.name);
  os << ") {}\n";
  for (unsigned i = 0; i < op.attrs.size(); ++i)
    emitGetter(op.attrs[i], i, os);
  os << "  static bool classof(const OpDef &op) { return op && &op.info() == &record(); }\n};\n";
}

} // namespace

void emitBuiltin(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-builtin");
  for (auto [id, op] : enumerate(model.ops()))
    emitClass(op, id, os);
}

} // namespace tess::tblgen
