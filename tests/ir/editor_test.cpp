//===- editor_test.cpp - graphs as data -----------------------------------===//
#include "ir/GraphEditor.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::ir;

namespace {

const TensorMeta kRow(DType::Float32, {2, 3});

std::string messageOf(llvm::Error error) { return takeError(std::move(error)).second; }

OpDef op(llvm::StringRef name) { return OpDef::get(name); }

/// relu(x * w), x with a free batch, and a counter that grows by 1 in every run.
Graph sample() {
  GraphBuilder builder;
  int batch = builder.dim({"batch", 1, 512});
  auto x = builder.input("x", TensorMeta(DType::Float32, {kUnknown, 3}), {batch, -1});
  auto unused = builder.input("unused", kRow);
  (void)unused;
  const TensorMeta one(DType::Float32, {1});
  auto count = builder.input("count", one, {}, std::string(4, '\2'));
  auto w = builder.constant(TensorMeta(DType::Float32, {3}), std::string(12, '\1'), "net.scale");
  auto product = llvm::cantFail(builder.apply(op("mul"), {x, w}, {}, "train.py:12 (net)"));
  auto out = llvm::cantFail(builder.apply(op("relu"), {product[0]}));
  builder.setName(out[0], "logits");
  auto step = builder.constant(one, std::string(4, '\3'), "step");
  auto next = llvm::cantFail(builder.apply(op("add"), {count, step}));
  builder.output(out[0], "y");
  builder.output(next[0], "update0", 2);
  return builder.finish();
}

GraphEditor opened(const Graph &graph) { return llvm::cantFail(GraphEditor::open(graph)); }

constexpr KeptNames kAllNames = {.values = true, .constants = true};

std::string textOf(const GraphEditor &editor) { return llvm::cantFail(editor.graph(kAllNames)).toText(); }

/// The section of its file.
std::string bytesOf(const Graph &graph) {
  std::vector<Graph::TensorRef> tensors;
  return llvm::cantFail(graph.serialize(tensors));
}

std::string bytesOf(const GraphEditor &editor) { return bytesOf(llvm::cantFail(editor.graph(kAllNames))); }

NodeRef only(const GraphEditor &editor, llvm::StringRef name) {
  NodeRef found;
  for (const NodeRef &node : editor.nodes())
    if (node->isOperator() ? node->op.name() == name : node->names.front() == name) {
      REQUIRE(!found);
      found = node;
    }
  REQUIRE(found);
  return found;
}

Var applied(llvm::StringRef name, llvm::ArrayRef<Var> operands) {
  return llvm::cantFail(Node::apply(op(name), operands))->var();
}

} // namespace

TEST_CASE("nodes are the graph that they were read from") {
  Graph graph = sample();
  GraphEditor editor = opened(graph);
  std::string text = textOf(editor), before = graph.toText();
  CHECK(bytesOf(opened(llvm::cantFail(editor.graph(kAllNames)))) == bytesOf(editor));
  for (llvm::StringRef part :
       {"\"batch\"", "net.scale", "train.py:12 (net)", "tess.initial", "\"unused\"", "\"update0\""})
    CHECK(text.find(part.str()) != std::string::npos);
  CHECK(llvm::count(text, '\n') == llvm::count(before, '\n'));
  CHECK(editor.inputs().size() == 2);
  CHECK(sizeText(only(editor, "relu")->metas[0].shape[0]) == "batch");
  CHECK(editor.outputs()[0].var.name() == "y");
}

TEST_CASE("the edited graph has the numerics of the first one") {
  Graph graph = sample();
  CHECK(llvm::cantFail(opened(graph).graph()).numerics() == Numerics::Strict);
  graph.setNumerics(Numerics::Fast);
  CHECK(llvm::cantFail(opened(graph).graph()).numerics() == Numerics::Fast);
}

TEST_CASE("names are kept as asked for") {
  GraphEditor editor = opened(sample());
  std::string none = llvm::cantFail(editor.graph()).toText();
  CHECK(none.find("net.scale") == std::string::npos);
  CHECK(none.find("\"y\"") != std::string::npos);
  CHECK(none.find("\"x\"") != std::string::npos);
}

