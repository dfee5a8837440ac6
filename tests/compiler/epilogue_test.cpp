//===- epilogue_test.cpp - library calls that finish their result ---------===//
//
// With and without the pass, and whatever the library computes itself: one
// result, NaN, infinities and -0 included, and fewer steps.
//
//===----------------------------------------------------------------------===//
#include "eager/HostOptions.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

/// Noise with values that show what an epilogue loses.
Values special(size_t count, uint32_t seed) {
  Values values = noise(count, seed);
  const float edges[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, std::numeric_limits<float>::denorm_min()};
  for (size_t i = 0; i < std::size(edges) && i * 7 < count; ++i)
    values[i * 7] = edges[i];
  return values;
}

struct ConvCase {
  Shape x, weight;
  IntList strides, padding;
  int64_t groups;
};

/// relu(batch_norm_inference(conv2d(x, w))) with a free batch when `dynamic`.
Graph convNormRelu(const ConvCase &c, bool dynamic) {
  GraphBuilder b;
  Shape shape = c.x;
  shape[0] = dynamic ? kUnknown : shape[0];
  auto x = b.input("x", TensorMeta(DType::Float32, shape));
  auto weight = b.input("w", TensorMeta(DType::Float32, c.weight));
  OpDef conv = OpDef::get("conv2d").set("strides", c.strides).set("padding", c.padding).set("groups", c.groups);
  std::vector<GraphBuilder::Value> operands = {apply(b, conv, {x, weight})};
  for (const char *name : {"scale", "bias", "mean", "var"})
    operands.push_back(b.input(name, TensorMeta(DType::Float32, {1, c.weight[0], 1, 1})));
  b.output(apply(b, OpDef::get("relu"), {apply(b, OpDef::get("batch_norm_inference"), operands)}), "out");
  return b.finish();
}

std::vector<std::pair<Shape, Values>> convInputs(const ConvCase &c) {
  auto count = [](const Shape &shape) { return size_t(TensorMeta(DType::Float32, shape).numElements()); };
  Shape channels = {1, c.weight[0], 1, 1};
  std::vector<std::pair<Shape, Values>> inputs = {{c.x, special(count(c.x), 1)}, {c.weight, noise(count(c.weight), 2)}};
  for (uint32_t seed : {3, 4, 5})
    inputs.push_back({channels, noise(count(channels), seed)});
  inputs.push_back({channels, Values(count(channels), 0.25f)});
  inputs[2].second[0] = -0.0f;
  inputs[3].second[0] = 0;
  return inputs;
}

const ConvCase convCases[] = {
    {{2, 3, 9, 9}, {16, 3, 3, 3}, {1, 1}, {1, 1}, 1},     {{3, 16, 14, 14}, {32, 16, 3, 3}, {1, 1}, {1, 1}, 1},
    {{1, 17, 10, 11}, {19, 17, 3, 3}, {2, 2}, {1, 1}, 1}, {{4, 64, 12, 12}, {64, 64, 1, 1}, {1, 1}, {0, 0}, 1},
    {{2, 16, 8, 8}, {16, 1, 3, 3}, {1, 1}, {1, 1}, 16},   {{1, 4, 7, 7}, {6, 2, 3, 3}, {2, 1}, {1, 0}, 2},
};

compiler::CompileOptions separate() {
  compiler::CompileOptions options;
  options.fuse = false;
  return options;
}

} // namespace

TEST_CASE("a convolution with its epilogue gives the bits of separate operators") {
  unsigned threads = GENERATE(1u, 2u);
  bool dynamic = GENERATE(false, true);
  for (const ConvCase &c : convCases) {
    Graph graph = convNormRelu(c, dynamic);
    auto inputs = convInputs(c);
    Result apart = runGraph(graph, inputs, separate(), threads);
    Result undecided = runGraph(graph, inputs, {}, threads);
    Result chosen = runGraph(graph, inputs, eager::hostOptions(), threads);
    CHECK(sameBits(apart.outputs[0], undecided.outputs[0]));
    CHECK(sameBits(apart.outputs[0], chosen.outputs[0]));
    CHECK(undecided.launches == 2); // the factors, then the call
    CHECK(chosen.launches < apart.launches);
  }
}

TEST_CASE("a matrix product with its epilogue gives the bits of separate operators") {
  unsigned threads = GENERATE(1u, 2u);
  for (auto [rows, inner, columns] : {std::tuple<int64_t, int64_t, int64_t>{1, 7, 5}, {64, 512, 64}, {33, 48, 17}}) {
    GraphBuilder b;
    auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, inner}));
    auto weight = b.input("w", TensorMeta(DType::Float32, {columns, inner}));
    auto bias = b.input("b", TensorMeta(DType::Float32, {columns}));
    b.output(apply(b, OpDef::get("relu"), {apply(b, OpDef::get("linear"), {x, weight, bias})}), "out");
    Graph graph = b.finish();
    std::vector<std::pair<Shape, Values>> inputs = {{{rows, inner}, special(size_t(rows * inner), 1)},
                                                    {{columns, inner}, noise(size_t(columns * inner), 2)},
                                                    {{columns}, special(size_t(columns), 3)}};
    Result apart = runGraph(graph, inputs, separate(), threads);
    Result folded = runGraph(graph, inputs, {}, threads);
    CHECK(sameBits(apart.outputs[0], folded.outputs[0]));
    CHECK(sameBits(apart.outputs[0], runGraph(graph, inputs, eager::hostOptions(), threads).outputs[0]));
    CHECK(folded.launches == 1);
    CHECK(apart.launches == 3);
  }
}

TEST_CASE("this process folds what is faster so") {
  auto launches = [](int64_t size) {
    ConvCase c = {{2, 16, size, size}, {16, 16, 3, 3}, {1, 1}, {1, 1}, 1};
    Graph graph = convNormRelu(c, false);
    Result chosen = runGraph(graph, convInputs(c), eager::hostOptions());
    CHECK(sameBits(runGraph(graph, convInputs(c), separate()).outputs[0], chosen.outputs[0]));
    return chosen.launches;
  };
  CHECK(launches(8) == 3);  // factors, convolution, one kernel
  CHECK(launches(24) == 2); // factors, convolution
}

TEST_CASE("implementations are recorded where all sizes are known, and hold for their number of threads") {
  compiler::CompileOptions options = eager::hostOptions();
  auto recorded = [&](bool dynamic) {
    runtime::Executable exe = llvm::cantFail(compiler::compile(convNormRelu(convCases[1], dynamic), options));
    CHECK(exe.numThreads == options.kernels->threads());
    auto call = llvm::find_if(exe.steps, [](const auto &step) { return step.kind == runtime::StepKind::Library; });
    REQUIRE(call != exe.steps.end());
    return call->implementation;
  };
  CHECK(!recorded(false).empty());
  CHECK(recorded(true).empty());
  options.target = "x86-64-v3"; // another machine's library may pick another one
  CHECK(recorded(false).empty());
}
