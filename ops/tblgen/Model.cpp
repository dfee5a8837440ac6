//===- Model.cpp - reading records ---------------------------------------===//
#include "ops/tblgen/Model.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/table/PythonOperators.h"
#include "ops/table/UpgradeStep.h"
#include "ops/vocabulary/DType.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

#include <limits>
#include <set>

using namespace llvm;

namespace tess::tblgen {

void OpModel::fatal(const Twine &message) const { PrintFatalError(record->getLoc(), Twine(name) + ": " + message); }

std::vector<std::string> OpModel::strings(StringRef field) const {
  std::vector<std::string> list;
  for (StringRef s : record->getValueAsListOfStrings(field))
    list.push_back(s.str());
  return list;
}

std::vector<const DagInit *> OpModel::dags(StringRef field) const {
  std::vector<const DagInit *> list;
  for (const Init *init : *record->getValueAsListInit(field))
    list.push_back(cast<DagInit>(init));
  return list;
}

const Record *OpModel::def(StringRef field) const {
  return record->isValueUnset(field) ? nullptr : record->getValueAsDef(field);
}

bool OpModel::isLowering(StringRef cls) const {
  const Record *lowering = def("lowering");
  return lowering && (lowering->getName() == cls || lowering->isSubClassOf(cls));
}

bool OpModel::needsElements() const {
  return isLowering("Reduction") && def("lowering")->getValueAsBit("needsElements");
}

/// Whether a gradient follows from how the operator is computed: indices have none.
static bool followsFromLowering(const OpModel &op) {
  bool givesIndex = op.isLowering("Reduction") && op.def("lowering")->getValueAsString("kind").starts_with("Arg");
  bool isScan = op.compute && op.compute->isScan();
  return isScan || (op.isLowering("Reduction") && !givesIndex) || (op.isComposite() && !op.bit("noGradient"));
}

bool OpModel::hasGradient() const {
  return !dags("gradient").empty() || !text("gradientRule").empty() || followsFromLowering(*this);
}

bool OpModel::keepsAxes() const {
  if (bit("keepsAxes") || isLowering("Elementwise_"))
    return true;
  auto isSame = [](auto pair) { return std::get<0>(pair).digits == std::get<1>(pair).digits; };
  return compute && compute->result.places.size() == compute->reads[0].places.size() &&
         all_of(zip(compute->result.places, compute->reads[0].places), isSame);
}

template <typename T> static int indexOf(const std::vector<T> &list, StringRef name) {
  for (unsigned i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return i;
  return -1;
}

int OpModel::operandIndex(StringRef n) const { return indexOf(operands, n); }
int OpModel::resultIndex(StringRef n) const { return indexOf(results, n); }
int OpModel::attrIndex(StringRef n) const { return indexOf(attrs, n); }

std::string OpModel::pyParameter(StringRef n) const {
  auto renamed = pyRenamed.find(n.str());
  return renamed == pyRenamed.end() ? n.str() : renamed->second;
}

std::vector<std::string> OpModel::pyParameters() const {
  std::vector<std::string> list;
  for (const ValueModel &operand : operands)
    list.push_back(pyParameter(operand.name));
  for (const AttrModel &attr : attrs)
    list.push_back(pyParameter(attr.name));
  return list;
}

static ValueModel readValue(const mlir::tblgen::NamedTypeConstraint &value) {
  ValueModel model;
  model.name = value.name.str();
  const Record *def = &value.constraint.getDef();
  model.arity = value.isVariadic() ? '*' : value.isOptional() ? '?' : '1';
  if (model.arity != '1')
    def = def->getValueAsDef("baseType");
  model.constraint = def->getName().str();
  return model;
}

/// The innermost attribute under Runtime, DefaultValuedAttr and OptionalAttr.
static const Record *innermost(const Record *def) {
  while (def->getValue("baseAttr") && !def->isValueUnset("baseAttr"))
    def = def->getValueAsDef("baseAttr");
  return def;
}

static AttrKind kindOf(const OpModel &op, StringRef def) {
  static const std::map<std::string, AttrKind> kinds = {{"SI64Attr", AttrKind::I64},
                                                        {"F64Attr", AttrKind::F64},
                                                        {"BoolAttr", AttrKind::Bool},
                                                        {"StrAttr", AttrKind::Str},
                                                        {"DenseI64ArrayAttr", AttrKind::I64List},
                                                        {"Tess_DTypeAttr", AttrKind::DType}};
  auto it = kinds.find(def.str());
  if (it == kinds.end())
    op.fatal("attribute must be of a kind of ops/vocabulary/AttrValue.h, got " + def);
  return it->second;
}

/// Translates a default from MLIR's C++ text to the text form of AttrValue.
static AttrValue readDefault(const OpModel &op, const AttrModel &attr, StringRef text) {
  std::string own = text.str();
  if (attr.kind == AttrKind::I64List)
    own = "[" + text.trim("{}").str() + "]";
  if (attr.kind == AttrKind::F64 && text.contains("INFINITY"))
    own = text.starts_with("-") ? "-inf" : "inf";
  if (attr.kind == AttrKind::DType)
    own = text.trim('"').str();
  Expected<AttrValue> value = AttrValue::parse(attr.kind, own);
  if (!value)
    op.fatal(attr.name + ": " + takeError(value.takeError()).second);
  return *value;
}

static AttrModel readAttr(const OpModel &op, const mlir::tblgen::NamedAttribute &named) {
  AttrModel model;
  model.name = named.name.str();
  model.kind = kindOf(op, innermost(&named.attr.getDef())->getName());
  model.isRuntime = named.attr.getDef().isSubClassOf("Runtime");
  model.isOptional = named.attr.isOptional() && !named.attr.hasDefaultValue();
  if (named.attr.hasDefaultValue()) {
    model.hasDefault = true;
    model.defaultValue = readDefault(op, model, named.attr.getDefaultValue());
  }
  if (model.isRuntime && model.kind != AttrKind::F64 && model.kind != AttrKind::I64)
    op.fatal("a runtime attribute must be a number, got " + model.name);
  return model;
}

static void readFacts(OpModel &op) {
  for (const Record *fact : op.record->getValueAsListOfDefs("attrFacts")) {
    int index = op.attrIndex(fact->getValueAsString("attr"));
    if (index < 0)
      op.fatal("attrFacts must name an attribute, got " + fact->getValueAsString("attr"));
    AttrModel &attr = op.attrs[index];
    if (fact->isSubClassOf("Cases"))
      for (StringRef c : fact->getValueAsListOfStrings("cases"))
        attr.cases.push_back(c.str());
    if (fact->isSubClassOf("Range")) {
      attr.low = fact->getValueAsString("low").str();
      attr.high = fact->getValueAsString("high").str();
    }
    if (fact->isSubClassOf("Doc"))
      attr.doc = fact->getValueAsString("doc").str();
    if (fact->isSubClassOf("Length"))
      attr.length = fact->getValueAsInt("length");
    if (fact->isSubClassOf("Fits"))
      attr.fit = fact->getValueAsString("end").str();
    if (fact->isSubClassOf("BindTime")) {
      attr.isBindTime = true;
      bool isScan = op.record->getValueAsString("compute").contains("scan(");
      if (op.isLowering("View") || op.isLowering("Reduction") || isScan)
        op.fatal("BindTime must be of an operator that is no view, reduction or scan, got " + attr.name);
    }
    if (fact->isSubClassOf("SizeAttr")) {
      attr.isSize = true;
      if (!attr.isBindTime && !attr.isRuntime && !op.isLowering("View"))
        op.fatal("SizeAttr must be of an attribute that bind reads, got " + attr.name);
    }
    if (fact->isSubClassOf("Static"))
      attr.staticReason = fact->getValueAsString("reason").str();
    if (fact->isSubClassOf("Axis")) {
      attr.axisOf = op.operandIndex(fact->getValueAsString("operand"));
      attr.axisExtra = fact->getValueAsInt("extra");
      attr.isSet = fact->isSubClassOf("AxisSet");
      if (attr.axisOf < 0)
        op.fatal("Axis must name an operand, got " + fact->getValueAsString("operand"));
    }
  }
}

/// Checks that each number says of what it is a part, but for views, which compile to nothing.
static void checkNumbers(const OpModel &op) {
  for (const AttrModel &attr : op.attrs) {
    bool isNumber = attr.kind == AttrKind::I64 || attr.kind == AttrKind::F64 || attr.kind == AttrKind::I64List;
    int kinds = attr.isRuntime + attr.isBindTime + !attr.staticReason.empty();
    if (isNumber && !op.isLowering("View") && kinds != 1)
      op.fatal("numeric attribute must be one of Runtime, BindTime and Static, got " + attr.name);
  }
}

static void checkUpgrades(const OpModel &op) {
  for (const std::string &line : op.strings("upgrades")) {
    Expected<UpgradeStep> step = parseUpgradeStep(line);
    if (!step)
      op.fatal(takeError(step.takeError()).second);
    if (step->version < 1 || step->version >= op.record->getValueAsInt("version"))
      op.fatal("upgrades must be of versions before the record's, got '" + line + "'");
  }
}

/// Checks the attributes in `onnx`, as in "Elu(alpha=alpha)".
static void checkOnnx(const OpModel &op) {
  std::string field = op.text("onnx");
  StringRef text = StringRef(field).split('(').second;
  if (text.empty() && !StringRef(field).contains('('))
    return;
  if (!text.consume_back(")"))
    op.fatal("onnx must be a name, perhaps with attributes in parentheses, got '" + field + "'");
  SmallVector<StringRef> items;
  if (text != "...")
    text.split(items, ',');
  for (StringRef item : items)
    if (op.attrIndex(item.split('=').second.trim()) < 0)
      op.fatal("onnx must name attributes behind '=', got '" + item + "'");
}

std::vector<ParsedAttr> parseAttrText(const OpModel &op, StringRef text) {
  std::vector<ParsedAttr> parsed;
  SmallVector<StringRef> items;
  text.split(items, ';', -1, false);
  for (StringRef item : items) {
    auto [key, value] = item.split('=');
    int index = op.attrIndex(key.trim());
    if (index < 0)
      op.fatal("attribute text must name an attribute of it, got '" + item + "'");
    ParsedAttr entry{&op.attrs[index], "", AttrValue()};
    value = value.trim();
    bool isTerm = entry.attr->kind != AttrKind::Str
                      ? value.find_first_of("$@#(") != StringRef::npos || value.contains(" for ")
                      : value.starts_with("$");
    if (isTerm) {
      entry.reference = value.str();
    } else {
      Expected<AttrValue> v = AttrValue::parse(entry.attr->kind, value);
      if (!v)
        op.fatal("'" + item + "': " + takeError(v.takeError()).second);
      entry.value = *v;
    }
    parsed.push_back(std::move(entry));
  }
  return parsed;
}

static std::vector<std::string> perOperand(StringRef text, size_t count) {
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  std::vector<std::string> list;
  for (size_t i = 0; i < count; ++i)
    list.push_back(parts[std::min(i, parts.size() - 1)].trim().str());
  return list;
}

static SampleModel readSample(const OpModel &op, const Record *def) {
  SampleModel sample;
  for (StringRef shape : def->getValueAsListOfStrings("shapes")) {
    SmallVector<StringRef> dims;
    shape.split(dims, ',', -1, false);
    auto &list = sample.shapes.emplace_back();
    for (StringRef dim : dims)
      if (dim.trim().getAsInteger(10, list.emplace_back()))
        op.fatal("sample shape must be numbers, got '" + shape + "'");
  }
  for (ParsedAttr &attr : parseAttrText(op, def->getValueAsString("attrText"))) {
    if (!attr.reference.empty())
      op.fatal("a sample must give values, got '" + attr.reference + "'");
    sample.attrs.emplace_back(attr.attr->name, attr.value);
  }
  sample.low = perOperand(def->getValueAsString("low"), sample.shapes.size());
  sample.high = perOperand(def->getValueAsString("high"), sample.shapes.size());
  for (StringRef d : def->getValueAsListOfStrings("dtypes")) {
    if (!parseDType(d))
      op.fatal("sample dtype must be known, got '" + d + "'");
    sample.dtypes.push_back(d.str());
  }
  return sample;
}

static std::string camelCase(StringRef name) { return convertToCamelFromSnakeCase(name, true); }

static void readPython(OpModel &op) {
  const Record *py = op.def("python");
  if (!py)
    return;
  op.pyModule = py->getValueAsString("module").str();
  op.pyName = py->getValueAsString("name").str();
  StringRef symbol = py->getValueAsString("operator");
  op.pyOperator = pythonOperator(symbol, op.operands.size());
  if (!symbol.empty() && op.pyOperator < 0)
    op.fatal("operator must be one of ops/table/PythonOperators.h, got " + symbol);
  for (StringRef m : py->getValueAsListOfStrings("methods"))
    op.pyMethods.push_back(m.str());
  for (StringRef pair : py->getValueAsListOfStrings("renamed")) {
    auto [own, name] = pair.split('=');
    if (op.operandIndex(own) < 0 && op.attrIndex(own) < 0)
      op.fatal("renamed must be operand=name or attribute=name, got " + pair);
    op.pyRenamed[own.str()] = name.str();
  }
}

/// The label of a constraint, as in "slice.steps_must_not_be_0": its words as an identifier.
static std::string labelOf(const OpModel &op, std::string text) {
  static constexpr std::pair<StringLiteral, StringLiteral> spelled[] = {{">=", "at least"}, {"-", "minus "}, {"'", ""}};
  for (auto [sign, words] : spelled) {
    SmallVector<StringRef> parts;
    StringRef(text).split(parts, sign);
    text = join(parts, words);
  }
  std::string label = op.name + ".";
  for (char c : text)
    if (isAlnum(c) || !StringRef(label).ends_with("_"))
      label += isAlnum(c) ? c : '_';
  return StringRef(label).rtrim('_').str();
}

/// Reads `requires` and returns what they demand, each once: without what stands in braces, or their label.
static std::vector<std::string> readRequires(OpModel &op) {
  std::vector<std::string> texts;
  for (const Record *def : op.record->getValueAsListOfDefs("requires")) {
    auto text = [&](StringRef field) { return def->getValueAsString(field).str(); };
    op.conditions.push_back({text("must"), text("condition"), text("got"), text("subject")});
    std::string shown = text("label").empty() ? text("must") : text("label");
    if (size_t brace = StringRef(shown).find(" ({"); brace != StringRef::npos)
      shown.erase(brace, StringRef(shown).find(')', brace) + 1 - brace);
    if (!is_contained(texts, shown))
      texts.push_back(shown);
  }
  for (const char *other : {"check", "shapeRule"}) // which would go unasked, or leave the conditions so
    if (!texts.empty() && !op.text(other).empty())
      op.fatal(Twine("requires must not come with ") + other + ", got " + op.text(other));
  return texts;
}

static void readConstraints(OpModel &op) {
  std::vector<std::string> texts = computeConstraints(op);
  append_range(texts, signatureConstraints(op));
  if (op.needsElements())
    texts.push_back("reduced dimensions must not be empty" +
                    std::string(op.attrIndex("allow_empty") < 0 ? "" : ", unless allow_empty"));
  append_range(texts, readRequires(op));
  append_range(texts, op.strings("constraints"));
  std::set<std::string> used;
  for (const std::string &text : texts) {
    if (!StringRef(text).contains(" must "))
      op.fatal("a constraint must say what must hold, got '" + text + "'");
    op.constraints.emplace_back(labelOf(op, text), text);
    if (!used.insert(op.constraints.back().first).second)
      op.fatal("a constraint must have words of its own, got '" + text + "'");
  }
}

/// Reads the shapes of the results, or where they come from.
static void readShapes(OpModel &op) {
  bool hasShapes = !op.text("shapes").empty(), hasCompute = !op.text("compute").empty();
  size_t sizes = op.strings("sizes").size();
  int given = hasShapes + hasCompute + !op.text("shapeRule").empty() + (sizes > 0) + !op.text("order").empty();
  if (given > 1 || (given == 0 && !op.isLowering("Composite")))
    op.fatal("exactly one of shapes, shapeRule, sizes, order and compute must be given, or none for a Composite");
  if (sizes > 0 && sizes != op.results.size())
    op.fatal("sizes must have a shape for each result, got " + Twine(sizes));
  if (!op.text("order").empty() && !op.isLowering("View"))
    op.fatal("order must come with the lowering View, got '" + op.text("order") + "'");
  bool needsCompute = op.isLowering("Compute_") || op.isLowering("Window_");
  bool mayHaveCompute = needsCompute || op.isLowering("Library") || op.isLowering("Composite");
  if (hasCompute ? !mayHaveCompute : needsCompute)
    op.fatal("compute must come with the lowering Compute_, Window, Library or Composite, and the former two with it");
  if (!op.text("check").empty() && !hasShapes)
    op.fatal("check must come with shapes");
  if (hasShapes)
    op.signature = parseSignature(op);
  if (!hasCompute)
    return;
  op.compute = parseCompute(op);
  (op.compute->isScan() ? op.signature : op.shown) =
      op.compute->isScan() ? signatureOf(*op.compute) : shownShapes(op, *op.compute);
}

static OpModel readOp(const Record *record) {
  OpModel op;
  op.record = record;
  op.op = std::make_unique<mlir::tblgen::Operator>(record);
  op.name = record->getValueAsString("opName").str();
  op.opdefName = op.text("opdef").empty() ? camelCase(op.name) : op.text("opdef");
  op.cppClass = op.op->getCppClassName().str();
  op.summary = op.text("summary");
  op.description = op.text("description");
  for (int i = 0; i < op.op->getNumOperands(); ++i)
    op.operands.push_back(readValue(op.op->getOperand(i)));
  for (int i = 0; i < op.op->getNumResults(); ++i)
    op.results.push_back(readValue(op.op->getResult(i)));
  for (const std::string &name : op.strings("hidden")) {
    int index = op.resultIndex(name);
    if (index < 0)
      op.fatal("hidden must name a result, got " + name);
    op.results[index].hidden = true;
  }
  for (const auto &attr : op.op->getAttributes())
    op.attrs.push_back(readAttr(op, attr));
  readFacts(op);
  checkNumbers(op);
  checkUpgrades(op);
  checkOnnx(op);
  readPython(op);
  if (const Record *oracle = op.def("oracle"))
    op.oracle = oracle->getValueAsString("expr").str();
  readShapes(op);
  readConstraints(op);
  checkTexts(op);
  for (const Record *sample : record->getValueAsListOfDefs("samples"))
    op.samples.push_back(readSample(op, sample));
  if (!op.def("lowering") || !op.def("dtypes"))
    op.fatal("lowering and dtypes must be given");
  if (const Record *lowering = op.def("lowering"); lowering->isSubClassOf("Movement")) {
    StringRef steps = lowering->getValueAsString("steps");
    if (!steps.empty() && op.attrIndex(steps) < 0)
      op.fatal("steps of a Movement must name an attribute, got " + steps);
  }
  if (op.isLowering("Window_")) { // a mean would need the number of elements inside
    StringRef kind = op.compute->reduction;
    if (!op.compute->hasWindows() || (kind != "max" && kind != "min"))
      op.fatal("compute of a Window must be the max or min of windows, got '" + kind + "'");
  } else if (op.isLowering("Compute_") && op.compute->hasWindows()) {
    op.fatal("compute of windows must come with another lowering than Compute_");
  }
  if (StringRef(op.description).trim().empty())
    op.fatal("description must say what is computed, got none");
  if (op.samples.empty())
    op.fatal("samples must have a first one, which documentation shows, got none");
  return op;
}

Model::Model(const RecordKeeper &records) {
  for (const Record *record : records.getAllDerivedDefinitions("Tess_Op"))
    all.push_back(readOp(record));
  llvm::sort(all, [](const OpModel &a, const OpModel &b) { return a.name < b.name; });
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].name == all[i - 1].name)
      all[i].fatal("name must be given to one record only");
}

const OpModel *Model::find(StringRef name) const {
  for (const OpModel &op : all)
    if (op.name == name)
      return &op;
  return nullptr;
}

std::string scalarFnName(const Record *record) { return StringRef(record->getName()).drop_front(2).str(); }

} // namespace tess::tblgen
