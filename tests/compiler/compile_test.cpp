//===- compile_test.cpp - programs, whole ---------------------------------===//
//
// Graph to numbers through the one entry. What fusion, target and thread count
// must not change is compared bit by bit.
//
//===----------------------------------------------------------------------===//
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

/// softmax(gelu(x * a + b)) over the last axis.
Graph geluSoftmax() {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, kUnknown}));
  auto scale = b.input("a", TensorMeta(DType::Float32, {kUnknown}));
  auto shift = b.input("b", TensorMeta(DType::Float32, {kUnknown}));
  auto affine = apply(b, OpDef::get("add"), {apply(b, OpDef::get("mul"), {x, scale}), shift});
  auto gelu = apply(b, OpDef::get("gelu"), {affine});
  auto overRow = [](llvm::StringRef name) { return OpDef::get(name).set("axes", IntList{1}).set("keepdims", true); };
  auto power = apply(b, OpDef::get("exp"), {apply(b, OpDef::get("sub"), {gelu, apply(b, overRow("max"), {gelu})})});
  b.output(apply(b, OpDef::get("div"), {power, apply(b, overRow("sum"), {power})}), "out");
  return b.finish();
}

/// Batch normalisation over all axes but the second, then the sum of everything.
Graph normAndSum() {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, 3, kUnknown, kUnknown}));
  OpDef overBatch = OpDef::get("mean").set("axes", IntList{0, 2, 3}).set("keepdims", true);
  auto mean = apply(b, overBatch, {x});
  auto centred = apply(b, OpDef::get("sub"), {x, mean});
  auto variance = apply(b, overBatch, {apply(b, OpDef::get("square"), {centred})});
  auto normal = apply(b, OpDef::get("mul"), {centred, apply(b, OpDef::get("rsqrt"), {variance})});
  b.output(normal, "normal");
  b.output(apply(b, OpDef::get("sum"), {apply(b, OpDef::get("square"), {normal})}), "sum");
  return b.finish();
}

Graph relu(const TensorMeta &meta) {
  GraphBuilder b;
  b.output(apply(b, OpDef::get("relu"), {b.input("x", meta)}), "out");
  return b.finish();
}

} // namespace

TEST_CASE("an initial value that is no bytes of its type is refused") {
  for (std::string initial : {"3 : i64", "dense_resource<none> : tensor<2xf32>", "dense<1.0> : tensor<3xf32>"}) {
    Graph graph = llvm::cantFail(Graph::parseText(
        "func.func @main(%s: tensor<2xf32> {tess.name = \"s\", tess.arg_dims = array<i64: -1>, tess.initial = " +
        initial +
        "}) -> tensor<2xf32> attributes {tess.dims = [], tess.outputs = [{donates = 0, name = \"u\"}]} {\n"
        "  return %s : tensor<2xf32>\n}"));
    auto compiled = compiler::compile(graph);
    CHECK_THAT(takeError(compiled.takeError()).second,
               Catch::Matchers::StartsWith("compile: constant must hold its bytes in a resource of 'tensor<2xf32>', "
                                           "got " +
                                           initial.substr(0, 5)));
  }
}

