//===- samples_test.cpp - what must hold for every record ----------------===//
#include "tests/ops/Samples.h"

#include "ops/Subgraph.h"

using namespace tess;
using namespace tess::test;

TEST_CASE("every sample infers") {
  forEachSample([](const SampleCall &call) {
    INFO(call.name);
    llvm::Expected<Metas> metas = call.op.infer(call.operands, call.segments);
    std::string text = metas ? "" : takeError(metas.takeError()).second;
    CHECK(text == "");
  });
}

TEST_CASE("unknown dimensions infer, and never contradict the known ones") {
  forEachSample([](const SampleCall &call) {
    INFO(call.name);
    Metas known = llvm::cantFail(call.op.infer(call.operands, call.segments));
    for (unsigned i = 0; i < call.operands.size(); ++i) {
      Metas open = call.operands;
      for (int64_t &dim : open[i].shape)
        dim = kUnknown;
      llvm::Expected<Metas> metas = call.op.infer(open, call.segments);
      if (!metas) { // squeeze of all axes needs the sizes
        CHECK(takeError(metas.takeError()).second.find("must be known") != std::string::npos);
        continue;
      }
      REQUIRE(metas->size() == known.size());
      for (unsigned r = 0; r < known.size(); ++r) {
        CHECK((*metas)[r].dtype == known[r].dtype);
        REQUIRE((*metas)[r].rank() == known[r].rank());
        for (unsigned axis = 0; axis < known[r].rank(); ++axis)
          CHECK(((*metas)[r].shape[axis] == kUnknown || (*metas)[r].shape[axis] == known[r].shape[axis]));
      }
    }
  });
}

/// Infers every node again from the inputs; returns the metas of the outputs.
static Metas replay(const Subgraph &graph, llvm::ArrayRef<TensorMeta> inputs) {
  std::vector<TensorMeta> values(graph.numValues);
  REQUIRE(graph.inputs.size() == inputs.size());
  for (auto [id, meta] : llvm::zip(graph.inputs, inputs))
    values[id] = meta;
  for (const Subgraph::Node &node : graph.nodes) {
    Metas operands;
    for (int id : node.inputs)
      operands.push_back(values[id]);
    Metas results = llvm::cantFail(node.op.infer(operands, node.segments));
    for (auto [id, meta] : llvm::zip(node.outputs, results))
      values[id] = meta;
  }
  Metas outputs;
  for (int id : graph.outputs)
    outputs.push_back(id < 0 ? TensorMeta() : values[id]);
  return outputs;
}

TEST_CASE("forward graphs make what inference says") {
  forEachSample([](const SampleCall &call) {
    if (call.op.info().lowering != Lowering::Composite)
      return;
    INFO(call.name);
    llvm::Expected<Subgraph> graph = call.op.makeForwardGraph(call.operands, call.segments);
    std::string text = graph ? "" : takeError(graph.takeError()).second;
    REQUIRE(text == "");
    Metas outputs = replay(*graph, call.operands),
          expected = llvm::cantFail(call.op.infer(call.operands, call.segments));
    CHECK(outputs == expected);
  });
}

TEST_CASE("backward graphs give gradients like the operands") {
  for (DType dtype : {DType::Float32, DType::Float16, DType::Int32})
    forEachSample(
        [](const SampleCall &call) {
          INFO(call.name);
          Metas results = llvm::cantFail(call.op.infer(call.operands, call.segments));
          llvm::SmallVector<bool> needed(call.operands.size(), true), arrives(results.size(), true);
          llvm::Expected<Subgraph> graph = call.op.makeBackwardGraph(call.operands, needed, arrives, call.segments);
          std::string text = graph ? "" : takeError(graph.takeError()).second;
          REQUIRE(text == "");
          Metas inputs = call.operands;
          inputs.append(results);
          inputs.append(results);
          Metas grads = replay(*graph, inputs);
          REQUIRE(grads.size() == call.operands.size());
          bool any = false;
          for (unsigned i = 0; i < grads.size(); ++i) {
            if (graph->outputs[i] < 0)
              continue;
            any = true;
            CHECK(isDifferentiable(call.operands[i].dtype));
            CHECK(grads[i] == call.operands[i]);
          }
          bool hasFloat = llvm::any_of(call.operands, [](const TensorMeta &m) { return isFloat(m.dtype); });
          if (call.op.info().gradient && hasFloat)
            CHECK(any);
          CHECK(graph->inputUsed.size() == graph->inputs.size());
        },
        dtype);
}

TEST_CASE("a backward graph computes only what is needed, from what it needs") {
  OpDef op = OpDef::get("mul");
  TensorMeta x(DType::Float32, {2, 3}), y(DType::Float32, {3});
  Subgraph graph = llvm::cantFail(op.makeBackwardGraph({x, y}, {true, false}, {true}));
  CHECK(graph.outputs[0] >= 0);
  CHECK(graph.outputs[1] == -1);
  CHECK(llvm::ArrayRef<bool>(graph.inputUsed) == llvm::ArrayRef<bool>({false, true, false, true}));
  CHECK(graph.nodes.size() == 1);
  Subgraph none = llvm::cantFail(op.makeBackwardGraph({x, y}, {true, true}, {false}));
  CHECK(none.nodes.empty());
  CHECK(none.outputs[0] == -1);
}

TEST_CASE("broadcast axes are summed in the gradient") {
  OpDef op = OpDef::get("add");
  TensorMeta x(DType::Float32, {2, 3}), y(DType::Float32, {3, 1, 1});
  Subgraph graph = llvm::cantFail(op.makeBackwardGraph({x, y}, {true, true}, {true}));
  REQUIRE(graph.nodes.size() == 3);
  CHECK(graph.nodes[0].op.toString() == "sum(axes=[0], keepdims=true)");
}

TEST_CASE("the gradient of a composite reuses what was saved") {
  OpDef op = OpDef::get("std").set("axes", IntList{1});
  TensorMeta x(DType::Float32, {2, 3});
  Subgraph graph = llvm::cantFail(op.makeBackwardGraph({x}, {true}, {true}));
  for (const Subgraph::Node &node : graph.nodes)
    CHECK(node.op.name() != "sqrt");
  CHECK(graph.inputUsed[1]);
}
