//===- calls_test.cpp - library calls and the kernels beside them ---------===//
//
// Fused or not, packed or not: one result, NaN, infinities and -0 included.
//
//===----------------------------------------------------------------------===//
#include "eager/classes/HostOptions.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

#include <limits>
#include <unistd.h>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

/// Noise with values that an inexact relu or sum would lose.
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

/// y = relu(batch_norm_inference(conv2d(x, w))), then relu(batch_norm_inference(conv2d(y, v)) + y) and once more the
/// convolution by v; with a free batch when `dynamic`.
Graph residual(const ConvCase &c, bool dynamic) {
  GraphBuilder b;
  Shape shape = c.x;
  shape[0] = dynamic ? kUnknown : shape[0];
  int64_t channels = c.weight[0];
  auto x = b.input("x", TensorMeta(DType::Float32, shape)), w = b.input("w", TensorMeta(DType::Float32, c.weight)),
       v = b.input("v", TensorMeta(DType::Float32, {channels, channels, 3, 3}));
  std::vector<GraphBuilder::Value> norm;
  for (const char *name : {"scale", "bias", "mean", "var"})
    norm.push_back(b.input(name, TensorMeta(DType::Float32, {1, channels, 1, 1})));
  auto normed = [&](GraphBuilder::Value value) {
    std::vector<GraphBuilder::Value> operands = {value};
    operands.insert(operands.end(), norm.begin(), norm.end());
    return apply(b, OpDef::get("batch_norm_inference"), operands);
  };
  OpDef first = OpDef::get("conv2d").set("strides", c.strides).set("padding", c.padding).set("groups", c.groups),
        same = OpDef::get("conv2d").set("padding", IntList{1, 1}), relu = OpDef::get("relu");
  auto y = apply(b, relu, {normed(apply(b, first, {x, w}))});
  auto z = apply(b, relu, {apply(b, OpDef::get("add"), {normed(apply(b, same, {y, v})), y})});
  b.output(apply(b, same, {z, v}), "out");
  return b.finish();
}

std::vector<std::pair<Shape, Values>> convInputs(const ConvCase &c) {
  auto count = [](const Shape &shape) { return size_t(TensorMeta(DType::Float32, shape).numElements()); };
  Shape channels = {1, c.weight[0], 1, 1}, square = {c.weight[0], c.weight[0], 3, 3};
  std::vector<std::pair<Shape, Values>> inputs = {
      {c.x, special(count(c.x), 1)}, {c.weight, noise(count(c.weight), 2)}, {square, noise(count(square), 6)}};
  for (uint32_t seed : {3, 4, 5})
    inputs.push_back({channels, noise(count(channels), seed)});
  inputs.push_back({channels, Values(count(channels), 0.25f)});
  inputs[3].second[0] = -0.0f;
  inputs[4].second[0] = 0;
  return inputs;
}

const ConvCase convCases[] = {
    {{2, 3, 9, 9}, {16, 3, 3, 3}, {1, 1}, {1, 1}, 1},     {{3, 16, 14, 14}, {32, 16, 3, 3}, {1, 1}, {1, 1}, 1},
    {{1, 17, 10, 11}, {19, 17, 3, 3}, {2, 2}, {1, 1}, 1}, {{1, 64, 12, 12}, {64, 64, 1, 1}, {1, 1}, {0, 0}, 1},
    {{2, 16, 8, 8}, {16, 1, 3, 3}, {1, 1}, {1, 1}, 16},   {{1, 4, 7, 7}, {6, 2, 3, 3}, {2, 1}, {1, 0}, 2},
    {{2, 1, 24, 24}, {32, 1, 5, 5}, {1, 1}, {0, 0}, 1},
};

compiler::CompileOptions separate() {
  compiler::CompileOptions options;
  options.fuse = false;
  return options;
}

} // namespace