TEST_CASE("fusion, target and threads change no bit of gelu and softmax") {
  Graph graph = geluSoftmax();
  for (int64_t columns : {1, 15, 16, 17, 1000}) {
    const int64_t rows = 67;
    std::vector<std::pair<Shape, Values>> inputs = {{{rows, columns}, noise(size_t(rows * columns), 1)},
                                                    {{columns}, noise(size_t(columns), 2)},
                                                    {{columns}, noise(size_t(columns), 3)}};
    Result fused = runGraph(graph, inputs);
    CHECK(fused.launches == 1);
    compiler::CompileOptions separate;
    separate.fuse = false;
    Result apart = runGraph(graph, inputs, separate);
    CHECK(apart.launches > 5);
    CHECK(sameBits(fused.outputs[0], apart.outputs[0]));
    compiler::CompileOptions floor;
    floor.target = "x86-64-v3";
    CHECK(sameBits(fused.outputs[0], runGraph(graph, inputs, floor).outputs[0]));
    CHECK(sameBits(fused.outputs[0], runGraph(graph, inputs, {}, {2}).outputs[0]));
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t column = 0; column < columns; ++column)
        sum += double(fused.outputs[0][size_t(row * columns + column)]);
      CHECK(sum == Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("reductions over several axes give the bits of separate kernels") {
  Graph graph = normAndSum();
  for (auto [height, width] : {std::pair<int64_t, int64_t>{8, 8}, {7, 5}, {1, 1}}) {
    const int64_t batch = 9, count = batch * 3 * height * width;
    std::vector<std::pair<Shape, Values>> inputs = {{{batch, 3, height, width}, noise(size_t(count), 4)}};
    Result fused = runGraph(graph, inputs);
    compiler::CompileOptions separate;
    separate.fuse = false;
    Result apart = runGraph(graph, inputs, separate);
    CHECK(sameBits(fused.outputs[0], apart.outputs[0]));
    CHECK(sameBits(fused.outputs[1], apart.outputs[1]));
    if (height > 1)
      CHECK(double(fused.outputs[1][0]) == Approx(double(count)).epsilon(1e-4));
  }
}

TEST_CASE("one program serves every size of a named dimension") {
  GraphBuilder b;
  int batch = b.dim({"batch", 1, 512});
  auto x = b.input("image", TensorMeta(DType::Float32, {kUnknown, 4}), {batch, -1});
  b.output(apply(b, OpDef::get("relu"), {x}), "out");
  Graph graph = b.finish();
  auto program = llvm::cantFail(runtime::Program::create(llvm::cantFail(compiler::compile(graph))));
  for (int64_t size : {1, 7, 360}) {
    auto bound = llvm::cantFail(program->bind(TensorMeta(DType::Float32, {size, 4})));
    CHECK(toString(bound->outputs()[0]) == "f32[" + std::to_string(size) + ", 4]");
  }
  auto tooMany = program->bind(TensorMeta(DType::Float32, {600, 4}));
  REQUIRE(!tooMany);
  std::string message = takeError(tooMany.takeError()).second;
  CHECK(message.find("batch in 1..512") != std::string::npos);
  CHECK(message.find("f32[600, 4]") != std::string::npos);
}

TEST_CASE("views, copies and inputs can be outputs") {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {2, 3}));
  auto turned = apply(b, OpDef::get("transpose").set("pattern", IntList{1, 0}), {x});
  b.output(x, "same");
  b.output(turned, "turned");
  b.output(turned, "again");
  Result result = runGraph(b.finish(), {{{2, 3}, {1, 2, 3, 4, 5, 6}}});
  CHECK(result.outputs[0] == Values{1, 2, 3, 4, 5, 6});
  CHECK(result.outputs[1] == Values{1, 4, 2, 5, 3, 6});
  CHECK(result.outputs[2] == result.outputs[1]);
}

TEST_CASE("equal kernels compile once") {
  Graph graph = geluSoftmax();
  llvm::cantFail(compiler::compile(graph));
  uint64_t before = compiler::compileStats().kernelsCompiled;
  llvm::cantFail(compiler::compile(graph));
  CHECK(compiler::compileStats().kernelsCompiled == before);
}

TEST_CASE("a test compiles with MLIR's verifier, which finds what a pass leaves wrong") {
  Graph graph = relu(TensorMeta(DType::Float32, {2, 3}));
  graph.impl().main().walk([](mlir::Operation *op) {
    if (op->getName().getStringRef() == "tess.relu")
      op->getResult(0).setType(mlir::RankedTensorType::get({2, 4}, mlir::Float32Type::get(op->getContext())));
  });
  compiler::CompileOptions options;
  CHECK(options.verify);
  auto found = compiler::compile(graph, options);
  REQUIRE(!found);
  CHECK(takeError(found.takeError()).second.find("relu") != std::string::npos);
  options.verify = false;
  auto unseen = compiler::compile(graph, options);
  CHECK(bool(unseen));
}

TEST_CASE("an unknown target is an error with its name") {
  compiler::CompileOptions options;
  options.target = "pdp-11";
  auto executable = compiler::compile(geluSoftmax(), options);
  REQUIRE(!executable);
  CHECK(takeError(executable.takeError()).second.find("pdp-11") != std::string::npos);
}
