//===- RecordData.cpp - records as a file has them ------------------------===//
#include "ops/custom/RecordData.h"

#include "ops/vocabulary/Error.h"
#include "llvm/Support/JSON.h"

namespace tess::custom::data {

using llvm::json::ObjectMapper;
using llvm::json::Path;

static bool fromJSON(const llvm::json::Value &json, Value &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("name", to.name) && map.map("dtypes", to.dtypes) && map.mapOptional("hidden", to.hidden);
}

static bool fromJSON(const llvm::json::Value &json, Attribute &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("name", to.name) && map.map("kind", to.kind) && map.mapOptional("doc", to.doc) &&
         map.mapOptional("default", to.defaultText) && map.mapOptional("least", to.least) &&
         map.mapOptional("most", to.most) && map.mapOptional("fit", to.fit) && map.mapOptional("runtime", to.runtime) &&
         map.mapOptional("optional", to.optional) && map.mapOptional("bind_time", to.bindTime) &&
         map.mapOptional("size", to.size) && map.mapOptional("set", to.set) && map.mapOptional("cases", to.cases) &&
         map.mapOptional("axis_of", to.axisOf) && map.mapOptional("axis_extra", to.axisExtra) &&
         map.mapOptional("length", to.length);
}

static bool fromJSON(const llvm::json::Value &json, Dimension &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("kind", to.kind) && map.map("number", to.number) && map.mapOptional("axes", to.axes);
}

static bool fromJSON(const llvm::json::Value &json, Pattern &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("dims", to.dims) && map.mapOptional("guarded", to.guarded) &&
         map.mapOptional("guard", to.guard);
}

static bool fromJSON(const llvm::json::Value &json, Signature &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("text", to.text) && map.map("symbols", to.symbols) && map.map("operands", to.operands) &&
         map.map("results", to.results);
}

static bool fromJSON(const llvm::json::Value &json, ScalarNode &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("function", to.function) && map.map("arguments", to.arguments) &&
         map.mapOptional("constant", to.constant);
}

static bool fromJSON(const llvm::json::Value &json, ScalarProgram &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("nodes", to.nodes) && map.map("results", to.results);
}

static bool fromJSON(const llvm::json::Value &json, Reference &to, Path path) {
  if (json.getAsNull())
    return true;
  if (std::optional<int64_t> node = json.getAsInteger()) {
    to.node = *node;
    return true;
  }
  return llvm::json::fromJSON(json, to.name, path);
}

static bool fromJSON(const llvm::json::Value &json, Condition &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.mapOptional("attribute", to.attribute) && map.mapOptional("equals", to.equals) &&
         map.mapOptional("is_complex", to.isComplex);
}

static bool fromJSON(const llvm::json::Value &json, Node &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.mapOptional("op", to.op) && map.mapOptional("result", to.result) &&
         map.mapOptional("constant", to.constant) && map.mapOptional("like", to.like) &&
         map.mapOptional("inputs", to.inputs) && map.mapOptional("attributes", to.attributes) &&
         map.mapOptional("when", to.when);
}

static bool fromJSON(const llvm::json::Value &json, Graph &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("nodes", to.nodes) && map.map("results", to.results);
}

static bool fromJSON(const llvm::json::Value &json, DTypes &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("rule", to.rule) && map.mapOptional("operand", to.operand) &&
         map.mapOptional("mask", to.mask) && map.mapOptional("fixed", to.fixed) &&
         map.mapOptional("attribute", to.attribute);
}

static bool fromJSON(const llvm::json::Value &json, Constraint &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("label", to.label) && map.map("text", to.text);
}

static bool fromJSON(const llvm::json::Value &json, Pair &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("operand", to.operand) && map.map("result", to.result);
}

static bool fromJSON(const llvm::json::Value &json, Sharding &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("splittable", to.splittable) && map.map("partial", to.partial);
}

static bool fromJSON(const llvm::json::Value &json, Row &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("name", to.name) && map.map("summary", to.summary) &&
         map.map("documentation", to.documentation) && map.map("lowering", to.lowering) &&
         map.mapOptional("autocast", to.autocast) && map.map("operands", to.operands) &&
         map.map("results", to.results) && map.map("attributes", to.attributes) &&
         map.mapOptional("signature", to.signature) && map.map("dtypes", to.dtypes) &&
         map.mapOptional("scalar", to.scalar) && map.mapOptional("forward", to.forward) &&
         map.mapOptional("gradient", to.gradient) && map.mapOptional("differentiates", to.differentiates) &&
         map.mapOptional("counts_axes", to.countsAxes) && map.mapOptional("keeps_axes", to.keepsAxes) &&
         map.mapOptional("rounds", to.rounds) && map.mapOptional("inplace", to.inplace) &&
         map.mapOptional("constraints", to.constraints) && map.mapOptional("sharding", to.sharding);
}

static bool fromJSON(const llvm::json::Value &json, File &to, Path path) {
  ObjectMapper map(json, path);
  return map && map.map("library", to.library) && map.map("library_version", to.libraryVersion) &&
         map.map("rows", to.rows);
}

llvm::Expected<File> parse(llvm::StringRef text) {
  auto refused = [](ErrorCode code, llvm::StringRef must, const llvm::Twine &got) {
    return makeError(code, "load_records: " + must + ", got " + got);
  };
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return refused(ErrorCode::InvalidArgument, "a file must be JSON that tess-tblgen wrote",
                   llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object || object->getString("format") != llvm::StringRef("tessera records"))
    return refused(ErrorCode::InvalidArgument, "a file must have the format \"tessera records\"", "another one");
  if (std::optional<int64_t> version = object->getInteger("version"); version != kVersion)
    return refused(ErrorCode::Unimplemented, ("version of the format must be " + llvm::Twine(kVersion)).str(),
                   version ? llvm::Twine(*version).str() : "none");
  File file;
  Path::Root root("file");
  if (!fromJSON(*json, file, root))
    return refused(ErrorCode::InvalidArgument, "a file must have the members that tess-tblgen writes",
                   llvm::toString(root.getError()));
  return file;
}

} // namespace tess::custom::data