TEST_CASE("kernels between convolutions give the bits of separate operators, packed or not") {
  runtime::BindOptions plain, packed;
  plain.threads = packed.threads = GENERATE(1u, 2u);
  plain.packing = false;
  bool dynamic = GENERATE(false, true);
  for (const ConvCase &c : convCases) {
    Graph graph = residual(c, dynamic);
    auto inputs = convInputs(c);
    Result apart = runGraph(graph, inputs, separate(), plain);
    CHECK(apart.packedValues == 0);
    CHECK(sameBits(apart.outputs[0], runGraph(graph, inputs, separate(), packed).outputs[0]));
    CHECK(sameBits(apart.outputs[0], runGraph(graph, inputs, {}, plain).outputs[0]));
    Result together = runGraph(graph, inputs, eager::hostOptions(), packed);
    CHECK(sameBits(apart.outputs[0], together.outputs[0]));
    CHECK(together.launches == 6); // factors, three calls, a kernel between two
    bool inBlocks = c.weight[0] % 16 == 0;
    CHECK(together.packedValues == (inBlocks ? 4 : 0)); // what the first two calls make, and the kernels after them
  }
}

TEST_CASE("a long kernel between convolutions is bound in a time linear in its operators") {
  GraphBuilder b;
  OpDef conv = OpDef::get("conv2d").set("padding", IntList{1, 1});
  auto x = b.input("x", TensorMeta(DType::Float32, {1, 16, 8, 8}));
  auto w = b.input("w", TensorMeta(DType::Float32, {16, 16, 3, 3}));
  auto y = apply(b, conv, {x, w});
  for (int i = 0; i < 64; ++i)
    y = apply(b, OpDef::get("mul"), {y, y});
  b.output(apply(b, conv, {y, w}), "out");
  Graph graph = b.finish();
  alarm(20); // seconds, for what takes less than 1
  Result result =
      runGraph(graph, {{{1, 16, 8, 8}, noise(1024, 1)}, {{16, 16, 3, 3}, noise(2304, 2)}}, eager::hostOptions());
  alarm(0);
  CHECK(result.packedValues == 2);
}

TEST_CASE("a kernel after a matrix product gives the bits of separate operators") {
  runtime::BindOptions bind;
  bind.threads = GENERATE(1u, 2u);
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
    Result apart = runGraph(graph, inputs, separate(), bind), fused = runGraph(graph, inputs, {}, bind);
    CHECK(sameBits(apart.outputs[0], fused.outputs[0]));
    CHECK(sameBits(apart.outputs[0], runGraph(graph, inputs, eager::hostOptions(), bind).outputs[0]));
    CHECK(fused.launches == 2);
    CHECK(apart.launches == 3);
  }
}

TEST_CASE("a program follows the setting of each binding, whatever it was compiled with") {
  const bool dynamic = GENERATE(false, true);
  const ConvCase c{{2, 32, 16, 14}, {32, 32, 3, 3}, {1, 1}, {1, 1}, 1};
  Graph graph = residual(c, dynamic);
  auto inputs = convInputs(c);
  const runtime::KernelSettings before = runtime::kernelSettings();
  runtime::KernelSettings settings = before;
  std::optional<Result> first[2];
  for (bool compiledWith : {true, false}) {
    settings.winograd = compiledWith;
    runtime::setKernelSettings(settings);
    compiler::CompileOptions options = eager::hostOptions();
    for (bool boundWith : {true, false}) {
      runtime::BindOptions bind;
      bind.kernels = settings;
      bind.kernels->winograd = boundWith;
      Result result = runGraph(graph, inputs, options, bind);
      std::optional<Result> &same = first[boundWith];
      same = same ? same : result;
      CHECK(sameBits(result.outputs[0], same->outputs[0]));
    }
  }
  CHECK(!sameBits(first[0]->outputs[0], first[1]->outputs[0]));
  runtime::setKernelSettings(before);
}

TEST_CASE("implementations are recorded where all sizes are known, and hold for their number of threads") {
  compiler::CompileOptions options = eager::hostOptions();
  auto recorded = [&](bool dynamic) {
    runtime::Executable exe = llvm::cantFail(compiler::compile(residual(convCases[1], dynamic), options));
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
