//===- module_test.cpp - modules, their state, optimizers ----------------===//
#include "tessera/Autodiff.h"
#include "tessera/Init.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/Schedules.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace tessera;
using Floats = std::vector<float>;

namespace {

class Net : public Module {
public:
  Net() {
    registerModule("conv", conv);
    registerModule("norm", norm);
    registerModule("head", head);
    scale = registerParameter("scale", tensor({2.0f}));
  }
  Tensor forward(const Tensor &x) override { return head(norm(conv(x))) * scale; }

  Conv2d conv{1, 4, 3, {.padding = 1}};
  BatchNorm2d norm{4};
  Sequential head;
  Tensor scale;
};

std::vector<std::string> names(const Module::NamedTensors &tensors) {
  std::vector<std::string> list;
  for (const auto &[name, tensor] : tensors)
    list.push_back(name);
  return list;
}

} // namespace

TEST_CASE("parts have dotted paths") {
  Net net;
  net.head.add<ReLU>().add<MaxPool2d>(2).add<Flatten>().add<Linear>(16, 3);
  CHECK(names(net.namedParameters()) == std::vector<std::string>{"conv.bias", "conv.weight", "head.3.bias",
                                                                 "head.3.weight", "norm.bias", "norm.weight", "scale"});
  CHECK(names(net.namedBuffers()) == std::vector<std::string>{"norm.running_mean", "norm.running_var"});
  CHECK(net.namedModules().size() == 8);
  CHECK(net.parameters().size() == 7);
  CHECK(net(uniform({5, 1, 4, 4})).shape() == Shape{5, 3});
}

TEST_CASE("modes reach every module") {
  Net net;
  net.eval();
  CHECK(!net.norm.isTraining());
  net.train();
  CHECK(net.norm.isTraining());
}

TEST_CASE("frozen parameters get no gradient and stay, eagerly and in traces") {
  Linear first(2, 2), second(2, 2);
  SGD sgd({first.weight, first.bias, second.weight, second.bias}, {.lr = 0.5, .weightDecay = 0.1});
  GradManager manager;
  manager.attach(first.parameters()).attach(second.parameters());
  auto step = [&](const Tensor &x) {
    auto recording = manager.record();
    Tensor loss = second(first(x)).sum();
    manager.backward(loss);
    (void)sgd.step().clearGrad();
    return loss;
  };
  auto traced = jit::trace(step);
  auto moves = [](Module &module, auto call) {
    std::vector<char> before = module.parameters()[1].toBytes();
    (void)call(ones({3, 2}));
    return module.parameters()[1].toBytes() != before;
  };
  SECTION("eagerly") {
    first.weight.setGrad(ones({2, 2}));
    CHECK(&first.freeze() == &first);
    CHECK(!first.weight.grad().isDefined());
    CHECK(!moves(first, step));
    CHECK(moves(second, step));
    first.unfreeze();
    CHECK(moves(first, step));
  }
  SECTION("a trace that was recorded before follows") {
    for (int turn = 0; turn < 2; ++turn) {
      for (int call = 0; call < 3; ++call)
        CHECK(moves(first, traced));
      first.freeze();
      for (int call = 0; call < 3; ++call) {
        CHECK(!moves(first, traced));
        CHECK(moves(second, traced));
      }
      first.unfreeze();
    }
  }
  SECTION("within a traced function nothing is frozen") {
    auto freezes = jit::trace([&](const Tensor &x) { return first.freeze().parameters()[0] + x; });
    std::optional<Error> error = thrown([&] { (void)freezes(tensor(1.0f)); });
    REQUIRE(error);
    CHECK_THAT(error->what(), Catch::StartsWith("freeze: a module must be frozen outside of traced functions"));
  }
}

