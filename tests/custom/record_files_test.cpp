// Files of records: what they add, and how wrong ones are refused.
#include "ops/custom/RecordFiles.h"

#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace tess;

namespace {

const char *const kOperand = R"({"name": "x", "dtypes": 15})";
const char *const kDouble = R"("scalar": {"nodes": [{"function": "operand", "arguments": [0]},
    {"function": "add", "arguments": [0, 0]}], "results": [1]})";

/// A file with the operator `name` and what the row has besides.
std::string file(const std::string &name, const std::string &rest, const std::string &library = "files") {
  return R"({"format": "tessera records", "version": 1, "library": ")" + library +
         R"(", "library_version": "1", "rows": [{"name": ")" + name +
         R"(", "summary": "s", "documentation": "d", "operands": [)" + kOperand +
         R"(], "results": [{"name": "out", "dtypes": 15}],
         "attributes": [], "dtypes": {"rule": "Same"}, )" +
         rest + "}]}";
}

std::string elementwise(const std::string &rest = kDouble) {
  const char *pattern = R"([{"dims": [{"kind": "star", "number": 0}]}])";
  return R"json("lowering": "elementwise", "signature": {"text": "(*D) -> (*D)", "symbols": ["D"], "operands": )json" +
         std::string(pattern) + R"(, "results": )" + pattern + "}, " + rest;
}

std::string composite(const std::string &nodes, const std::string &results) {
  return R"("lowering": "composite", "forward": {"nodes": [)" + nodes + R"(], "results": [)" + results + "]}";
}

/// The error of a file.
std::string refused(const std::string &text) {
  auto added = custom::addRecords(text, "test.json");
  return added ? "" : toString(added.takeError());
}

} // namespace

TEST_CASE("a file of records adds rows", "[records]") {
  std::string text = file("double", elementwise());
  auto added = custom::addRecords(text, "test.json");
  REQUIRE(bool(added));
  const OpInfo *row = findOp("files.double");
  REQUIRE(row == &added->front()->info());
  CHECK(row->lowering == Lowering::Elementwise);
  CHECK(row->signature->elementwise);
  CHECK(custom::RecordRow::of(*row)->origin().version == "1");
  SECTION("equal files give the same rows, others may not have their names") {
    auto again = custom::addRecords(text, "test.json");
    REQUIRE(bool(again));
    CHECK(again->front() == added->front());
    CHECK(refused(text + " ").find("names of operators must differ") != std::string::npos);
  }
  SECTION("inference is that of our own rows") {
    llvm::Expected<Metas> metas = OpDef(*row).infer({TensorMeta(DType::Float16, {2, 3})});
    REQUIRE(bool(metas));
    CHECK(toString(metas->front()) == "f16[2, 3]");
  }
}

TEST_CASE("a composite of a file is applied to operators", "[records]") {
  std::string nodes = R"({"constant": "2", "like": "$x"}, {"op": "mul", "inputs": ["$x", 0]},
      {"op": "sum", "inputs": [1], "attributes": {"axes": "[0]"}})";
  REQUIRE(refused(file("twice", composite(nodes, "2"))).empty());
  llvm::Expected<Subgraph> graph = OpDef::get("files.twice").makeForwardGraph({TensorMeta(DType::Float32, {2, 3})});
  REQUIRE(bool(graph));
  CHECK(graph->nodes.size() == 3);
  CHECK(graph->nodes.back().op.toString().find("sum(axes=[0]") == 0);
}

TEST_CASE("wrong files of records are refused", "[records]") {
  auto [text, message] = GENERATE(table<std::string, std::string>({
      {"{", "load_records: a file must be JSON that tess-tblgen wrote"},
      {"{}", "must have the format \"tessera records\""},
      {R"({"format": "tessera records", "version": 2})", "version of the format must be 1, got 2"},
      {R"({"format": "tessera records", "version": 1, "library": 3})", "members that tess-tblgen writes"},
      {file("a b", elementwise()), "names of library and operator must be identifiers, got 'files.a b'"},
      {file("wrong", "\"lowering\": \"magic\""), "an elementwise operator must have a signature"},
      {file("wrong", elementwise(R"("scalar": {"nodes": [{"function": "nothing", "arguments": []}], "results": [0]})")),
       "scalar functions must be known, got 'nothing' in files.wrong"},
      {file("wrong",
            elementwise(R"("scalar": {"nodes": [{"function": "operand", "arguments": [1]}], "results": [0]})")),
       "an argument of operand must be in [0, 1), got 1"},
      {file("wrong", elementwise(R"("scalar": {"nodes": [{"function": "exp", "arguments": [0]}], "results": [0]})")),
       "an argument of exp must be in [0, 0), got 0"},
      {file("wrong", elementwise(R"("scalar": {"nodes": [], "results": [0]})")),
       "a result of the scalar body must be in [0, 0), got 0"},
      {file("wrong", composite(R"({"op": "nothing", "inputs": ["$x"]})", "0")),
       "operators of graphs must be known, got 'nothing'"},
      {file("wrong", composite(R"({"op": "exp", "inputs": ["$y"]})", "0")), "values must be operands"},
      {file("wrong", composite(R"({"op": "exp", "inputs": [0]})", "0")), "values must be of nodes before, got 0"},
      {file("wrong", composite(R"({"op": "exp", "inputs": ["$x", "$x"]})", "0")),
       "calls must have operands of the operator"},
      {file("wrong", composite(R"({"op": "exp", "inputs": ["$x"], "attributes": {"base": "2"}})", "0")),
       "attributes must be those of exp, got 'base'"},
      {file("wrong", composite(R"({"op": "sum", "inputs": ["$x"], "attributes": {"axes": "one"}})", "0")),
       "axes must have a value of its kind"},
      {file("wrong", composite(R"({"op": "sum", "inputs": ["$x"], "attributes": {"axes": "$axes"}})", "0")),
       "axes of sum must be an attribute of its kind"},
      {file("wrong", composite("", "null")), "values must be of nodes before"},
      {file("wrong", composite(R"({"op": "files.wrong", "inputs": ["$x"]})", "0")),
       "a composite must not be made of itself, got files.wrong"},
  }));
  CHECK_THAT(refused(text), Catch::Matchers::Contains(message));
  CHECK(!findOp("files.wrong"));
}

TEST_CASE("a file of records must be there", "[records]") {
  auto loaded = custom::loadRecords("/nowhere/rows.json");
  REQUIRE(!loaded);
  CHECK(toString(loaded.takeError()).find("load_records: a file must open, got ") == 0);
}
