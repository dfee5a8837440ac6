//===- RecordReader.cpp - reads a row of a file ---------------------------===//
#include "ops/custom/RecordReader.h"

#include "ops/custom/CustomRow.h"
#include "ops/inference/Normalise.h"
#include "ops/vocabulary/Quantization.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::custom {

static constexpr size_t kMaxValues = 16;

llvm::Error RecordReader::refused(const llvm::Twine &must, const llvm::Twine &got) const {
  return invalidArgument("load_records: " + must + ", got " + got + " in " + to.from.library + "." + from.name);
}

llvm::Error RecordReader::checkNumber(llvm::StringRef what, int64_t number, int64_t least, int64_t below) const {
  if (number >= least && number < below)
    return llvm::Error::success();
  return refused(what + " must be in [" + llvm::Twine(least) + ", " + llvm::Twine(below) + ")", llvm::Twine(number));
}

llvm::Error RecordReader::take(const std::string &name, std::vector<std::string> &names) const {
  if (!mayBeName(name))
    return refused(kNameRule, "'" + name + "'");
  if (llvm::is_contained(names, name))
    return refused("names must differ", "'" + name + "' twice");
  names.push_back(name);
  return llvm::Error::success();
}

llvm::Error RecordReader::readNames() {
  if (!isIdentifier(to.from.library) || !isIdentifier(from.name))
    return refused("names of library and operator must be identifiers", "'" + to.from.library + "." + from.name + "'");
  to.text = from.documentation;
  row.origin = &to.from;
  row.name = row.opdefName = kept(to.from.library + "." + from.name);
  row.summary = kept(from.summary);
  row.version = 1;
  row.pythonModule = kept("ops." + to.from.library);
  row.pythonName = kept(from.name);
  row.simple = true;
  row.keepsAxes = from.keepsAxes;
  row.roundsToGrid = from.rounds;
  return llvm::Error::success();
}

llvm::Error RecordReader::readValues() {
  std::vector<std::string> names, resultNames;
  for (const data::Attribute &attr : from.attributes)
    if (llvm::Error error = take(attr.name, names))
      return error;
  if (from.operands.empty() || from.results.empty() || from.operands.size() > kMaxValues ||
      from.results.size() > kMaxValues)
    return refused("there must be an operand and a result, and at most 16 of each",
                   llvm::Twine(from.operands.size()) + " and " + llvm::Twine(from.results.size()));
  for (const data::Value &value : from.operands) {
    if (llvm::Error error = take(value.name, names))
      return error;
    if (llvm::Error error = checkNumber("dtypes", value.dtypes, 1, int64_t(kMovedMask) + 1))
      return error;
    to.operands.push_back({kept(value.name), Arity::One, DTypeMask(value.dtypes)});
  }
  for (const data::Value &value : from.results) {
    if (llvm::Error error = take(value.name, resultNames))
      return error;
    if (llvm::Error error = checkNumber("dtypes", value.dtypes, 1, int64_t(kMovedMask) + 1))
      return error;
    if (!value.hidden && !to.results.empty() && to.results.back().hidden)
      return refused("hidden results must be the last ones", value.name + " behind one");
    to.results.push_back({kept(value.name), DTypeMask(value.dtypes), value.hidden});
  }
  if (to.results.front().hidden)
    return refused("there must be a result that is returned", "none");
  row.operands = to.operands;
  row.results = to.results;
  return llvm::Error::success();
}

llvm::Error RecordReader::readLimits(const data::Attribute &given, AttrInfo &attr) {
  attr.min = -kInfinity;
  attr.max = kInfinity;
  for (auto [text, limit] : {std::pair(&given.least, &attr.min), std::pair(&given.most, &attr.max)})
    if (*text && llvm::StringRef(**text).getAsDouble(*limit))
      return refused("limits must be numbers", "'" + **text + "'");
  if (!given.defaultText)
    return llvm::Error::success();
  llvm::Expected<AttrValue> value = AttrValue::parse(attr.kind, *given.defaultText);
  if (!value)
    return refused("the default of " + given.name + " must be a value of its kind", toString(value.takeError()));
  attr.hasDefault = true;
  attr.heldDefault = &to.defaults.emplace_back(std::move(*value));
  return checkAttr(row.name, attr, *attr.heldDefault);
}

llvm::Error RecordReader::readAttribute(const data::Attribute &given) {
  static constexpr llvm::StringLiteral kinds[] = {"none", "int", "float", "bool", "string", "ints", "dtype"};
  static constexpr llvm::StringLiteral fits[] = {"Free", "Both", "AtMost", "AtLeast"};
  const auto *kind = llvm::find(kinds, given.kind), *fit = llvm::find(fits, given.fit.value_or("Free"));
  if (kind == std::begin(kinds) || kind == std::end(kinds) || fit == std::end(fits))
    return refused("kinds of attributes must be known", "'" + given.kind + "'");
  AttrInfo attr = {};
  attr.name = kept(given.name);
  attr.kind = AttrKind(kind - std::begin(kinds));
  attr.fit = Fit(fit - std::begin(fits));
  attr.doc = kept(given.doc);
  attr.isRuntime = given.runtime;
  attr.isOptional = given.optional;
  attr.isBindTime = given.bindTime;
  attr.isSize = given.size;
  attr.isSet = given.set;
  bool isScalar = attr.kind == AttrKind::I64 || attr.kind == AttrKind::F64;
  bool isPlaced = isScalar || attr.kind == AttrKind::I64List;
  if ((attr.isRuntime && !isScalar) || (attr.isBindTime && (!isPlaced || from.lowering == "elementwise")))
    return refused("a runtime attribute must be a number, and one of bind time of a composite", given.name);
  for (auto [what, number, limit] :
       {std::tuple("axis_of", given.axisOf, int64_t(to.operands.size())),
        std::tuple("axis_extra", given.axisExtra, int64_t(kMaxRank)), std::tuple("length", given.length, int64_t(100))})
    if (llvm::Error error = checkNumber(what, number, -1, limit))
      return error;
  attr.axisOf = int8_t(given.axisOf);
  attr.axisExtra = int8_t(given.axisExtra);
  attr.length = int8_t(given.length);
  if (attr.axisOf >= 0 && attr.kind != AttrKind::I64 && attr.kind != AttrKind::I64List)
    return refused("an axis must be an integer or a list of them", given.name);
  if (!given.cases.empty()) {
    std::vector<const char *> &cases = to.names.emplace_back();
    for (const std::string &each : given.cases)
      cases.push_back(kept(each));
    attr.cases = cases;
  }
  if (llvm::Error error = readLimits(given, attr))
    return error;
  to.attrs.push_back(attr);
  return llvm::Error::success();
}

