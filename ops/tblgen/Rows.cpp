//===- Rows.cpp - gen-tess-rows ------------------------------------------===//
//
// Records of a file outside of Tessera as data, which ops/custom/RecordRow.h makes
// rows of while programs run. A field that only C++ can serve is refused.
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Describe.h"
#include "ops/tblgen/Generators.h"
#include "ops/tblgen/RowGraphs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

/// Fields that a record of a plug-in leaves as Base.td has them.
constexpr StringLiteral kTexts[] = {"shapeRule", "order",     "check",       "boundRule", "gradientRule", "compute",
                                    "channels",  "oldKernel", "channelAxis", "onnx",      "flatWithout"};
constexpr StringLiteral kLists[] = {"sizes",  "strided",  "requires", "constraints", "multiplyAdds",
                                    "copies", "upgrades", "splits",   "normalised"};
constexpr StringLiteral kBits[] = {"stochastic", "takesVectors"};

void checkFields(const OpModel &op) {
  auto refuse = [&](StringRef field) { op.fatal(field + " must not be given in a plug-in, got it"); };
  for (StringRef field : kTexts)
    if (!op.text(field).empty())
      refuse(field);
  for (StringRef field : kLists)
    if (!op.record->getValueAsListInit(field)->empty())
      refuse(field);
  for (StringRef field : kBits)
    if (op.bit(field))
      refuse(field);
  for (StringRef field : {"sampleRank", "version"})
    if (op.record->getValueAsInt(field) != (field == "version"))
      refuse(field);
  bool isComposite = op.isLowering("Composite") && op.def("lowering")->getValueAsString("rule").empty();
  if (!op.isLowering("Elementwise_") && !isComposite)
    op.fatal("lowering must be Elementwise_ or Composite<> in a plug-in, got " + op.def("lowering")->getName());
  if (isComposite && op.dags("forward").size() != op.results.size())
    op.fatal("forward must have one dag for each result, got " + Twine(op.dags("forward").size()));
  for (const std::vector<ValueModel> *values : {&op.operands, &op.results})
    for (const ValueModel &value : *values)
      if (value.arity != '1')
        op.fatal("operands and results must be single ones in a plug-in, got " + value.name);
  if (op.operands.empty())
    op.fatal("a record of a plug-in must have an operand, got none");
}

json::Array values(const OpModel &op, const std::vector<ValueModel> &all) {
  json::Array list;
  for (const ValueModel &value : all) {
    json::Object row{{"name", value.name}, {"dtypes", int64_t(dtypeBits(op, value.constraint))}};
    if (value.hidden)
      row["hidden"] = true;
    list.push_back(std::move(row));
  }
  return list;
}

/// Sets a text of a number, where it is given.
void setLimit(const OpModel &op, json::Object &row, StringRef key, const std::string &text) {
  if (text.empty())
    return;
  if (double number; StringRef(text).getAsDouble(number))
    op.fatal("Range must have numbers, got '" + text + "'");
  row[key] = text;
}

json::Object attribute(const OpModel &op, const AttrModel &attr) {
  static constexpr const char *kinds[] = {"none", "int", "float", "bool", "string", "ints", "dtype"};
  json::Object row{{"name", attr.name}, {"kind", kinds[unsigned(attr.kind)]}};
  if (attr.hasDefault)
    row["default"] = attr.defaultValue.toText();
  for (auto [key, isSo] : {std::pair("runtime", attr.isRuntime), std::pair("optional", attr.isOptional),
                           std::pair("bind_time", attr.isBindTime), std::pair("size", attr.isSize)})
    if (isSo)
      row[key] = true;
  setLimit(op, row, "least", attr.low);
  setLimit(op, row, "most", attr.high);
  if (!attr.cases.empty())
    row["cases"] = json::Array(attr.cases);
  if (!attr.doc.empty())
    row["doc"] = attr.doc;
  if (attr.length >= 0)
    row["length"] = attr.length;
  if (attr.fit != "Free")
    row["fit"] = attr.fit;
  if (attr.axisOf >= 0) {
    row["axis_of"] = attr.axisOf;
    row["axis_extra"] = attr.axisExtra;
    row["set"] = attr.isSet;
  }
  return row;
}

json::Array dimensions(const std::vector<DimModel> &dims) {
  json::Array list;
  for (const DimModel &dim : dims) {
    const char *kind = dim.kind == 'S'   ? "symbol"
                       : dim.kind == '*' ? "star"
                       : dim.kind == 'L' ? "literal"
                       : dim.kind == '/' ? "reduced"
                                         : "attribute";
    json::Object row{{"kind", kind}, {"number", dim.number}};
    if (dim.axes)
      row["axes"] = dim.axes;
    list.push_back(std::move(row));
  }
  return list;
}

json::Array patterns(const std::vector<PatternModel> &all) {
  json::Array list;
  for (const PatternModel &pattern : all) {
    json::Object row{{"dims", dimensions(pattern.dims)}};
    if (pattern.guardAttr >= 0) {
      row["guard"] = pattern.guardAttr;
      row["guarded"] = dimensions(pattern.guardedDims);
    }
    list.push_back(std::move(row));
  }
  return list;
}

