//===- RowFacts.cpp - facts of a row that follow from a record ------------===//
#include "ops/tblgen/Generators.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tess::tblgen {

static uint32_t maskOfOperands(const OpModel &op, const Record *rule) {
  uint32_t mask = 0;
  for (StringRef name : rule->getValueAsListOfStrings("operands")) {
    int index = op.operandIndex(name);
    if (index < 0)
      op.fatal("dtypes must name an operand, got " + name);
    mask |= 1u << index;
  }
  return mask;
}

/// The number of the attribute that gives the dtype.
static int attrOf(const OpModel &op, const Record *rule) {
  int index = op.attrIndex(rule->getValueAsString("attr"));
  if (index < 0)
    op.fatal("dtypes must name an attribute, got " + rule->getValueAsString("attr"));
  return index;
}

DTypeRuleModel dtypeRuleOf(const OpModel &op) {
  const Record *rule = op.def("dtypes");
  for (auto [name, kind] : {std::pair("Same", "Same"), std::pair("SumOf", "Sum"), std::pair("PartOf", "Part")}) {
    if (!rule->isSubClassOf(name))
      continue;
    int index = op.operandIndex(rule->getValueAsString("operand"));
    if (index < 0)
      op.fatal("dtypes must name an operand, got " + rule->getValueAsString("operand"));
    return {kind, index};
  }
  for (auto [name, kind] :
       {std::pair("Promote", "Promote"), std::pair("ComplexOf", "Complex"), std::pair("PromoteFloat", "PromoteFloat")})
    if (rule->isSubClassOf(name))
      return {kind, 0, maskOfOperands(op, rule)};
  if (rule->isSubClassOf("Fixed")) {
    std::optional<DType> d = parseDType(rule->getValueAsString("dtype"));
    if (!d)
      op.fatal("Fixed must name a dtype, got " + rule->getValueAsString("dtype"));
    return {"Fixed", 0, maskOfOperands(op, rule), d};
  }
  if (rule->isSubClassOf("PromoteOr"))
    return {"PromoteOr", 0, maskOfOperands(op, rule), DType::Float32, attrOf(op, rule)};
  if (rule->isSubClassOf("FromAttr"))
    return {"FromAttr", 0, 0, DType::Float32, attrOf(op, rule)};
  return {};
}

std::vector<std::pair<int, int>> inplacePairs(const OpModel &op) {
  std::vector<std::pair<int, int>> pairs;
  for (StringRef pair : op.record->getValueAsListOfStrings("inplace")) {
    auto [operand, result] = pair.split('=');
    int from = op.operandIndex(operand), to = op.resultIndex(result);
    if (from < 0 || to < 0)
      op.fatal("inplace must be operand=result, got " + pair);
    pairs.emplace_back(from, to);
  }
  return pairs;
}

static bool hasSymbol(const PatternModel &pattern, unsigned symbol) {
  return any_of(pattern.dims,
                [&](const DimModel &d) { return (d.kind == 'S' || d.kind == '*') && d.number == symbol; });
}

/// Whether the body reads the index of an element, which a part of a tensor does not have.
static bool countsPlaces(const Init *init) {
  const auto *dag = dyn_cast<DagInit>(init);
  if (!dag)
    return false;
  StringRef name = dag->getOperatorAsDef({})->getName();
  return name == "s_index" || name == "s_dimindex" || any_of(dag->getArgs(), countsPlaces);
}

/// Symbols of results may be split. Symbols of operands only give partial sums if every operand has them: an operand
/// without them, like a bias, would be added with each part.
std::optional<ShardingModel> shardingOf(const OpModel &op) {
  if (!op.signature || !(op.isLowering("Elementwise_") || op.compute || op.bit("sharded")) ||
      any_of(op.record->getValueAsListInit("scalar")->getElements(), countsPlaces))
    return std::nullopt;
  ShardingModel model;
  for (unsigned i = 0; i < op.signature->symbols.size(); ++i) {
    auto has = [&](const PatternModel &pattern) { return hasSymbol(pattern, i); };
    if (any_of(op.signature->results, has))
      model.splittable.push_back(i);
    else if (all_of(op.signature->operands, has))
      model.partial.push_back(i);
  }
  return model;
}

bool countsAxes(const OpModel &op) {
  auto isCounted = [](const AttrModel &attr) { return attr.axisOf >= 0 && (attr.kind == AttrKind::I64 || attr.isSet); };
  return !op.isLowering("View") && any_of(op.attrs, isCounted);
}

} // namespace tess::tblgen