llvm::Error RecordReader::readAttributes() {
  if (from.attributes.size() > kMaxValues)
    return refused("there must be at most 16 attributes", llvm::Twine(from.attributes.size()));
  for (const data::Attribute &given : from.attributes)
    if (llvm::Error error = readAttribute(given))
      return error;
  row.attrs = to.attrs;
  row.normalise = from.countsAxes ? normalise::axes : nullptr;
  row.isExpandedFirst = llvm::any_of(to.attrs, [](const AttrInfo &attr) { return attr.isBindTime; });
  return llvm::Error::success();
}

llvm::Error RecordReader::readDTypes() {
  static constexpr std::pair<llvm::StringLiteral, DTypeRuleKind> kinds[] = {
      {"Same", DTypeRuleKind::Same},          {"Sum", DTypeRuleKind::Sum},
      {"Part", DTypeRuleKind::Part},          {"Promote", DTypeRuleKind::Promote},
      {"Complex", DTypeRuleKind::Complex},    {"PromoteFloat", DTypeRuleKind::PromoteFloat},
      {"Fixed", DTypeRuleKind::Fixed},        {"FromAttr", DTypeRuleKind::FromAttr},
      {"PromoteOr", DTypeRuleKind::PromoteOr}};
  const data::DTypes &given = from.dtypes;
  const auto *kind = llvm::find_if(kinds, [&](const auto &each) { return each.first == given.rule; });
  if (kind == std::end(kinds))
    return refused("the rule of dtypes must be known", "'" + given.rule + "'");
  row.dtypes.kind = kind->second;
  if (llvm::Error error = checkNumber("operand", given.operand, 0, int64_t(to.operands.size())))
    return error;
  bool promotes = llvm::StringRef(given.rule).starts_with("Promote") || given.rule == "Complex";
  if (llvm::Error error = checkNumber("mask", given.mask, promotes, int64_t(1) << to.operands.size()))
    return error;
  row.dtypes.operand = uint8_t(given.operand);
  row.dtypes.operandMask = uint32_t(given.mask);
  if (given.rule == "Fixed") {
    std::optional<DType> fixed = parseDType(given.fixed);
    if (!fixed)
      return refused("a fixed dtype must be known", "'" + given.fixed + "'");
    row.dtypes.fixed = *fixed;
  }
  if (given.rule != "FromAttr" && given.rule != "PromoteOr")
    return llvm::Error::success();
  if (llvm::Error error = checkAttrOf(given.attribute, AttrKind::DType))
    return error;
  row.dtypes.attr = uint8_t(given.attribute);
  return llvm::Error::success();
}

llvm::Error RecordReader::readFacts() {
  static constexpr std::pair<llvm::StringLiteral, Precision> precisions[] = {
      {"", Precision::Given}, {"low", Precision::Low}, {"high", Precision::High}, {"low_data", Precision::LowData}};
  const auto *found = llvm::find_if(precisions, [&](const auto &each) { return each.first == from.autocast; });
  if (found == std::end(precisions))
    return refused("autocast must be low, high or low_data", "'" + from.autocast + "'");
  row.autocast = found->second;
  for (const data::Pair &pair : from.inplace) {
    if (llvm::Error error = checkNumber("operand", pair.operand, 0, int64_t(to.operands.size())))
      return error;
    if (llvm::Error error = checkNumber("result", pair.result, 0, int64_t(to.results.size())))
      return error;
    to.inplace.emplace_back(uint8_t(pair.operand), uint8_t(pair.result));
  }
  for (const data::Constraint &constraint : from.constraints)
    to.constraints.push_back({kept(constraint.label), kept(constraint.text)});
  row.inplace = to.inplace;
  row.constraints = to.constraints;
  row.regionSteps = -1;
  row.fitsNumbers = llvm::any_of(to.attrs, [](const AttrInfo &attr) { return attr.fit != Fit::Free; });
  return llvm::Error::success();
}

llvm::Error RecordReader::read() {
  for (auto part :
       {&RecordReader::readNames, &RecordReader::readValues, &RecordReader::readAttributes,
        &RecordReader::readSignature, &RecordReader::readDTypes, &RecordReader::readScalar, &RecordReader::readFacts})
    if (llvm::Error error = (this->*part)())
      return error;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<RecordRow>> RecordRow::make(const data::Row &from, const OpOrigin &origin) {
  std::unique_ptr<RecordRow> made(new RecordRow(origin));
  if (llvm::Error error = RecordReader(from, *made).read())
    return std::move(error);
  return made;
}

} // namespace tess::custom