TEST_CASE("a value in the middle becomes an output, and outputs go") {
  GraphEditor editor = opened(sample());
  Var product = only(editor, "mul")->var();
  product.name() = "product";
  editor.addOutput(product);
  editor.addOutput(product);
  REQUIRE(editor.outputs().size() == 2);
  CHECK(textOf(editor).find("\"product\"") != std::string::npos);
  CHECK(editor.removeOutput(only(editor, "relu")->var()));
  CHECK_FALSE(editor.removeOutput(only(editor, "mul")->operands[0]));
  CHECK(textOf(editor).find("tess.relu") == std::string::npos);
  editor.removeOutput(product);
  CHECK(messageOf(editor.graph().takeError()) == "dump: a network must have an output, got none");
}

TEST_CASE("a value is replaced by a function of itself") {
  GraphEditor editor = opened(sample());
  Var product = only(editor, "mul")->var(), exp = applied("exp", {product}), twice = applied("exp", {exp});
  llvm::cantFail(editor.replaceVars({{product, twice}}));
  CHECK(only(editor, "relu")->operands[0] == twice);
  CHECK(exp.node->operands[0] == product);
  SECTION("an output keeps its name") {
    Var out = only(editor, "relu")->var(), sum = applied("add", {out, out});
    llvm::cantFail(editor.replaceVars({{out, sum}}));
    CHECK(editor.outputs()[0].var == sum);
    CHECK(textOf(editor).find("\"y\"") != std::string::npos);
  }
}

TEST_CASE("two values change places") {
  GraphBuilder builder;
  auto x = builder.input("x", kRow), y = builder.input("y", kRow);
  builder.output(llvm::cantFail(builder.apply(op("sub"), {x, y}))[0], "z");
  GraphEditor editor = opened(builder.finish());
  Var a = editor.inputs()[0]->var(), b = editor.inputs()[1]->var();
  llvm::cantFail(editor.replaceVars({{a, b}, {b, a}}));
  CHECK(only(editor, "sub")->operands == std::vector<Var>{b, a});
}

TEST_CASE("an edit that does not fit changes nothing") {
  GraphEditor editor = opened(sample());
  std::string before = bytesOf(editor);
  SECTION("a shape that a user refuses") {
    Var other = Node::input("other", TensorMeta(DType::Float32, {7}))->var();
    llvm::Error error = editor.replaceVars({{only(editor, "net.scale")->var(), other}});
    CHECK_THAT(messageOf(std::move(error)), Catch::Matchers::StartsWith("mul: ") &&
                                                Catch::Matchers::Contains(", got ") &&
                                                Catch::Matchers::Contains("train.py:12 (net)"));
  }
  SECTION("a dtype that a user refuses") {
    Var other = Node::input("other", TensorMeta(DType::Bool, {5, 3}))->var();
    CHECK_THAT(messageOf(editor.replaceVars({{only(editor, "mul")->var(), other}})),
               Catch::Matchers::StartsWith("relu: "));
  }
  SECTION("a value that is too short") {
    llvm::Error error =
        editor.setValue(only(editor, "net.scale"), TensorMeta(DType::Float32, {2}), std::string(8, '\0'));
    CHECK_THAT(messageOf(std::move(error)), Catch::Matchers::StartsWith("mul: "));
  }
  SECTION("a state of another shape") {
    Var other = Node::input("other", kRow)->var();
    CHECK(messageOf(editor.replaceVars({{only(editor, "add")->var(), other}})) ==
          "update: a state must keep its dtype and shape, got f32[2, 3] for 'count' of f32[1]");
  }
  SECTION("operators with other numbers of results") {
    NodeRef topk = llvm::cantFail(Node::apply(op("topk").set("k", 1), {only(editor, "mul")->var()}));
    CHECK_THAT(messageOf(editor.replaceNodes({{only(editor, "relu"), topk}})),
               Catch::Matchers::StartsWith("replace_oprs: operators must have equally many results, got relu"));
  }
  SECTION("parameters of another operator") {
    CHECK_THAT(messageOf(editor.setOp(only(editor, "relu"), op("exp"))),
               Catch::Matchers::StartsWith("set_op: parameters must be those of the operator, got exp"));
  }
  SECTION("the value of an operator") {
    CHECK(messageOf(editor.setValue(only(editor, "relu"), kRow, std::string(24, '\0'))) ==
          "set_value: a constant or a state must be given, got relu()");
  }
  CHECK(bytesOf(editor) == before);
}

