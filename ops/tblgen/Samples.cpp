// The facts of the records that tests need, as JSON: a list with one object for each record.
#include "ops/tblgen/Generators.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

const char *arityName(char arity) { return arity == '*' ? "variadic" : arity == '?' ? "optional" : "one"; }

json::Array strings(const std::vector<std::string> &list) {
  json::Array array;
  for (const std::string &s : list)
    array.push_back(s);
  return array;
}

json::Array values(const std::vector<ValueModel> &list) {
  json::Array array;
  for (const ValueModel &v : list)
    array.push_back(json::Object{{"name", v.name},
                                 {"arity", arityName(v.arity)},
                                 {"dtypes", strings(dtypeNames(v.constraint))},
                                 {"hidden", v.hidden}});
  return array;
}

json::Array attrs(const OpModel &op) {
  static constexpr const char *kinds[] = {"none", "i64", "f64", "bool", "str", "i64_list", "dtype"};
  json::Array array;
  for (const AttrModel &attr : op.attrs)
    array.push_back(json::Object{{"name", attr.name},
                                 {"kind", kinds[unsigned(attr.kind)]},
                                 {"default", attr.hasDefault ? json::Value(attr.defaultValue.toText()) : nullptr},
                                 {"optional", attr.isOptional},
                                 {"runtime", attr.isRuntime},
                                 {"bind_time", attr.isBindTime},
                                 {"static", attr.staticReason},
                                 {"axis", attr.axisOf < 0 ? nullptr : json::Value(attr.axisExtra)},
                                 {"cases", strings(attr.cases)},
                                 {"min", attr.low},
                                 {"max", attr.high}});
  return array;
}

json::Array samples(const OpModel &op) {
  json::Array array;
  for (const Record *def : op.record->getValueAsListOfDefs("samples")) {
    auto text = [&](StringRef field) { return def->getValueAsString(field).str(); };
    json::Array shapes, dtypes;
    for (StringRef s : def->getValueAsListOfStrings("shapes"))
      shapes.push_back(s.str());
    for (StringRef s : def->getValueAsListOfStrings("dtypes"))
      dtypes.push_back(s.str());
    array.push_back(json::Object{{"shapes", std::move(shapes)},
                                 {"attrs", text("attrText")},
                                 {"low", text("low")},
                                 {"high", text("high")},
                                 {"dtypes", std::move(dtypes)}});
  }
  return array;
}

/// The stem of the file that has the record, as in "Linear".
std::string family(const OpModel &op) {
  SMLoc loc = op.record->getLoc().front();
  const MemoryBuffer *file = SrcMgr.getMemoryBuffer(SrcMgr.FindBufferContainingLoc(loc));
  return sys::path::stem(file->getBufferIdentifier()).str();
}

/// "field: name" of the functions of C++ that the record names, kernels of the runtime among them.
json::Array functions(const OpModel &op) {
  json::Array array;
  auto add = [&](const Record &record, StringRef field) {
    if (std::string name = record.getValue(field) ? record.getValueAsString(field).str() : ""; !name.empty())
      array.push_back((field + ": " + name).str());
  };
  for (StringRef field : {"shapeRule", "check", "boundRule", "gradientRule", "channels"})
    add(*op.record, field);
  const Record &lowering = *op.record->getValueAsDef("lowering");
  for (StringRef field : {"rule", "kernel"})
    add(lowering, field);
  return array;
}

json::Array labels(const OpModel &op) {
  json::Array array;
  for (const auto &[label, text] : op.constraints)
    array.push_back(json::Object{{"label", label}, {"text", text}});
  return array;
}

} // namespace

void emitSamples(const Model &model, raw_ostream &os) {
  json::Array all;
  for (const OpModel &op : model.ops())
    all.push_back(json::Object{{"name", op.name},
                               {"family", family(op)},
                               {"opdef", op.opdefName},
                               {"operands", values(op.operands)},
                               {"results", values(op.results)},
                               {"attrs", attrs(op)},
                               {"samples", samples(op)},
                               {"oracle", op.oracle},
                               {"labels", labels(op)},
                               {"functions", functions(op)},
                               {"elementwise", op.record->getValueAsDef("lowering")->getName() == "Elementwise_"},
                               {"signature", op.signature ? json::Value(op.signature->text) : nullptr},
                               {"python", json::Object{{"module", op.pyModule}, {"name", op.pyName}}},
                               {"has_gradient", op.hasGradient()},
                               {"stochastic", op.bit("stochastic")}});
  os << formatv("{0:2}", json::Value(std::move(all))) << "\n";
}

} // namespace tess::tblgen
