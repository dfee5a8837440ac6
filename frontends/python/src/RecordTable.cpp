//===- RecordTable.cpp - what records say, as dicts ----------------------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/Module.h"

#include "ops/custom/CustomOp.h"
#include "ops/graphs/Control.h"

#include <nanobind/stl/string.h>

namespace tess::python {

namespace {

nb::dict parameterRow(const AttrInfo &attr) {
  nb::dict row;
  row["name"] = attr.name;
  row["runtime"] = attr.isRuntime;
  row["optional"] = attr.isOptional;
  row["default"] = attr.hasDefault ? nb::steal(fromAttr(defaultOf(attr))) : nb::none();
  row["has_default"] = attr.hasDefault;
  nb::list cases;
  for (const char *name : attr.cases)
    cases.append(name);
  row["cases"] = cases;
  row["doc"] = attr.doc ? attr.doc : "";
  row["axis_of"] = int(attr.axisOf);
  return row;
}

/// The axes of one operand or result: symbols by name, "*D" for any number of axes, None for anything else.
nb::list patternRow(const Signature &signature, llvm::ArrayRef<DimPattern> dims) {
  nb::list row;
  for (const DimPattern &dim : dims)
    if (dim.kind == DimPattern::Symbol || dim.kind == DimPattern::Star)
      row.append(std::string(dim.kind == DimPattern::Star ? "*" : "") + signature.symbols[dim.symbol]);
    else
      row.append(nb::none());
  return row;
}

/// The sharding rule: symbols that may be split, symbols that give partial sums, and the axes of operands and results.
nb::object shardingRow(const OpInfo &info) {
  if (info.sharding.splittable.empty() && info.sharding.partial.empty())
    return nb::none();
  const Signature &signature = *info.signature;
  auto names = [&](llvm::ArrayRef<uint8_t> symbols) {
    nb::list list;
    for (uint8_t symbol : symbols)
      list.append(signature.symbols[symbol]);
    return list;
  };
  auto patterns = [&](llvm::ArrayRef<OperandPattern> operands) {
    nb::list list;
    for (const OperandPattern &operand : operands) {
      nb::object guard = operand.guardAttr < 0 ? nb::none() : nb::object(nb::str(info.attrs[operand.guardAttr].name));
      list.append(
          nb::make_tuple(patternRow(signature, operand.dims), guard, patternRow(signature, operand.guardedDims)));
    }
    return list;
  };
  nb::dict row;
  row["split"] = names(info.sharding.splittable);
  row["partial"] = names(info.sharding.partial);
  int8_t whole = info.sharding.whole;
  row["whole"] = whole < 0 ? nb::none() : nb::object(nb::str(info.attrs[whole].name));
  row["operands"] = patterns(signature.operands);
  row["results"] = patterns(signature.results);
  return row;
}

// By Lowering.
constexpr const char *kLowerings[] = {"elementwise", "reduction", "composite", "view",    "movement",   "window",
                                      "lookup",      "scatter",   "compute",   "library", "sequential", "control"};
static_assert(std::size(kLowerings) == unsigned(Lowering::Control) + 1, "each lowering has a name");

// By ViewKind.
constexpr const char *kViewKinds[] = {"", "reshape", "unit_axes", "broadcast", "permute", "slice"};

/// Whether a result depends on where its element stands in row-major order.
bool countsElements(const ScalarProgram &program) {
  return llvm::any_of(program.nodes, [](const ScalarNode &node) { return node.fn == ScalarFn::Index; });
}

nb::dict opRow(const OpInfo &info) {
  nb::dict row;
  nb::list operands, results, attrs;
  for (const OperandInfo &operand : info.operands)
    operands.append(nb::make_tuple(operand.name, int(operand.arity), int(operand.dtypes)));
  for (const ResultInfo &result : info.results)
    results.append(nb::make_tuple(result.name, result.hidden, int(result.dtypes)));
  for (const AttrInfo &attr : info.attrs)
    attrs.append(parameterRow(attr));
  row["name"] = info.name;
  row["opdef"] = info.opdefName;
  row["summary"] = info.summary;
  row["module"] = info.pythonModule;
  row["python"] = info.pythonName;
  row["onnx"] = info.onnx ? info.onnx : "";
  row["version"] = int(info.version);
  row["lowering"] = kLowerings[unsigned(info.lowering)];
  row["view"] = kViewKinds[unsigned(info.viewKind)];
  row["counts_elements"] = info.scalar && countsElements(*info.scalar);
  row["has_gradient"] = info.gradient != nullptr;
  row["stochastic"] = info.stochastic;
  row["maps_batch"] =
      info.custom && !info.custom->isBackward(info) && (info.custom->functions().flags & TESS_MAPS_BATCH) != 0;
  row["signature"] = info.signature ? info.signature->text : "";
  row["sharding"] = shardingRow(info);
  row["operands"] = operands;
  row["results"] = results;
  row["attrs"] = attrs;
  return row;
}

nb::list opTable() {
  nb::list table;
  for (const OpInfo &info : allOps())
    table.append(opRow(info));
  return table;
}

/// The row of an operator by its name, those that no record declares too; None where there is none.
nb::object rowOf(const std::string &name) {
  const OpInfo *info = findOp(name);
  return info && !control::hasBody(*info) ? nb::object(opRow(*info)) : nb::none();
}

nb::dict dtypeTable() {
  nb::dict table;
  for (const DTypeInfo &info : kDTypes)
    if (!isQuantized(info.dtype))
      table[info.shortName] = info.numpyName;
  return table;
}

nb::dict dtypeStorage() {
  nb::dict table;
  for (const QuantizedKind &kind : kQuantizedKinds)
    table[numpyName(kind.kind).data()] = numpyName(kind.storage).data();
  for (const DTypeInfo &info : kDTypes)
    if (isLowBit(info.dtype))
      table[info.numpyName] = numpyName(storageOf(info.dtype)).data();
  return table;
}

nb::dict quantizedKinds() {
  nb::dict table;
  for (const QuantizedKind &kind : kQuantizedKinds)
    table[numpyName(kind.kind).data()] = nb::make_tuple(kind.min, kind.max, kind.hasZeroPoint);
  return table;
}

} // namespace

void initRecordTable(nb::module_ &module) {
  module.def("op_table", &opTable, "One dict for each operator.");
  module.def("op_row", &rowOf, nb::arg("name"), "The dict of an operator; None where there is none of the name.");
  module.def("dtype_table", &dtypeTable,
             "The name of each dtype that is not quantized, by its short name, in the order of their values.");
  module.def("dtype_storage", &dtypeStorage,
             "The name of the integers that each quantized kind and low-bit dtype stores, by its name.");
  module.def("quantized_kinds", &quantizedKinds,
             "(least and largest integer, whether there is a zero point) of each quantized kind, by its name.");
}

} // namespace tess::python