TEST_CASE("constants, attributes and shapes change") {
  GraphEditor editor = opened(sample());
  llvm::cantFail(editor.setValue(only(editor, "net.scale"), TensorMeta(DType::Float32, {}), std::string(4, '\0')));
  NodeRef mul = only(editor, "mul"), relu = only(editor, "relu");
  CHECK(sizeText(mul->metas[0].shape[0]) == "batch");
  llvm::cantFail(editor.setShapes({{editor.inputs()[0], Shape{5, 3}}}));
  CHECK(relu->metas[0] == TensorMeta(DType::Float32, {5, 3}));
  CHECK(textOf(editor).find("\"batch\"") == std::string::npos);
  NodeRef soft = llvm::cantFail(Node::apply(op("softmax"), {relu->var()}));
  llvm::cantFail(editor.replaceVars({{relu->var(), soft->var()}}));
  llvm::cantFail(editor.setOp(soft, op("softmax").set("axis", 0)));
  CHECK(textOf(editor).find("axis = 0") != std::string::npos);
}

TEST_CASE("nodes of one graph become part of another") {
  GraphEditor first = opened(sample()), second = opened(sample());
  Var out = second.outputs()[0].var;
  llvm::cantFail(first.replaceVars({{first.inputs()[0]->var(), out}}));
  CHECK(first.inputs().size() == 2); // x of the second, and what was never used
  CHECK(first.inputs()[1] == second.inputs()[0]);
  CHECK(textOf(first).find("tess.relu") != textOf(first).rfind("tess.relu"));
  SECTION("without its state") {
    first.addOutput(second.updates()[0].value);
    CHECK(messageOf(first.graph().takeError()) ==
          "dump: a state must be updated by the network that reads it, got 'count' of another network");
  }
  SECTION("with names that differ") {
    Var other = Node::input("x", kRow)->var();
    first.addOutput(applied("relu", {other}));
    CHECK(messageOf(first.graph().takeError()) == "dump: inputs must have different names, got two 'x'");
  }
  SECTION("with bounds that agree") {
    Shape shape = {sizes::symbol(symbolOf({"batch", 1, 4})), 3};
    first.addOutput(Node::input("z", TensorMeta(DType::Float32, shape))->var());
    CHECK(messageOf(first.graph().takeError()) ==
          "dump: a dimension must have the same bounds everywhere, got batch in 1..4 and batch in 1..512");
  }
}

TEST_CASE("values of copies leave the nodes as they are") {
  GraphEditor editor = opened(sample());
  std::string before = bytesOf(editor);
  Var out = editor.outputs()[0].var, product = only(editor, "mul")->var(), exp = applied("exp", {product});
  Vars made = llvm::cantFail(withReplaced({out, product}, {{product, exp}}));
  CHECK(made[0].node->op.name() == "relu");
  CHECK(made[0].node->operands[0] == exp);
  CHECK(made[0].name() == "y");
  CHECK(made[1] == exp);
  CHECK(bytesOf(editor) == before);
  Var bad = Node::input("bad", TensorMeta(DType::Bool, {5, 3}))->var();
  CHECK_THAT(messageOf(withReplaced({out}, {{product, bad}}).takeError()), Catch::Matchers::StartsWith("relu: "));
}

TEST_CASE("sizes that data decides keep their operators") {
  GraphBuilder builder;
  auto x = builder.input("x", kRow);
  auto found = llvm::cantFail(builder.apply(op("non_zero"), {x}));
  builder.nameSize(found[0], 0, 0);
  OpDef full = op("full").set("shape", IntList{sizes::symbol(sizes::kDataSymbols)}).set("value", 1.0);
  auto ones = llvm::cantFail(builder.apply(full, {}))[0];
  builder.setName(ones, "ones");
  builder.output(ones, "ones");
  Graph graph = builder.finish();
  GraphEditor editor = opened(graph);
  CHECK(sizeText(only(editor, "full")->metas[0].shape[0]) == "size of non_zero");
  CHECK(exampleSize(only(editor, "full")->metas[0].shape[0]) == 6);
  CHECK(bytesOf(editor) == bytesOf(graph));
}

TEST_CASE("a chain of nodes may be longer than the stack is deep") {
  Var var = Node::input("x", kRow)->var();
  for (int i = 0; i < 200000; ++i)
    var = applied("relu", {var});
  GraphEditor editor;
  editor.addOutput(var);
  CHECK(editor.nodes().size() == 200001);
}