json::Object signature(const SignatureModel &model) {
  return json::Object{{"text", model.text},
                      {"symbols", json::Array(model.symbols)},
                      {"operands", patterns(model.operands)},
                      {"results", patterns(model.results)},
                      {"elementwise", model.elementwise}};
}

json::Object scalarProgram(const OpModel &op) {
  ScalarModel model = scalarOf(op);
  json::Array nodes;
  for (const ScalarModel::Node &node : model.nodes) {
    json::Object row{{"function", node.name}, {"arguments", json::Array(node.arguments)}};
    if (!node.constant.empty())
      row["constant"] = node.constant;
    nodes.push_back(std::move(row));
  }
  return json::Object{{"nodes", std::move(nodes)}, {"results", json::Array(model.results)}};
}

json::Object dtypeRule(const OpModel &op) {
  DTypeRuleModel model = dtypeRuleOf(op);
  json::Object row{{"rule", model.kind}, {"operand", model.operand}, {"mask", int64_t(model.mask)}};
  if (model.kind == "Rule")
    op.fatal("dtypes must be one rule for all results in a plug-in, got a rule for each");
  if (model.fixed)
    row["fixed"] = shortName(*model.fixed);
  if (model.attr >= 0)
    row["attribute"] = model.attr;
  return row;
}

/// Adds the parts that follow from the lowering: how it is computed, and its gradient.
void addGraphs(const OpModel &op, json::Object &row) {
  bool isElementwise = op.isLowering("Elementwise_");
  row["lowering"] = isElementwise ? "elementwise" : "composite";
  if (isElementwise)
    row["scalar"] = scalarProgram(op);
  else
    row["forward"] = rowGraph(op, op.dags("forward"));
  std::vector<const DagInit *> gradient = op.dags("gradient");
  if (!gradient.empty() && gradient.size() != op.operands.size())
    op.fatal("gradient must have one dag for each operand, got " + Twine(gradient.size()));
  if (!gradient.empty())
    row["gradient"] = rowGraph(op, gradient);
  else if (op.hasGradient())
    row["differentiates"] = true;
}

void addFacts(const OpModel &op, json::Object &row) {
  json::Array pairs, constraints;
  for (auto [operand, result] : inplacePairs(op))
    pairs.push_back(json::Object{{"operand", operand}, {"result", result}});
  for (const auto &[label, text] : op.constraints)
    constraints.push_back(json::Object{{"label", label}, {"text", text}});
  row["inplace"] = std::move(pairs);
  row["constraints"] = std::move(constraints);
  row["counts_axes"] = countsAxes(op);
  row["keeps_axes"] = op.keepsAxes();
  row["rounds"] = op.text("quant") == "rounds";
  row["autocast"] = op.text("autocast");
  if (std::optional<ShardingModel> sharding = shardingOf(op))
    row["sharding"] =
        json::Object{{"splittable", json::Array(sharding->splittable)}, {"partial", json::Array(sharding->partial)}};
}

json::Object rowOf(const OpModel &op) {
  checkFields(op);
  json::Array attrs;
  for (const AttrModel &attr : op.attrs)
    attrs.push_back(attribute(op, attr));
  json::Object row{{"name", op.name},
                   {"summary", op.summary},
                   {"documentation", documentation(op)},
                   {"operands", values(op, op.operands)},
                   {"results", values(op, op.results)},
                   {"attributes", std::move(attrs)},
                   {"dtypes", dtypeRule(op)}};
  if (op.signature)
    row["signature"] = signature(*op.signature);
  addGraphs(op, row);
  addFacts(op, row);
  return row;
}

/// Whether a record is of the file that was given, and not of one that it includes.
bool isOfMainFile(const Record *record) {
  return any_of(record->getLoc(),
                [](SMLoc loc) { return SrcMgr.FindBufferContainingLoc(loc) == SrcMgr.getMainFileID(); });
}

} // namespace

void emitRows(const RecordKeeper &records, raw_ostream &os) {
  auto plugins = records.getAllDerivedDefinitions("Plugin");
  if (plugins.size() != 1)
    PrintFatalError("a plug-in must have one record Plugin, got " + Twine(plugins.size()));
  Model model(records);
  json::Array rows;
  for (const OpModel &op : model.ops())
    if (isOfMainFile(op.record))
      rows.push_back(rowOf(op));
  if (rows.empty())
    PrintFatalError(plugins[0]->getLoc(), "a plug-in must have a record of an operator, got none");
  json::Object file{{"format", "tessera records"},
                    {"version", 1},
                    {"library", plugins[0]->getValueAsString("library")},
                    {"library_version", plugins[0]->getValueAsString("version")},
                    {"rows", std::move(rows)}};
  os << formatv("{0:2}", json::Value(std::move(file))) << "\n";
}

} // namespace tess::tblgen
