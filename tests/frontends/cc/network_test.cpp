//===- network_test.cpp - the graph of a dumped file as data --------------===//
#include "tessera/Control.h"
#include "tessera/Jit.h"
#include "tessera/Network.h"
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace tessera;

static std::string pathOf(const std::string &name) {
  const char *folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}

/// The file of softmax(relu(x @ w)), with a free batch.
static std::string dumped(const Tensor &weight) {
  auto function = jit::trace(
      [&](const Tensor &x) { return functional::softmax(functional::relu(functional::matmul(x, weight)), -1); });
  (void)function(uniform({4, 3}));
  std::string path = pathOf("softmax.tess");
  function.dump(path, {.inputs = {"x"}, .outputs = {"y"}, .dims = {{"x", {{0, {"batch", 1, 32}}}}}, .targets = {}});
  return path;
}

/// What the network computes once it is dumped.
static std::map<std::string, Tensor> run(const Network &network, const std::map<std::string, Tensor> &inputs) {
  std::string path = pathOf("edited.tess");
  network.dump(path, {.targets = {}});
  return jit::load(path).run(inputs);
}

static NetworkNode only(const Network &network, llvm::StringRef name) {
  std::vector<NetworkNode> found;
  for (const NetworkNode &node : network.nodes())
    if (node.kind() == NetworkNode::Kind::Operator && node.op().name() == name)
      found.push_back(node);
  REQUIRE(found.size() == 1);
  return found.front();
}

TEST_CASE("a loaded network is the function that was dumped") {
  Tensor weight = uniform({3, 5}), x = uniform({6, 3});
  weight.setName("weight");
  Network network = Network::load(dumped(weight));
  CHECK(run(network, {{"x", x}}).at("y").toBytes() ==
        functional::softmax(functional::relu(functional::matmul(x, weight)), -1).toBytes());
  CHECK(Network::describe(network.variable("y")) == "f32[batch, 5]");
  CHECK(network.variable("y").name() == "y");
  CHECK(Network::nodeOf(network.variable("weight")).value().toBytes() == weight.toBytes());
  CHECK(only(network, "matmul").inputs().size() == 2);
  CHECK(only(network, "relu").outputs().size() == 1);
  CHECK_FALSE(only(network, "relu").value().isDefined());
  CHECK(network.inputs().size() == 1);
}

TEST_CASE("functions of variables join the graph") {
  Tensor weight = uniform({3, 5}), x = uniform({4, 3}), scale = uniform({5});
  Network network = Network::load(dumped(weight));
  Tensor hidden = only(network, "relu").outputs()[0], y = network.variable("y");
  Tensor z = functional::exp(hidden * scale) - 1;
  z.setName("z");
  network.addOutput(z);
  network.replaceVariables({{hidden, functional::tanh(hidden)}});
  auto results = run(network, {{"x", x}});
  Tensor expected = functional::relu(functional::matmul(x, weight));
  CHECK(results.at("y").toBytes() == functional::softmax(functional::tanh(expected), -1).toBytes());
  CHECK(results.at("z").toBytes() == (functional::exp(functional::tanh(expected) * scale) - 1).toBytes());
  CHECK(network.removeOutput(y));
  CHECK(network.outputs().size() == 1);
  CHECK(thrown([&] { (void)network.variable("y"); }));
}

TEST_CASE("loops of variables join the graph") {
  Tensor weight = uniform({3, 5}), x = uniform({7, 3});
  Network network = Network::load(dumped(weight));
  auto loops = [](const Tensor &y) {
    auto [last, ys] =
        scan([](const Tensor &sum, const Tensor &row) { return std::pair(sum + row, sum * 2); }, zeros({5}), y);
    Tensor total = last;
    return cond(total.max() > 1, [&] { return total; }, [&] { return -total; });
  };
  Tensor z = loops(network.variable("y"));
  z.setName("z");
  network.addOutput(z);
  auto results = run(network, {{"x", x}});
  CHECK(results.at("z").toBytes() == loops(results.at("y")).toBytes());
}

