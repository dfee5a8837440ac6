//===- OpDef.cpp - operators as values -----------------------------------===//
#include "ops/operator/OpDef.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

namespace tess {

int OpInfo::inPlaceOperand() const {
  if (results.size() != 1 || results[0].arity != Arity::One || inplace.empty())
    return -1;
  unsigned operand = inplace.front().first;
  bool isPlain = llvm::all_of(operands.take_front(operand + 1),
                              [](const OperandInfo &group) { return group.arity == Arity::One; });
  return isPlain ? int(operand) : -1;
}

AttrValue defaultOf(const AttrInfo &attr) {
  if (attr.heldDefault)
    return *attr.heldDefault;
  return attr.hasDefault ? attr.defaultValue() : AttrValue();
}

OpDef::OpDef(const OpInfo &info) : opInfo(&info) {
  for (const AttrInfo &attr : info.attrs)
    attrs.push_back(defaultOf(attr));
}

OpDef OpDef::get(llvm::StringRef name) {
  const OpInfo *info = findOp(name);
  assert(info && "operator must exist");
  return OpDef(*info);
}

static int attrIndex(const OpInfo &info, llvm::StringRef name) {
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    if (name == info.attrs[i].name)
      return i;
  return -1;
}

const AttrValue &OpDef::attr(llvm::StringRef name) const {
  int index = attrIndex(*opInfo, name);
  assert(index >= 0 && "attribute must exist");
  return attrs[index];
}

AttrValue neutralNumber(const AttrInfo &attr) {
  if (attr.hasDefault)
    return defaultOf(attr);
  return attr.kind == AttrKind::F64 ? AttrValue(1.0) : AttrValue(1);
}

int64_t ScanInfo::axisOf(const OpDef &op, int64_t rank) const {
  int64_t given = op.attr(unsigned(axis)).i64();
  return given < 0 ? given + rank : given;
}

bool ScanInfo::isExclusive(const OpDef &op) const { return op.attr(unsigned(exclusive)).boolean(); }
bool ScanInfo::isReverse(const OpDef &op) const { return op.attr(unsigned(reverse)).boolean(); }

static const char *kindName(AttrKind kind) {
  static constexpr const char *names[] = {"none",        "int",   "float",     "bool", "string",
                                          "list of int", "dtype", "parameter", "body"};
  return names[unsigned(kind)];
}

/// Accepts an integer where a float is expected, and a single integer where a list is.
static AttrValue coerced(const AttrInfo &info, AttrValue value) {
  if (info.kind == AttrKind::F64 && value.kind() == AttrKind::I64)
    return AttrValue(double(value.i64()));
  if (info.kind == AttrKind::I64List && value.kind() == AttrKind::I64)
    return AttrValue(IntList(info.length > 0 ? info.length : 1, value.i64()));
  return value;
}

OpDef &OpDef::set(llvm::StringRef name, AttrValue value) {
  int index = attrIndex(*opInfo, name);
  assert(index >= 0 && "attribute must exist");
  const AttrInfo &info = opInfo->attrs[index];
  attrs[index] = coerced(info, std::move(value));
  assert((attrs[index].kind() == info.kind || (info.isOptional && attrs[index].kind() == AttrKind::None) ||
          (info.isRuntime && attrs[index].kind() == AttrKind::Parameter)) &&
         "attribute must have its kind");
  return *this;
}

static llvm::Error badAttr(llvm::StringRef op, const AttrInfo &info, const llvm::Twine &must, const AttrValue &value) {
  return invalidArgument(op + ": " + info.name + " must " + must + ", got " + value.toText());
}

static llvm::Error checkNumber(llvm::StringRef op, const AttrInfo &info, double number, const AttrValue &value) {
  if (number >= info.min && number <= info.max)
    return llvm::Error::success();
  std::string low = info.kind == AttrKind::F64 ? AttrValue(info.min).toText() : std::to_string(int64_t(info.min));
  std::string high = info.kind == AttrKind::F64 ? AttrValue(info.max).toText() : std::to_string(int64_t(info.max));
  if (info.max == std::numeric_limits<double>::infinity())
    return badAttr(op, info, "be >= " + low, value);
  if (info.min == -std::numeric_limits<double>::infinity())
    return badAttr(op, info, "be <= " + high, value);
  return badAttr(op, info, "be in [" + low + ", " + high + "]", value);
}

/// Checks a number of an I64 or an I64List: only a size may be an expression.
static llvm::Error checkInteger(llvm::StringRef op, const AttrInfo &info, bool isLimited, int64_t number,
                                const AttrValue &value) {
  if (sizes::isSymbolic(number))
    return info.isSize && sizes::isKnown(number) ? llvm::Error::success() : badAttr(op, info, "be a number", value);
  return isLimited ? checkNumber(op, info, double(number), value) : llvm::Error::success();
}

llvm::Error checkAttr(llvm::StringRef op, const AttrInfo &info, const AttrValue &value) {
  bool limited =
      info.min != -std::numeric_limits<double>::infinity() || info.max != std::numeric_limits<double>::infinity();
  if (value.kind() == AttrKind::None)
    return info.isOptional ? llvm::Error::success() : badAttr(op, info, "be given", value);
  if (value.kind() == AttrKind::Parameter)
    return llvm::Error::success();
  if (info.kind == AttrKind::I64)
    return checkInteger(op, info, limited, value.i64(), value);
  if (info.kind == AttrKind::F64 && limited)
    return checkNumber(op, info, value.f64(), value);
  if (info.kind == AttrKind::Str && !info.cases.empty() && !llvm::is_contained(info.cases, value.str())) {
    std::string list;
    for (const char *c : info.cases)
      list += std::string(list.empty() ? "" : ", ") + '"' + c + '"';
    return badAttr(op, info, "be one of " + list, value);
  }
  if (info.kind != AttrKind::I64List)
    return llvm::Error::success();
  if (info.length >= 0 && value.ints().size() != size_t(info.length))
    return badAttr(op, info, "have length " + llvm::Twine(int(info.length)), value);
  for (int64_t v : value.ints())
    if (llvm::Error e = checkInteger(op, info, limited, v, value))
      return e;
  return llvm::Error::success();
}

llvm::Error OpDef::trySet(llvm::StringRef name, AttrValue value) {
  int index = attrIndex(*opInfo, name);
  if (index < 0) {
    std::string list;
    for (const AttrInfo &info : opInfo->attrs)
      list += std::string(list.empty() ? "" : ", ") + info.name;
    return makeError(ErrorCode::TypeMismatch,
                     this->name() + ": attribute must be one of [" + list + "], got '" + name + "'");
  }
  return trySet(unsigned(index), std::move(value));
}

llvm::Error OpDef::trySet(unsigned index, AttrValue value) {
  const AttrInfo &info = opInfo->attrs[index];
  value = coerced(info, std::move(value));
  if (value.kind() != info.kind && !(value.kind() == AttrKind::None && info.isOptional))
    return makeError(ErrorCode::TypeMismatch, this->name() + ": " + info.name + " must be of kind " +
                                                  kindName(info.kind) + ", got " + kindName(value.kind()) + " " +
                                                  value.toText());
  if (llvm::Error e = checkAttr(this->name(), info, value))
    return e;
  attrs[index] = std::move(value);
  return llvm::Error::success();
}

llvm::Expected<OpDef> OpDef::make(llvm::StringRef name, llvm::ArrayRef<std::pair<llvm::StringRef, AttrValue>> values) {
  const OpInfo *info = findOp(name);
  if (!info)
    return makeError(ErrorCode::NotFound, "operator: name must be known, got '" + name + "'");
  OpDef op(*info);
  for (const auto &[key, value] : values)
    if (llvm::Error e = op.trySet(key, value))
      return std::move(e);
  std::string missing;
  for (unsigned i = 0; i < info->attrs.size(); ++i)
    if (!info->attrs[i].isOptional && op.attrs[i].kind() == AttrKind::None)
      missing += std::string(missing.empty() ? "" : ", ") + info->attrs[i].name;
  if (!missing.empty())
    return makeError(ErrorCode::TypeMismatch, name + ": attributes must all be given, got none for " + missing);
  return op;
}

/// The body of a control operator; null for others.
static const AttrBody *bodyOf(llvm::ArrayRef<AttrValue> attrs) {
  bool isControl = !attrs.empty() && attrs.front().kind() == AttrKind::Body;
  return isControl ? attrs.front().body().get() : nullptr;
}

bool OpDef::hasExpressions() const {
  const AttrBody *body = bodyOf(attrs);
  auto isExpression = [](const auto &pair) { return std::get<0>(pair).isSize && std::get<1>(pair).hasExpressions(); };
  return (body && body->hasExpressions()) || llvm::any_of(llvm::zip_equal(opInfo->attrs, attrs), isExpression);
}

void OpDef::forEachSymbol(llvm::function_ref<void(uint32_t)> f) const {
  if (hasExpressions())
    (void)withSymbols([&](uint32_t symbol) {
      f(symbol);
      return sizes::symbol(symbol);
    });
}

OpDef OpDef::withSizes(llvm::function_ref<int64_t(int64_t)> sizeOf) const {
  OpDef op = *this;
  for (auto [info, value] : llvm::zip_equal(opInfo->attrs, op.attrs)) {
    if (!info.isSize || !value.hasExpressions())
      continue;
    bool isOne = value.kind() == AttrKind::I64;
    IntList list = isOne ? IntList{value.i64()} : value.ints();
    for (int64_t &number : list)
      number = sizes::isSymbolic(number) ? sizeOf(number) : number;
    value = isOne ? AttrValue(list.front()) : AttrValue(std::move(list));
  }
  return op;
}

OpDef OpDef::withSymbols(llvm::function_ref<int64_t(uint32_t)> valueOf) const {
  OpDef op = withSizes([&](int64_t size) { return sizes::substitute(size, valueOf); });
  if (const AttrBody *body = bodyOf(op.attrs))
    op.attrs.front() = AttrValue(body->withSymbols(valueOf));
  return op;
}

uint64_t OpDef::heldBytes() const {
  uint64_t bytes = attrs.size() * sizeof(AttrValue);
  for (const AttrValue &value : attrs)
    if (value.kind() == AttrKind::I64List)
      bytes += value.ints().size() * sizeof(int64_t);
    else if (value.kind() == AttrKind::Body)
      bytes += value.body()->heldBytes();
  return bytes;
}

/// The hash is valid in this process only: ids change when operators are added.
uint64_t OpDef::hash() const {
  uint64_t h = mixHash(0x51ED270B, opInfo->id);
  for (const AttrValue &value : attrs)
    h = mixHash(h, value.hash());
  return h;
}

std::string OpDef::toString() const {
  std::string text = opInfo->name;
  const char *separator = "(";
  for (unsigned i = 0; i < attrs.size(); ++i) {
    text += std::string(separator) + opInfo->attrs[i].name + "=" + attrs[i].toText();
    separator = ", ";
  }
  return attrs.empty() ? text + "()" : text + ")";
}

} // namespace tess
