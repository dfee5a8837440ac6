//===- gradient_test.cpp - gradients of a graph ---------------------------===//
#include "compiler/GraphGradients.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

/// sum(tanh(x @ w) * x), and where each row is largest.
Graph network(int64_t rows) {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {rows, 5}));
  auto w = b.input("w", TensorMeta(DType::Float32, {5, 5}));
  auto hidden = apply(b, OpDef::get("tanh"), {apply(b, OpDef::get("matmul"), {x, w})});
  b.output(apply(b, OpDef::get("sum"), {apply(b, OpDef::get("mul"), {hidden, x})}), "loss");
  b.output(apply(b, OpDef::get("argmax").set("axis", 1), {x}), "largest");
  return b.finish();
}

std::string messageOf(llvm::Error error) { return error ? takeError(std::move(error)).second : ""; }

double lossOf(const Values &x, const Values &w) {
  return runGraph(network(3), {{{3, 5}, x}, {{5, 5}, w}}).outputs[0][0];
}

} // namespace

TEST_CASE("gradients of a graph are those of finite differences") {
  Graph graph = network(3);
  REQUIRE(messageOf(compiler::differentiate(graph, "loss")) == "");
  Values x = noise(15, 1), w = noise(25, 2);
  for (float &value : w)
    value /= 4;
  Result result = runGraph(graph, {{{3, 5}, x}, {{5, 5}, w}});
  REQUIRE(result.outputs.size() == 4);
  CHECK(result.outputs[0][0] == Approx(lossOf(x, w)));
  CHECK(result.metas[2] == TensorMeta(DType::Float32, {3, 5}));
  CHECK(result.metas[3] == TensorMeta(DType::Float32, {5, 5}));
  for (Values *operand : {&x, &w})
    for (size_t i = 0; i < operand->size(); ++i) {
      constexpr float kStep = 1e-2f;
      float old = (*operand)[i];
      (*operand)[i] = old + kStep;
      double above = lossOf(x, w);
      (*operand)[i] = old - kStep;
      double below = lossOf(x, w);
      (*operand)[i] = old;
      INFO((operand == &x ? "x " : "w ") << i);
      // float32 loss of size 10 rounds to 1e-6, over 2e-2.
      CHECK(result.outputs[operand == &x ? 2 : 3][i] == Approx((above - below) / (2 * kStep)).margin(2e-3));
    }
}

TEST_CASE("gradients of a graph with a free size are those of the graph with that size") {
  Graph free = network(kUnknown), fixed = network(3);
  for (Graph *graph : {&free, &fixed})
    REQUIRE(messageOf(compiler::differentiate(*graph, "loss")) == "");
  std::vector<std::pair<Shape, Values>> inputs = {{{3, 5}, noise(15, 1)}, {{5, 5}, noise(25, 2)}};
  Result some = runGraph(free, inputs), same = runGraph(fixed, inputs);
  REQUIRE(some.outputs.size() == 4);
  CHECK(some.metas == same.metas);
  for (size_t i = 0; i < 4; ++i)
    CHECK(sameBits(some.outputs[i], same.outputs[i]));
}

TEST_CASE("an output that cannot be differentiated is named") {
  Graph graph = network(3);
  auto message = [&](const char *name) { return messageOf(compiler::differentiate(graph, name)); };
  CHECK(message("lost") == "differentiate: output must be one of [loss, largest], got 'lost'");
  CHECK(message("largest") == "differentiate: output must be a float, got largest i32[3]");
  CHECK(runGraph(graph, {{{3, 5}, noise(15, 1)}, {{5, 5}, noise(25, 2)}}).outputs.size() == 2);
}
