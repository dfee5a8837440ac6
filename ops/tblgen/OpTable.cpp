//===- OpTable.cpp - gen-tess-op-table -----------------------------------===//
#include "ops/tblgen/Generators.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace tess::tblgen {

namespace {

/// The C++ function for the name of a rule, as in "conv2d" -> shapes::conv2d; null for an empty name.
std::string ruleName(StringRef space, const std::string &rule) {
  return rule.empty() ? "nullptr" : (space + "::" + rule).str();
}

std::string dtypeRule(const OpModel &op) {
  DTypeRuleModel rule = dtypeRuleOf(op);
  std::string text = "{DTypeRuleKind::" + rule.kind;
  if (rule.kind != "Rule")
    text += ", " + std::to_string(rule.operand);
  if (rule.mask || rule.fixed)
    text += ", " + std::to_string(rule.mask) + (rule.mask || rule.kind == "Fixed" ? "u" : "");
  if (rule.kind == "Fixed")
    text += ", DType(" + std::to_string(unsigned(*rule.fixed)) + ")";
  return text + (rule.attr >= 0 ? ", DType::Float32, " + std::to_string(rule.attr) : "") + "}";
}

void emitInplace(const OpModel &op, raw_ostream &os) {
  std::vector<std::pair<int, int>> pairs = inplacePairs(op);
  if (pairs.empty())
    return;
  os << "constexpr std::pair<uint8_t, uint8_t> inplace[] = {";
  for (auto [from, to] : pairs)
    os << "{" << from << ", " << to << "}, ";
  os << "};\n";
}

std::string listOf(const std::vector<unsigned> &numbers) {
  std::string text;
  for (unsigned number : numbers)
    text += std::to_string(number) + ", ";
  return text;
}

/// Writes the sharding rule.
void emitSharding(const OpModel &op, raw_ostream &os, std::string &initializer) {
  initializer = "{}";
  std::optional<ShardingModel> sharding = shardingOf(op);
  if (!sharding)
    return;
  if (!sharding->splittable.empty())
    os << "constexpr uint8_t splittable[] = {" << listOf(sharding->splittable) << "};\n";
  if (!sharding->partial.empty())
    os << "constexpr uint8_t partial[] = {" << listOf(sharding->partial) << "};\n";
  initializer = std::string("{") + (sharding->splittable.empty() ? "{}" : "splittable") + ", " +
                (sharding->partial.empty() ? "{}" : "partial") +
                (op.compute ? ", " + std::to_string(op.compute->axis) : "") + "}";
}

void emitTexts(const OpModel &op, raw_ostream &os) {
  std::vector<std::string> upgrades = op.strings("upgrades");
  if (!upgrades.empty()) {
    os << "constexpr const char *upgrades[] = {";
    for (const std::string &line : upgrades)
      os << cppString(line) << ", ";
    os << "};\n";
  }
  if (op.constraints.empty())
    return;
  os << "constexpr ConstraintInfo constraints[] = {\n";
  for (const auto &[label, text] : op.constraints)
    os << "    {" << cppString(label) << ", " << cppString(text) << "},\n";
  os << "};\n";
}

static std::string orNull(llvm::StringRef text) { return text.empty() ? "nullptr" : cppString(text); }

/// The function that gives attributes their one form.
std::string normaliseRule(const OpModel &op) {
  if (!op.record->getValueAsListOfDefs("normalised").empty())
    return "normalise";
  return countsAxes(op) ? "normalise::axes" : "nullptr";
}

std::string channelRule(const OpModel &op) {
  bool hasNotation = op.compute && !op.compute->isScan();
  if (!op.text("channelAxis").empty())
    return "channelAxis";
  if (hasNotation)
    return "channels::ofNotation";
  bool followsForward = op.isLowering("Composite") && op.text("channels").empty() && !op.keepsAxes();
  return followsForward ? "channels::ofForward" : ruleName("channels", op.text("channels"));
}

std::string precisionOf(const OpModel &op) {
  static const std::map<std::string, std::string> names = {
      {"", "Given"}, {"low", "Low"}, {"high", "High"}, {"low_data", "LowData"}};
  auto found = names.find(op.text("autocast"));
  if (found == names.end())
    op.fatal("autocast must be low, high or low_data, got " + op.text("autocast"));
  return "Precision::" + found->second;
}

std::string checkRule(const OpModel &op) {
  if (!op.conditions.empty())
    return op.signature ? "require" : "nullptr";
  return op.needsElements() ? "checks::reducible" : ruleName("checks", op.text("check"));
}

struct LoweringText {
  std::string kind, reduce = "ReduceKind::Sum", forward = "nullptr", view = "nullptr, ViewKind::None",
                    regions = "nullptr, -1", compute = "nullptr, nullptr", write = "std::nullopt", kernel = "nullptr";
};

/// The function for shapes that no signature describes.
std::string shapeRule(const OpModel &op) {
  if (op.compute)
    return op.compute->isScan() ? "nullptr" : "shapes::ofNotation";
  if (hasOwnShape(op))
    return "shape";
  bool followsFromForward = !op.signature && op.text("shapeRule").empty();
  return followsFromForward ? "shapes::ofForward" : ruleName("shapes", op.text("shapeRule"));
}

/// The function for the layout of a view.
std::string viewRule(const OpModel &op, const Record &lowering) {
  StringRef kind = lowering.getValueAsString("kind");
  if (!op.text("order").empty() || !op.strings("strided").empty())
    return "view";
  if (kind != "Reshape" && kind != "UnitAxes" && kind != "Broadcast")
    op.fatal("a View that neither reshapes nor broadcasts must have an order or strides, got " + kind);
  return kind == "Broadcast" ? "views::broadcastTo" : "views::reshape";
}

LoweringText lowering(const OpModel &op) {
  const Record *def = op.def("lowering");
  if (def->getName() == "Elementwise_")
    return {"Elementwise"};
  LoweringText text;
  if (def->isSubClassOf("Reduction")) {
    text.kind = "Reduction";
    text.reduce = "ReduceKind::" + def->getValueAsString("kind").str();
  } else if (def->isSubClassOf("Composite")) {
    text.kind = "Composite";
    std::string rule = def->getValueAsString("rule").str();
    text.forward = rule.empty() ? "forward" : ruleName("forwards", rule);
    text.compute = op.compute ? "nullptr, &notation" : text.compute;
  } else if (def->isSubClassOf("View")) {
    text.kind = "View";
    text.view = viewRule(op, *def) + ", ViewKind::" + def->getValueAsString("kind").str();
  } else if (def->isSubClassOf("Movement")) {
    text.kind = "Movement";
    std::string steps = def->getValueAsString("steps").str();
    text.regions = "copies, " + std::to_string(steps.empty() ? -1 : op.attrIndex(steps));
  } else if (def->getName() == "Window_") {
    text.kind = "Window";
    text.reduce = op.compute->reduction == "max" ? "ReduceKind::Max" : "ReduceKind::Min";
    text.compute = "nullptr, &notation";
  } else if (op.isLowering("Lookup_")) {
    text.kind = "Lookup";
  } else if (def->isSubClassOf("Scatter")) {
    text.kind = "Scatter";
    if (StringRef function = def->getValueAsString("function"); !function.empty())
      text.write = "ScalarFn::" + function.str();
  } else if (op.isLowering("Compute_") && op.compute->isScan()) {
    text.kind = "Compute";
    text.compute = "&scan, nullptr";
  } else if (op.isLowering("Compute_")) {
    text.kind = "Composite";
    text.forward = "forward";
    text.compute = "nullptr, &notation";
  } else {
    text.kind = def->isSubClassOf("Library") ? "Library" : "Sequential";
    text.compute = op.compute ? "nullptr, &notation" : text.compute;
    text.kernel = cppString(def->getValueAsString("kernel"));
  }
  if (std::string old = op.text("oldKernel"); !old.empty())
    text.kernel = cppString(old);
  return text;
}

std::string gradientText(const OpModel &op) {
  if (!op.dags("gradient").empty())
    return "gradient";
  if (!op.text("gradientRule").empty())
    return ruleName("gradients", op.text("gradientRule"));
  if (op.compute && op.compute->isScan())
    return "gradients::scanned";
  if (!op.hasGradient())
    return "nullptr";
  return op.isLowering("Reduction") ? "gradients::reduced" : "differentiateForward";
}

/// Whether attributes that are read at bind time decide its graph.
bool isExpandedFirst(const OpModel &op) {
  return op.isComposite() && any_of(op.attrs, [](const AttrModel &attr) { return attr.isBindTime; });
}

bool isSimple(const OpModel &op) {
  auto single = [](const ValueModel &v) { return v.arity == '1'; };
  return all_of(op.operands, single) && all_of(op.results, single);
}

/// Writes the constants of one operator and returns its row of the table; adds those of its splits to `splits`.
std::string emitOp(const Model &model, const OpModel &op, unsigned id, raw_ostream &os, std::string &splits) {
  os << "\nnamespace op_" << op.name << " {\n";
  emitValues(op, os);
  emitAttrs(op, os);
  emitSignature(op, os);
  emitScalar(op, os);
  emitCompute(model, op, os);
  emitConditions(op, os);
  emitForward(model, op, os);
  emitGradient(model, op, os);
  splits += emitSplits(model, op, os);
  emitInplace(op, os);
  emitTexts(op, os);
  std::string sharding;
  emitSharding(op, os, sharding);
  LoweringText low = lowering(op);
  auto orEmpty = [](bool present, const char *name) { return std::string(present ? name : "{}"); };
  std::string row;
  raw_string_ostream r(row);
  r << cppString(op.name) << ", " << cppString(op.opdefName) << ", " << cppString(op.summary) << ", " << id << ", "
    << op.record->getValueAsInt("version") << ",\n    " << orEmpty(!op.operands.empty(), "operands") << ", results, "
    << orEmpty(!op.attrs.empty(), "attrs") << ", " << (op.signature ? "&signature" : "nullptr") << ", " << shapeRule(op)
    << ",\n    " << dtypeRule(op) << ", " << normaliseRule(op) << ", Lowering::" << low.kind << ", "
    << (op.isLowering("Elementwise_") ? "&scalar" : "nullptr") << ", " << low.reduce << ", " << low.forward << ", "
    << low.view << ", " << low.regions << ", " << low.compute << ", " << low.write << ", " << low.kernel << ",\n    "
    << gradientText(op) << ", " << sharding << ", " << orEmpty(!op.strings("inplace").empty(), "inplace") << ", "
    << boolText(op.bit("stochastic")) << ", " << cppString(op.pyModule) << ", " << cppString(op.pyName) << ", "
    << orNull(op.text("onnx")) << ",\n    " << ruleName("shapes", op.text("boundRule")) << ", "
    << orEmpty(!op.strings("upgrades").empty(), "upgrades") << ", " << orEmpty(!op.constraints.empty(), "constraints")
    << ", " << checkRule(op) << ", " << boolText(isSimple(op)) << ", " << boolText(isExpandedFirst(op)) << ", "
    << boolText(op.keepsAxes()) << ", " << channelRule(op) << ", " << precisionOf(op) << ", "
    << boolText(op.bit("takesVectors")) << ", " << op.record->getValueAsInt("sampleRank") << ", "
    << boolText(op.text("quant") == "rounds") << ", "
    << boolText(any_of(op.attrs, [](const AttrModel &attr) { return attr.fit != "Free"; })) << ", "
    << (op.strings("multiplyAdds").empty() ? "nullptr" : "multiplyAdds");
  os << "constexpr OpInfo info = {" << row << "};\n} // namespace op_" << op.name << "\n";
  return "    op_" + op.name + "::info,\n";
}

} // namespace

void emitOpTable(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-op-table");
  os << "constexpr double kInfinity = std::numeric_limits<double>::infinity();\n";
  std::string rows, splits;
  unsigned id = 0;
  for (const OpModel &op : model.ops())
    rows += emitOp(model, op, id++, os, splits);
  os << "\nconstexpr OpInfo table[] = {\n" << rows << "};\n";
  os << "\nllvm::ArrayRef<Split> splits() {\n";
  if (splits.empty())
    os << "  return {};\n}\n";
  else
    os << "  static constexpr Split rows[] = {\n" << splits << "  };\n  return rows;\n}\n";
}

} // namespace tess::tblgen