TEST_CASE("operators, attributes, values and sizes change") {
  Tensor weight = uniform({3, 5}), x = uniform({2, 3}), other = uniform({3, 5});
  weight.setName("weight");
  Network network = Network::load(dumped(weight));
  Tensor hidden = only(network, "matmul").outputs()[0];
  network.replaceNodes({{only(network, "relu"), Network::nodeOf(functional::sigmoid(hidden))}});
  network.setValue(Network::nodeOf(network.variable("weight")), other);
  network.setOp(only(network, "softmax"), OpDef::get("softmax").set("axis", 0));
  network.resetBatchSize(2);
  CHECK(network.variable("y").shape() == Shape{2, 5});
  CHECK(run(network, {{"x", x}}).at("y").toBytes() ==
        functional::softmax(functional::sigmoid(functional::matmul(x, other)), 0).toBytes());
  network.resetBatchSize(jit::Dim{"rows", 1, 9});
  CHECK(Network::describe(network.variable("y")) == "f32[rows, 5]");
}

TEST_CASE("a network is made of inputs and constants") {
  Tensor x = uniform({3, 4}), row = uniform({4});
  Tensor input = Network::makeInput("x", DType::Float32, {3, 4}, {{0, {"n", 1, 8}}});
  Tensor sum = input + Network::makeConstant("row", row);
  Network network;
  network.addOutput(sum.index({Slice(0, 2)}));
  CHECK(Network::describe(network.outputs()[0]) == "f32[min(2, n), 4]");
  std::string path = pathOf("made.tess");
  network.dump(path, {.outputs = {"first"}, .targets = {}});
  CHECK(jit::load(path).run({{"x", x}}).at("first").toBytes() == (x + row).index({Slice(0, 2)}).toBytes());
}

TEST_CASE("what does not fit is told, and changes nothing") {
  Tensor weight = uniform({3, 5}), x = uniform({4, 3});
  weight.setName("weight");
  Network network = Network::load(dumped(weight));
  Tensor before = run(network, {{"x", x}}).at("y"), y = network.variable("y");
  auto message = [](auto call) { return std::string(thrown(call).value().what()); };
  NetworkNode node = Network::nodeOf(network.variable("weight"));
  CHECK_THAT(message([&] { network.setValue(node, uniform({4, 5})); }), Catch::Matchers::StartsWith("matmul: "));
  CHECK(message([&] { (void)network.variable("z"); }) == "variable: its name must be one of the network's, got 'z'");
  CHECK(message([&] { network.addOutput(x); }) ==
        "network: a variable must be one of a network, got a tensor f32[4, 3]");
  CHECK(message([&] { (void)node.op(); }) == "op: the node must be an operator, got 'weight'");
  CHECK(message([&] { (void)y.shape(); }) ==
        "shape: a free size of a network must not be read as a number, got 'batch'");
  CHECK_THAT(message([&] { (void)y.toBytes(); }), Catch::Matchers::StartsWith("shape: a free size of a network"));
  CHECK_THAT(message([&] { (void)network.variable("weight").toBytes(); }),
             Catch::Matchers::StartsWith("value: a variable of a network must be computed by its dumped program"));
  CHECK(message([&] { weight.assign(y); }) ==
        "assign: a tensor outside of a network must not take a value of one, got one for f32[3, 5]");
  CHECK(message([&] { network.dump(pathOf("a.tess"), {.outputs = {"a", "b"}}); }) ==
        "dump: names must not be more than 1 outputs, got 2");
  CHECK(message([&] { (void)Network::makeInput("x", DType::Float32, {3}, {{1, {"n"}}}); }) ==
        "makeInput: a free dimension must be an axis of 1, got axis 1");
  CHECK(message([&] { Network().dump(pathOf("a.tess")); }) == "dump: a network must have an output, got none");
  Network scalar;
  scalar.addOutput(Network::makeInput("s", DType::Float32, {}) + 1);
  CHECK(message([&] { scalar.resetBatchSize(2); }) == "resetBatchSize: inputs must have an axis, got 's' of rank 0");
  CHECK(run(network, {{"x", x}}).at("y").toBytes() == before.toBytes());
}