TEST_CASE("batch norm normalises, and moves its statistics in training only") {
  BatchNorm2d norm(2);
  Tensor x = normal({16, 2, 3, 3}, 5, 2);
  Tensor y = norm(x);
  CHECK(std::abs(y.mean().item<float>()) < 1e-4);
  Tensor mean = norm.stateDict().at("running_mean");
  CHECK(std::abs(mean.mean().item<float>() - 0.5) < 0.1);
  norm.eval();
  (void)norm(x);
  CHECK(norm.stateDict().at("running_mean").toBytes() == mean.toBytes());
}

TEST_CASE("batch norm takes statistics of one axis, as Python writes them") {
  BatchNorm2d norm(2);
  StateDict state = norm.stateDict();
  for (auto &[name, value] : state)
    value = value.reshape({2});
  state.at("running_mean") = tensor({3.0f, 4.0f});
  CHECK(norm.loadStateDict(state).empty());
  CHECK(norm.stateDict().at("running_mean").shape() == Shape{2});
  CHECK(norm.stateDict().at("running_mean").toVector<float>() == Floats{3, 4});
}

TEST_CASE("a convolution has the arithmetic of one") {
  Conv2d conv(1, 1, {2, 1}, {.stride = {1, 2}, .bias = false});
  (void)conv.loadStateDict({{"weight", tensor({1.0f, 10.0f}, Shape{1, 1, 2, 1})}});
  Tensor x = arange(0, 9).reshape({1, 1, 3, 3});
  CHECK(conv(x).shape() == Shape{1, 1, 2, 2});
  CHECK(conv(x).toVector<float>() == Floats{30, 52, 63, 85});
  CHECK(thrown([] { Conv2d(3, 4, 3, {.groups = 2}); }));
}

TEST_CASE("state goes from one module to another") {
  Linear a(3, 2), b(3, 2);
  StateDict state = a.stateDict();
  CHECK(state.at("weight").toBytes() != b.stateDict().at("weight").toBytes());
  CHECK(b.loadStateDict(state).empty());
  CHECK(b.stateDict().at("weight").toBytes() == a.stateDict().at("weight").toBytes());
  init::fill(a.parameters()[0], 7);
  CHECK(b.stateDict().at("weight").toBytes() == state.at("weight").toBytes());
}

