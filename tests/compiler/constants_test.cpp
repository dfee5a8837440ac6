//===- constants_test.cpp - what is computed when a program is compiled ---===//
#include "eager/classes/HostOptions.h"
#include "runtime/schema/FlatExecutable.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

GraphBuilder::Value constant(GraphBuilder &b, Shape shape, const Values &values, llvm::StringRef name = "") {
  llvm::StringRef bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
  return b.constant(TensorMeta(DType::Float32, shape), bytes, name);
}

/// x * gelu(softmax(c)) + sum(c), c of `count` elements.
Graph withConstants(int64_t count) {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, count}));
  auto c = constant(b, {count}, noise(size_t(count), 3), "layer.weight");
  auto factor = apply(b, OpDef::get("gelu"), {apply(b, OpDef::get("softmax").set("axis", -1), {c})});
  auto shift = apply(b, OpDef::get("sum"), {c});
  b.output(apply(b, OpDef::get("add"), {apply(b, OpDef::get("mul"), {x, factor}), shift}), "out");
  return b.finish();
}

uint64_t constantBytes(const runtime::Executable &exe) {
  uint64_t bytes = 0;
  for (const runtime::ConstantDecl &constant : exe.constants)
    bytes += constant.content().size();
  return bytes;
}

} // namespace

TEST_CASE("folded constants have the bits that every run would compute") {
  unsigned threads = GENERATE(1u, 2u);
  for (int64_t count : {1, 17, 1000}) {
    Graph graph = withConstants(count);
    std::vector<std::pair<Shape, Values>> inputs = {{{5, count}, noise(size_t(5 * count), 1)}};
    Result plain = runGraph(graph, inputs, {}, {threads});
    Result folded = runGraph(graph, inputs, eager::hostOptions(), {threads});
    CHECK(sameBits(plain.outputs[0], folded.outputs[0]));
    CHECK(folded.launches == 1);
    CHECK(plain.launches > 1);
  }
}

TEST_CASE("a folded program holds what it reads, and not what that was made of") {
  runtime::Executable exe = llvm::cantFail(compiler::compile(withConstants(64), eager::hostOptions()));
  CHECK(constantBytes(exe) == 64 * sizeof(float)); // the factor; the shift is a number of the kernel
  for (const runtime::ValueDecl &value : exe.values)
    CHECK(value.name != "layer.weight");
}

TEST_CASE("a program reads a large constant where its graph has it") {
  const auto bytes = runtime::holdCopy(std::string(5000 * sizeof(float), '\1'));
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {5000}));
  auto c = b.constant(TensorMeta(DType::Float32, {5000}), bytes);
  b.output(apply(b, OpDef::get("mul"), {x, c}), "out");
  runtime::Executable exe = llvm::cantFail(compiler::compile(b.finish(), eager::hostOptions()));
  REQUIRE(exe.constants.size() == 1);
  CHECK(exe.constants[0].bytes.empty());
  CHECK(exe.constants[0].content().data() == bytes->data());
  CHECK(llvm::cantFail(runtime::readFlat(runtime::writeFlat(exe), "flat")).constants[0].content() ==
        llvm::StringRef(*bytes));
}

TEST_CASE("a constant is not folded into one that is a mebibyte larger") {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {1024, 1024}));
  auto c = constant(b, {1024, 1}, noise(1024, 1)), d = constant(b, {1, 1024}, noise(1024, 2));
  auto outer = apply(b, OpDef::get("exp"), {apply(b, OpDef::get("mul"), {c, d})});
  b.output(apply(b, OpDef::get("add"), {x, outer}), "out");
  runtime::Executable exe = llvm::cantFail(compiler::compile(b.finish(), eager::hostOptions()));
  CHECK(constantBytes(exe) == 2 * 1024 * sizeof(float));
}

TEST_CASE("what fails when it is folded is left to the run, which says why") {
  GraphBuilder b;
  auto c = constant(b, {4}, {1, 2, 3, 4});
  int64_t outside[] = {7};
  auto index = b.constant(TensorMeta(DType::Int64, {1}),
                          llvm::StringRef(reinterpret_cast<const char *>(outside), sizeof(outside)), "");
  b.output(apply(b, OpDef::get("gather").set("axis", 0), {c, index}), "out");
  auto program =
      llvm::cantFail(runtime::Program::create(llvm::cantFail(compiler::compile(b.finish(), eager::hostOptions()))));
  auto bound = llvm::cantFail(program->bind({}));
  float out = 0;
  void *outputs[] = {&out};
  llvm::Error error = runtime::run(*bound, {}, outputs);
  REQUIRE(bool(error));
  CHECK(takeError(std::move(error)).second.find("got 7") != std::string::npos);
}
