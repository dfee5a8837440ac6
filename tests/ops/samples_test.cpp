//===- samples_test.cpp - what must hold for every record ----------------===//
#include "tests/ops/Samples.h"

#include "ops/graphs/Subgraph.h"
#include "ops/vocabulary/SizeExpr.h"

#include <set>

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

TEST_CASE("a result that may lie where an operand does is like the operand") {
  unsigned count = 0;
  forEachSample([&](const SampleCall &call) {
    if (call.op.info().lowering == Lowering::Elementwise) // may broadcast it
      return;
    INFO(call.name);
    Metas results = llvm::cantFail(call.op.infer(call.operands, call.segments));
    for (auto [operand, result] : call.op.info().inplace) {
      CHECK(toString(results[result]) == toString(call.operands[operand]));
      ++count;
    }
  });
  CHECK(count > 6);
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
    llvm::Expected<Metas> results = node.op.infer(operands, node.segments);
    std::string text = results ? "" : takeError(results.takeError()).second;
    REQUIRE(text == "");
    for (auto [id, meta] : llvm::zip(node.outputs, *results))
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

/// The operands with a symbol in the place of each size above 1 that the operator leaves free; its number is the size.
static Metas withSymbols(const SampleCall &call) {
  Metas metas = call.operands;
  for (TensorMeta &meta : metas)
    for (int64_t &size : meta.shape)
      size = size > 1 ? sizes::symbol(uint32_t(size)) : size;
  sizes::AgreedSizes told;
  llvm::consumeError(call.op.infer(metas, call.segments).takeError());
  for (auto [size, other] : told.pairs())
    for (TensorMeta &meta : metas)
      llvm::replace(meta.shape, size, sizes::isSymbolic(other) ? size : other);
  return metas;
}

static std::string textOf(llvm::ArrayRef<TensorMeta> metas) {
  std::string text;
  for (const TensorMeta &meta : metas)
    text += toString(meta) + " ";
  return text;
}

/// The names of a graph's operators but for views, of which equal shapes need none.
static std::set<std::string> computing(const Subgraph &graph) {
  std::set<std::string> names;
  for (const Subgraph::Node &node : graph.nodes)
    if (node.op.info().lowering != Lowering::View)
      names.insert(node.op.name().str());
  return names;
}

/// Checks a graph by expressions of sizes against the one by numbers, whose outputs have these metas.
static void checkSizes(llvm::Expected<Subgraph> symbolic, const Subgraph &graph, llvm::ArrayRef<TensorMeta> inputs) {
  if (!symbolic) // a rule wants to know a size
    return llvm::consumeError(symbolic.takeError());
  for (Subgraph::Node &node : symbolic->nodes)
    node.op = node.op.withSymbols([](uint32_t symbol) { return int64_t(symbol); });
  CHECK(textOf(replay(*symbolic, inputs)) == textOf(replay(graph, inputs)));
  std::set<std::string> names = computing(*symbolic);
  for (const std::string &name : computing(graph))
    CHECK((names.count(name) ? "" : name) == "");
}

TEST_CASE("results by expressions of sizes are those by numbers") {
  forEachSample([](const SampleCall &call) {
    INFO(call.name);
    llvm::Expected<Metas> inferred = call.op.infer(withSymbols(call), call.segments);
    if (!inferred) // it wants to know a size
      return llvm::consumeError(inferred.takeError());
    Metas results = *inferred;
    for (TensorMeta &meta : results)
      for (int64_t &size : meta.shape)
        size = sizes::substitute(size, [](uint32_t symbol) { return int64_t(symbol); });
    if (llvm::none_of(results, [](const TensorMeta &meta) { return llvm::is_contained(meta.shape, kUnknown); }))
      CHECK(textOf(results) == textOf(llvm::cantFail(call.op.infer(call.operands, call.segments))));
  });
}

TEST_CASE("graphs by expressions of sizes are those by numbers") {
  forEachSample([](const SampleCall &call) {
    INFO(call.name);
    Metas symbolic = withSymbols(call), inputs = call.operands;
    if (call.op.info().lowering == Lowering::Composite)
      checkSizes(call.op.makeForwardGraph(symbolic, call.segments),
                 llvm::cantFail(call.op.makeForwardGraph(call.operands, call.segments)), inputs);
    Metas results = llvm::cantFail(call.op.infer(call.operands, call.segments));
    llvm::SmallVector<bool> needed(call.operands.size(), true), arrives(results.size(), true);
    inputs.append(results);
    inputs.append(results);
    checkSizes(call.op.makeBackwardGraph(symbolic, needed, arrives, call.segments),
               llvm::cantFail(call.op.makeBackwardGraph(call.operands, needed, arrives, call.segments)), inputs);
  });
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

/// The operators of a graph that have the name, as "attributes of operands' numbers".
static std::vector<std::string> callsOf(const Subgraph &graph, llvm::StringRef name) {
  std::vector<std::string> calls;
  for (const Subgraph::Node &node : graph.nodes) {
    if (node.op.name() != name)
      continue;
    std::string text = node.op.toString() + " of";
    for (int input : node.inputs)
      text += " " + std::to_string(input);
    calls.push_back(text);
  }
  return calls;
}

TEST_CASE("products in composites read narrow operands as they are") {
  auto bf16 = [](Shape shape) { return TensorMeta(DType::BFloat16, shape); };
  const Metas operands = {bf16({7, 2, 3}), bf16({4, 3}), bf16({4})};
  OpDef linear = OpDef::get("linear");
  Subgraph forward = llvm::cantFail(linear.makeForwardGraph(operands));
  CHECK(callsOf(forward, "matmul") ==
        std::vector<std::string>{"matmul(transpose_x=false, transpose_y=true, dtype=f32) of 0 2"}); // 1 is 0 cast
  CHECK(callsOf(forward, "cast").size() == 2); // of the bias, and of the result

  OpDef attention = OpDef::get("scaled_dot_product_attention_backward");
  Subgraph graphs[] = {llvm::cantFail(linear.makeBackwardGraph(operands, {true, true, true}, {true})),
                       llvm::cantFail(attention.makeForwardGraph(
                           {bf16({2, 3}), bf16({4, 3}), bf16({4, 5}), bf16({2, 4}), bf16({2, 5})}))};
  auto narrowProducts = [](const Subgraph &graph) {
    return llvm::count_if(callsOf(graph, "matmul"),
                          [](llvm::StringRef product) { return product.contains("dtype=f32"); });
  };
  CHECK(narrowProducts(graphs[0]) == 2);
  CHECK(narrowProducts(graphs[1]) == 3);         // but not of scores by scaled queries
  CHECK(callsOf(graphs[1], "cast").size() == 6); // of query and weights, which are more than factors, and of results

  OpDef einsum = OpDef::get("einsum").set("equation", std::string("ij,kj,k->i"));
  Subgraph views = llvm::cantFail(einsum.makeForwardGraph({bf16({2, 3}), bf16({4, 3}), bf16({4})}));
  CHECK(callsOf(views, "cast").size() <= 2); // of the second factor and of the result
}

TEST_CASE("the gradient of a composite reuses what was saved") {
  OpDef op = OpDef::get("std").set("axes", IntList{1});
  TensorMeta x(DType::Float32, {2, 3});
  Subgraph graph = llvm::cantFail(op.makeBackwardGraph({x}, {true}, {true}));
  for (const Subgraph::Node &node : graph.nodes)
    CHECK(node.op.name() != "sqrt");
  CHECK(graph.inputUsed[1]);
}

TEST_CASE("gradients of lookups in one value are added at one place") {
  OpDef remap = OpDef::get("remap");
  TensorMeta x(DType::Float32, {1, 2, 5, 6}), places(DType::Float32, {1, 3, 4, 2});
  Subgraph graph = llvm::cantFail(remap.makeBackwardGraph({x, places}, {true, false}, {true}));
  auto count = [&](llvm::StringRef text) {
    return llvm::count_if(
        graph.nodes, [&](const Subgraph::Node &node) { return llvm::StringRef(node.op.toString()).contains(text); });
  };
  CHECK(count("add_along_axes(") == 4); // of the four pixels around each place
  CHECK(count("shape=[1, 2, 5, 6]") == 1);
}