TEST_CASE("state that does not fit changes nothing") {
  Linear linear(3, 2);
  StateDict before = linear.stateDict(), state = before;
  state["other"] = tensor({1.0f});
  auto error = thrown([&] { (void)linear.loadStateDict(state); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::NotFound);
  CHECK(std::string(error->what()) ==
        "loadStateDict: names must be those of Linear, got missing [] and unexpected [other]");
  CHECK(linear.loadStateDict(state, false).empty());
  CHECK(linear.loadStateDict({}, false) == std::vector<std::string>{"bias", "weight"});
  CHECK(thrown([&] { (void)linear.loadStateDict({{"bias", zeros({2})}, {"weight", zeros({2, 4})}}); }));
  CHECK(linear.stateDict().at("weight").toBytes() == before.at("weight").toBytes());
}

TEST_CASE("names of parts are checked") {
  class Twice : public Module {
  public:
    explicit Twice(const std::string &name) {
      registerParameter("weight", zeros({1}));
      registerBuffer(name, zeros({1}));
    }
  };
  CHECK(thrown([] { Twice("weight"); }));
  CHECK(thrown([] { Twice("a.b"); }));
  CHECK(thrown([] { (void)Twice("other")(zeros({1})); })->code() == ErrorCode::Unimplemented);
}

TEST_CASE("initial values have the variance they name") {
  auto deviation = [](const Tensor &x) {
    Tensor centred = x - x.mean();
    return std::sqrt((centred * centred).mean().item<float>());
  };
  Tensor x = zeros({200, 300});
  init::normal(x, 0, 2);
  CHECK(deviation(x) == Approx(2).epsilon(0.02));
  init::uniform(x, -1, 1);
  CHECK(deviation(x) == Approx(std::sqrt(1.0 / 3)).epsilon(0.02));
  init::xavierUniform(x);
  CHECK(deviation(x) == Approx(std::sqrt(2.0 / 500)).epsilon(0.02));
  init::xavierNormal(x, 2);
  CHECK(deviation(x) == Approx(2 * std::sqrt(2.0 / 500)).epsilon(0.02));
  init::msraNormal(x);
  CHECK(deviation(x) == Approx(std::sqrt(2.0 / 300)).epsilon(0.02));
  init::msraUniform(x, 0, init::Fan::Out);
  CHECK(deviation(x) == Approx(std::sqrt(2.0 / 200)).epsilon(0.02));
  CHECK(init::gainOf("tanh") == Approx(5.0 / 3));
  CHECK(thrown([] { (void)init::gainOf("what"); }));
  CHECK(thrown([] { init::msraNormal(zeros({3})); }));
}

TEST_CASE("SGD steps as its formula says") {
  Tensor p = tensor({1.0f});
  SGD optimizer({p}, {.lr = 0.5, .momentum = 0.5, .weightDecay = 0.25});
  p.setGrad(tensor({2.0f}));
  optimizer.step();
  CHECK(p.item<float>() == -0.125f); // g = v = 2.25
  optimizer.step();
  CHECK(p.item<float>() == -0.125f - 0.5f * (1.125f + 2.0f - 0.03125f));
  optimizer.clearGrad();
  optimizer.step();
  CHECK(!p.grad().isDefined());
}

TEST_CASE("Adam steps as its formula says") {
  Tensor p = tensor({1.0f});
  Adam optimizer({p}, {.lr = 0.1});
  for (int i = 0; i < 2; ++i) {
    p.setGrad(tensor({4.0f}));
    optimizer.step();
  }
  CHECK(p.item<float>() == Approx(0.8).epsilon(1e-5)); // equal gradients: steps of lr
}

TEST_CASE("an optimizer's state goes on elsewhere") {
  auto run = [](SGD &optimizer, const Tensor &p, int steps) {
    for (int i = 0; i < steps; ++i) {
      p.setGrad(p * 2);
      optimizer.step();
    }
  };
  Tensor p = tensor({1.0f}), q = tensor({1.0f});
  SGD whole({p}, {.lr = 0.1, .momentum = 0.9}), first({q}, {.lr = 0.1, .momentum = 0.9});
  run(whole, p, 4);
  run(first, q, 2);
  SGD second({q}, {.lr = 0.2, .momentum = 0.9});
  second.loadStateDict(first.stateDict());
  CHECK(second.lr() == first.lr());
  run(second, q, 2);
  CHECK(q.item<float>() == p.item<float>());
  CHECK(thrown([&] { second.loadStateDict({}); }));
}

TEST_CASE("optimizers check their settings") {
  CHECK(thrown([] { SGD({}, {.lr = 1}); }));
  CHECK(thrown([] { SGD({zeros({1})}, {.lr = -1}); }));
  CHECK(thrown([] { SGD({zeros({1})}, {.lr = 1, .nesterov = true}); }));
  CHECK(thrown([] { Adam({zeros({1})}, {.lr = 0.1, .betas = {1, 0.999}}); }));
  CHECK(thrown([] {
    Tensor p = zeros({1});
    SGD({p, p}, {.lr = 1});
  }));
}

/// The text of the error that a call throws.
template <typename F> static std::string said(F call) {
  std::optional<Error> error = thrown(call);
  return error ? error->what() : "";
}

TEST_CASE("containers hold modules by position and by name") {
  ModuleList<Linear> list;
  for (int i = 0; i < 11; ++i)
    list.add(2, 1, LinearOptions{.bias = false});
  CHECK(list.size() == 11);
  CHECK(names(list.namedParameters())[2] == "10.weight"); // "10" before "2", as in Python
  CHECK(thrown([&] { list(zeros({1, 2})); }));
  ModuleDict<> dict;
  Linear &wide = dict.add<Linear>("wide", 2, 4);
  dict.add<BatchNorm1d>("norm", 4);
  CHECK(dict.keys() == std::vector<std::string>{"wide", "norm"});
  CHECK(&dict["wide"] == &wide);
  CHECK(dict["norm"](dict["wide"](zeros({3, 2}))).shape() == Shape{3, 4});
  CHECK(said([&] { dict["what"]; }) == "ModuleDict: name must be that of a module, got 'what'");
  CHECK(thrown([&] { dict.add<Linear>("wide", 2, 4); }));
}

TEST_CASE("a module takes a list of tensors") {
  Concat join;
  CHECK(join({tensor({1.0f}), tensor({2.0f, 3.0f})}).toVector<float>() == Floats{1, 2, 3});
  CHECK(join({zeros({2, 1}), zeros({2, 3})}, 1).shape() == Shape{2, 4});
}

TEST_CASE("a causal encoder sees what a mask leaves it") {
  TransformerEncoderLayer net(4, 2, {.dimFeedforward = 8, .dropout = 0});
  Tensor x = functional::reshape(arange(0, 12), {1, 3, 4}) * 0.1;
  Tensor isLater = functional::triu(ones({3, 3}), 1) > 0;
  CHECK(net(x, {}, {}, true).toVector<float>() == net(x, isLater).toVector<float>());
  CHECK(net(x, {}, {}, true).toVector<float>() != net(x).toVector<float>());
}

TEST_CASE("groups of an optimizer have settings of their own") {
  Tensor p = tensor({1.0f}), q = tensor({1.0f});
  SGD optimizer({p}, {.lr = 0.5});
  optimizer.addParamGroup({q}, {.lr = 0.25, .weightDecay = 2});
  p.setGrad(tensor({1.0f}));
  q.setGrad(tensor({1.0f}));
  optimizer.step();
  CHECK(p.item<float>() == 0.5f);
  CHECK(q.item<float>() == 0.25f);
  CHECK(said([&] { optimizer.addParamGroup({p}, {.lr = 1}); }) ==
        "SGD: a parameter must be given once, got numbers 0 and 2 the same");
  ExponentialLR schedule(optimizer, 0.5);
  schedule.step();
  CHECK(optimizer.lr(0) == 0.25);
  CHECK(optimizer.lr(1) == 0.125);
  CHECK(optimizer.stateDict().at("lr.1").item<double>() == 0.125);
  optimizer.zeroGrad();
  CHECK(p.grad().item<float>() == 0);
}

TEST_CASE("schedules check what they are made of") {
  Tensor p = tensor({1.0f});
  SGD optimizer({p}, {.lr = 0.5}), other({p}, {.lr = 0.5});
  CHECK(said([&] { LambdaLR(optimizer, [](int64_t) { return 1.0; }, 3); }) ==
        "LRScheduler: a schedule must have begun to go on from epoch 3, got none");
  ExponentialLR one(optimizer, 0.5), two(other, 0.5);
  CHECK(said([&] { ChainedScheduler({&one, &two}); }) ==
        "ChainedScheduler: schedulers must have one optimizer, got another one's");
  CHECK(said([&] { ChainedScheduler({}); }) == "ChainedScheduler: schedulers must not be empty, got none");
  CHECK(said([&] { SequentialLR(optimizer, {&one}, {3}); }) ==
        "SequentialLR: milestones must increase, one fewer than 1 schedulers, got [3]");
  CHECK(said([&] { ReduceLROnPlateau(optimizer, {.mode = "what"}); }) ==
        "ReduceLROnPlateau: mode must be 'min' or 'max', got 'what'");
  CHECK(thrown([&] { ReduceLROnPlateau(optimizer, {.factor = 1}); }));
  CHECK(said([&] { clipGradNorm({p}, 1, 0); }) == "clip_grad_norm: ord must be positive, got 0.0");
  CHECK(said([&] { clipGradValue({p}, 1, 0.5); }) == "clip_grad_value: lower must be <= upper, got 1.0 and 0.5");
}
