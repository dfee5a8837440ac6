//===- jit_test.cpp - functions compiled whole ---------------------------===//
#include "eager/tracing/KeptCalls.h"
#include "tessera/Autodiff.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/DeviceTraining.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace tessera;
using Floats = std::vector<float>;

static std::string pathOf(const std::string &name) {
  const char *folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}

TEST_CASE("the second call runs compiled, with the same bits") {
  int calls = 0;
  auto function = jit::trace([&](const Tensor &x, const Tensor &y) {
    ++calls;
    return functional::tanh(x * y + 1);
  });
  Tensor x = uniform({5, 7}), y = uniform({7});
  auto eager = function(x, y).toBytes();
  CHECK(function.program() == nullptr);
  CHECK(function(x, y).toBytes() == eager);
  CHECK(function.program() != nullptr);
  CHECK(calls == 1);
  (void)function(uniform({2, 7}), y);
  CHECK(calls == 2);
}

TEST_CASE("functions return lists, tuples or nothing") {
  Tensor x = tensor({1.0f, 2.0f}), state = tensor({0.0f});
  auto list = jit::trace([](const Tensor &x) { return std::vector<Tensor>{x + 1, x + 2}; });
  auto tuple = jit::trace([](const Tensor &x) { return std::make_tuple(x + 1, x * 2); });
  auto nothing = jit::trace([&](const Tensor &x) { state.assign(state + x.sum()); });
  for (int i = 0; i < 3; ++i) {
    CHECK(list(x)[1].toVector<float>() == Floats{3, 4});
    CHECK(std::get<1>(tuple(x)).toVector<float>() == Floats{2, 4});
    nothing(x);
  }
  CHECK(state.item<float>() == 9);
}

TEST_CASE("the same variable twice is another signature") {
  auto update = jit::trace([](const Tensor &x, const Tensor &y) {
    x.assign(x + 1);
    return y * 2;
  });
  for (int i = 0; i < 2; ++i) {
    Tensor x = tensor({1.0f}), y = tensor({1.0f});
    CHECK(update(x, y).item<float>() == 2);
    CHECK(x.item<float>() == 2);
    CHECK(update(y, y).item<float>() == 4);
  }
}

TEST_CASE("an argument that is a tensor from outside is another signature") {
  Tensor p = tensor({10.0f});
  auto times = jit::trace([&](const Tensor &x) { return x * p; });
  for (int i = 0; i < 3; ++i) {
    CHECK(times(p).item<float>() == 100);
    CHECK(times(tensor({3.0f})).item<float>() == 30);
  }
  CHECK(times.program() != nullptr);
}

TEST_CASE("calls with ever other tensors run compiled from the third on") {
  int calls = 0;
  Tensor weight = tensor({2.0f}), other = tensor({3.0f});
  auto times = jit::trace([&](const Tensor &x, const Tensor &y) {
    ++calls;
    return x * y;
  });
  std::vector<Tensor> inputs;
  for (float number : {0.0f, 1.0f, 2.0f, 3.0f, 4.0f}) {
    inputs.push_back(tensor({number}));
    CHECK(times(inputs.back(), weight).item<float>() == 2 * number);
  }
  CHECK(calls == 2);
  CHECK(times(inputs[0] + 1, other).item<float>() == 3);
  CHECK(calls == 3);
  CHECK(times(inputs[1] + 1, weight).item<float>() == 4);
  CHECK(calls == 3);
}

TEST_CASE("a function keeps four variants of a signature, and any number of signatures") {
  int calls = 0;
  BatchNorm2d norms[] = {BatchNorm2d(2), BatchNorm2d(2), BatchNorm2d(2), BatchNorm2d(2), BatchNorm2d(2)};
  size_t present = 0;
  auto function = jit::trace([&](const Tensor &x) {
    ++calls;
    for (BatchNorm2d &norm : norms)
      (void)norm(x);
    return x + 1;
  });
  Tensor x = uniform({2, 2, 2, 2});
  auto mode = [&](size_t number) {
    norms[present].train();
    present = number;
    norms[present].eval();
  };
  for (size_t number : {0, 1, 2, 3, 0}) {
    mode(number);
    (void)function(x);
  }
  CHECK(calls == 4);
  mode(4); // takes the place of 1
  (void)function(x);
  CHECK(calls == 5);
  mode(0);
  (void)function(x);
  CHECK(calls == 5);
  mode(1);
  (void)function(x);
  CHECK(calls == 6);

  calls = 0;
  std::vector<Tensor> inputs;
  for (int64_t size = 1; size <= 20; ++size)
    (void)function(inputs.emplace_back(uniform({size, 2, 2, 1})));
  for (const Tensor &input : inputs)
    (void)function(input);
  CHECK(calls == 20);
}

TEST_CASE("what traces keep is bounded in bytes") {
  uint64_t limit = tess::eager::traceLimit(), before = tess::eager::traceBytes();
  {
    int calls = 0;
    auto function = jit::trace([&](const Tensor &x) {
      ++calls;
      return x.matmul(x).matmul(x) + 1;
    });
    Tensor small = uniform({2, 2}), large = uniform({256, 256});
    for (const Tensor &x : {small, small, large, large})
      (void)function(x);
    CHECK(calls == 2);
    CHECK(tess::eager::traceBytes() > before + 256 * 256 * 4); // a temporary in the arena
    tess::eager::setTraceLimit(before);
    CHECK(tess::eager::traceBytes() == before);
    CHECK(function.program() == nullptr);
    for (int i = 0; i < 3; ++i)
      CHECK(function(large).toBytes() == (large.matmul(large).matmul(large) + 1).toBytes());
    CHECK(calls == 3);
  }
  CHECK(tess::eager::traceBytes() == before);
  tess::eager::setTraceLimit(limit);
}

TEST_CASE("traced training equals eager training, bit for bit") {
  tess::runtime::Device &host = tess::runtime::hostDevice();
  auto eager = tess::test::trainOn(host, false), traced = tess::test::trainOn(host, true);
  CHECK(eager.first == traced.first);
  CHECK(eager.second == traced.second);
}

TEST_CASE("gradients that a traced function leaves are there after every call") {
  Tensor w = tensor({3.0f});
  GradManager manager;
  manager.attach(w);
  auto backward = jit::trace([&](const Tensor &x) {
    auto recording = manager.record();
    manager.backward(w * x);
  });
  for (int i = 1; i <= 5; ++i) {
    backward(tensor({2.0f}));
    CHECK(w.grad().item<float>() == 2.0f * float(i));
  }
  w.setGrad(Tensor());
  backward(tensor({4.0f}));
  CHECK(w.grad().item<float>() == 4);
}

TEST_CASE("a gradient that a traced function sets is there after every call") {
  Tensor w = tensor({3.0f});
  auto set = jit::trace([&](const Tensor &x) { w.setGrad(x * w); });
  for (int i = 1; i <= 4; ++i) {
    set(tensor({float(i)}));
    CHECK(w.grad().item<float>() == 3.0f * float(i));
    w.setGrad(Tensor());
  }
}

TEST_CASE("what is attached later gets its gradient") {
  Tensor w = tensor({3.0f}), b = tensor({5.0f}), x = tensor({2.0f});
  GradManager manager;
  manager.attach(w);
  auto backward = jit::trace([&](const Tensor &x) {
    auto recording = manager.record();
    manager.backward(w * b * x);
  });
  for (int i = 0; i < 2; ++i)
    backward(x);
  CHECK(!b.grad().isDefined());
  manager.attach(b);
  for (int i = 1; i <= 3; ++i) {
    backward(x);
    CHECK(b.grad().item<float>() == 6.0f * float(i));
  }
}

TEST_CASE("the mode of a module is part of the signature") {
  BatchNorm2d norm(2);
  auto function = jit::trace([&](const Tensor &x) { return norm(x); });
  Tensor x = normal({4, 2, 2, 2}, 3, 1);
  (void)function(x);
  (void)function(x);
  norm.eval();
  auto eager = norm(x).toBytes();
  CHECK(function(x).toBytes() == eager);
  CHECK(function(x).toBytes() == eager);
}

TEST_CASE("random numbers go on in traced functions") {
  seed(9);
  Tensor first = uniform({4}), second = uniform({4}), third = uniform({4});
  seed(9);
  auto draw = jit::trace([](const Tensor &x) { return x + uniform({4}); });
  Tensor zero = zeros({4});
  CHECK(draw(zero).toBytes() == first.toBytes());
  CHECK(draw(zero).toBytes() == second.toBytes());
  CHECK(draw(zero).toBytes() == third.toBytes());
}

TEST_CASE("calls run eagerly when the environment or a GradManager around them says so") {
  int calls = 0;
  Tensor w = tensor({3.0f});
  auto function = jit::trace([&](const Tensor &x) {
    ++calls;
    return x * w;
  });
  SECTION("TESS_DISABLE_TRACE") {
    ::setenv("TESS_DISABLE_TRACE", "1", 1);
    for (int i = 0; i < 3; ++i)
      CHECK(function(tensor({2.0f})).item<float>() == 6);
    ::unsetenv("TESS_DISABLE_TRACE");
  }
  SECTION("a manager") {
    GradManager manager;
    manager.attach(w);
    for (int i = 0; i < 3; ++i) {
      auto recording = manager.record();
      manager.backward(function(tensor({2.0f})));
    }
    CHECK(w.grad().item<float>() == 6);
  }
  CHECK(calls == 3);
}

TEST_CASE("a value cannot be read while tracing, and the next call works") {
  bool look = true;
  auto function = jit::trace([&](const Tensor &x) { return look ? x * (x + 1).item<float>() : x * 2; });
  auto error = thrown([&] { (void)function(tensor({1.0f})); });
  REQUIRE(error);
  CHECK(std::string(error->what()).find("trace: ") == 0);
  look = false;
  CHECK(function(tensor({1.0f})).item<float>() == 2);
}

TEST_CASE("a program goes through a file") {
  Linear linear(3, 2);
  auto function = jit::trace([&](const Tensor &x) { return functional::relu(linear(x)); });
  CHECK(thrown([&] { function.dump(pathOf("early.tess")); }));
  (void)function(uniform({4, 3}));
  std::string path = pathOf("linear.tess");
  function.dump(path, {.inputs = {"x"}, .outputs = {"y"}, .dims = {{"x", {{0, {"batch", 1, 64}}}}}});
  jit::Program program = jit::load(path);
  CHECK(program.inputs() == std::vector<std::string>{"x"});
  CHECK(program.outputs() == std::vector<std::string>{"y"});
  REQUIRE(program.dims().size() == 1);
  CHECK(program.dims()[0].name == "batch");
  CHECK(program.dims()[0].max == 64);
  CHECK(!program.graphText().empty());
  for (int64_t batch : {1, 7, 64}) {
    Tensor x = uniform({batch, 3});
    auto expected = functional::relu(linear(x)).toBytes();
    CHECK(program({x})[0].toBytes() == expected);
    CHECK(program.run({{"x", x}}).at("y").toBytes() == expected);
    CHECK(jit::load(path, /*allowCode=*/true)({x})[0].toBytes() == expected);
  }
  CHECK(program.plannedBytes() > 0);
  CHECK(thrown([&] { (void)program({uniform({65, 3})}); }));
  CHECK(thrown([&] { (void)program({}); }));
  CHECK(thrown([&] { (void)program.run({{"z", uniform({1, 3})}}); })->code() == ErrorCode::NotFound);
}

TEST_CASE("numerics of a function are those of its program and its file") {
  auto third = [](const Tensor &x) { return x / 3.0f / 7.0f; };
  auto strict = jit::trace(third), fast = jit::trace(third, /*fuse=*/true, jit::Numerics::Fast);
  Tensor x = uniform({1000});
  auto eager = strict(x).toBytes();
  CHECK(strict(x).toBytes() == eager);
  CHECK(fast(x).toBytes() == eager); // the first call is eager
  auto joined = fast(x).toBytes();
  CHECK(joined != eager);
  strict.dump(pathOf("strict.tess"));
  fast.dump(pathOf("fast.tess"));
  for (bool allowCode : {false, true}) {
    CHECK(jit::load(pathOf("strict.tess"), allowCode)({x})[0].toBytes() == eager);
    CHECK(jit::load(pathOf("fast.tess"), allowCode)({x})[0].toBytes() == joined);
  }
}

TEST_CASE("one tensor for several arguments is several inputs of the file") {
  Tensor weight = tensor({3.0f});
  auto sum = jit::trace([](const Tensor &x, const Tensor &y) { return x * 2.0f + y * 3.0f; });
  (void)sum(weight, weight);
  sum.dump(pathOf("sum.tess"), {.inputs = {"x", "y"}, .outputs = {"z"}});
  CHECK(jit::load(pathOf("sum.tess"))({tensor({1.0f}), tensor({10.0f})})[0].item<float>() == 32);
  auto beside = jit::trace([&](const Tensor &x) { return x * 10.0f + weight; });
  (void)beside(weight);
  beside.dump(pathOf("beside.tess"), {.inputs = {"x"}});
  CHECK(jit::load(pathOf("beside.tess"))({tensor({1.0f})})[0].item<float>() == 13);
  auto picky = jit::trace([](const Tensor &x, const Tensor &y) {
    if (x.ref() != y.ref())
      throw Error(ErrorCode::InvalidArgument, "they differ");
    return x + y;
  });
  (void)picky(weight, weight);
  CHECK_THAT(thrown([&] { picky.dump(pathOf("picky.tess")); })->what(),
             Catch::Contains("dump: inputs must be different tensors") && Catch::EndsWith("they differ"));
}

TEST_CASE("a dump that would fix a free size is refused") {
  jit::DumpOptions options = {.inputs = {"x"}, .dims = {{"x", {{0, {"n", 1, 64}}}}}};
  Tensor weight = tensor({2.0f});
  GradManager manager;
  manager.attach(weight);
  auto mean = jit::trace([&](const Tensor &x) {
    auto recording = manager.record();
    Tensor result = x * weight / double(x.shape()[0]);
    manager.backward(result.sum());
    return result;
  });
  (void)mean(uniform({4, 3}));
  Tensor grad = weight.grad();
  auto error = thrown([&] { mean.dump(pathOf("mean.tess"), options); });
  REQUIRE(error);
  CHECK_THAT(error->what(), Catch::Contains("dump: a free dimension must not be fixed in the program, got ") &&
                                Catch::Contains(" for n=4 and ") && Catch::Contains(" for n=5"));
  CHECK(weight.grad().ref() == grad.ref());

  Tensor rows = tensor({1.0f, 2.0f, 3.0f, 4.0f});
  auto add = jit::trace([&](const Tensor &x) { return x + rows; });
  (void)add(rows * 2);
  error = thrown([&] { add.dump(pathOf("add.tess"), options); });
  REQUIRE(error);
  CHECK_THAT(error->what(), Catch::Contains("must run at every size of its free dimensions, got n=5: add: "));

  auto parts = jit::trace([](const Tensor &x) {
    return std::make_tuple(x.index({-1}), x.index({Slice(1, {})}), x.index({ellipsis, Slice({}, {}, -1)}));
  });
  (void)parts(uniform({4, 3}));
  parts.dump(pathOf("parts.tess"), options);
  jit::Program program = jit::load(pathOf("parts.tess"));
  Tensor x = uniform({7, 3});
  CHECK(program({x})[0].toBytes() == x.index({6}).toBytes());
  CHECK(program({x})[1].toBytes() == x.index({Slice(1, 7)}).toBytes());
  CHECK(program({x})[2].toBytes() == x.index({Slice(), Slice({}, {}, -1)}).toBytes());
}

TEST_CASE("what a dumped function updates is state of the program") {
  Tensor count = tensor({0.0f});
  auto update = jit::trace([&](const Tensor &x) {
    count.assign(count + x);
    return count * 2;
  });
  (void)update(tensor({1.0f}));
  (void)update(tensor({1.0f}));
  update.dump(pathOf("count.tess"), {.inputs = {"x"}, .outputs = {"y"}});
  jit::Program program = jit::load(pathOf("count.tess")), other = jit::load(pathOf("count.tess"), true);
  CHECK(program.inputs() == std::vector<std::string>{"x"});
  CHECK(program.outputs() == std::vector<std::string>{"y"});
  for (float total : {12.0f, 22.0f, 32.0f})
    CHECK(program({tensor({10.0f})})[0].item<float>() == 2 * total);
  CHECK(program.state().at("captured0").item<float>() == 32);
  CHECK(other.run({{"x", tensor({1.0f})}}).at("y").item<float>() == 6);
  CHECK(count.item<float>() == 2);
  program.setState({{"captured0", tensor({-1.0f})}});
  CHECK(program({tensor({1.0f})})[0].item<float>() == 0);
  CHECK_THAT(thrown([&] { program.setState({{"captured0", tensor({1.0f, 2.0f})}}); })->what(),
             Catch::EndsWith("count.tess: state captured0 must be f32[1], got f32[2]"));
  CHECK_THAT(thrown([&] { program.setState({{"other", tensor({1.0f})}}); })->what(),
             Catch::EndsWith("count.tess: state must be one of the program's, got other"));
  auto grow = jit::trace([&](const Tensor &x) { count.assign(functional::concat({count, x})); });
  grow(tensor({1.0f}));
  CHECK_THAT(thrown([&] { grow.dump(pathOf("grow.tess")); })->what(),
             Catch::StartsWith("dump: an updated tensor must keep its dtype and shape, got captured0 of f32[2]"));
}

TEST_CASE("a dumped training step goes on as eager steps do") {
  seed(5);
  Sequential net;
  net.add<Conv2d>(1, 2, 3).add<BatchNorm2d>(2).add<Flatten>().add<Linear>(8, 3);
  GradManager manager;
  manager.attach(net.parameters());
  Adam optimizer(net.parameters(), {.lr = 0.01});
  auto body = tess::test::stepOf(net, manager, optimizer);
  auto step = jit::trace(body);
  Tensor x = uniform({8, 1, 4, 4}), y = tensor({0, 1, 2, 0, 1, 2, 0, 1});
  (void)step(x, y);
  (void)step(x, y);
  step.dump(pathOf("step.tess"), {.inputs = {"x", "y"}});
  jit::Program program = jit::load(pathOf("step.tess"));
  for (int i = 0; i < 3; ++i)
    CHECK(program({x, y})[0].toBytes() == body(x, y).toBytes());
}

TEST_CASE("what cannot be dumped is an error") {
  auto plain = jit::trace([](const Tensor &x) { return x + 1; });
  (void)plain(zeros({2, 2}));
  CHECK(thrown([&] { plain.dump(pathOf("names.tess"), {.inputs = {"a", "b"}}); }));
  CHECK(thrown([&] { plain.dump(pathOf("dims.tess"), {.inputs = {"a"}, .dims = {{"b", {{0, {"n"}}}}}}); }));
  CHECK(thrown([&] { plain.dump(pathOf("axis.tess"), {.inputs = {"a"}, .dims = {{"a", {{2, {"n"}}}}}}); }));
  CHECK(thrown([&] {
    plain.dump(pathOf("bounds.tess"), {.inputs = {"a"}, .dims = {{"a", {{0, {"n", 1, 4}}, {1, {"n", 1, 5}}}}}});
  }));
  CHECK(thrown([&] { (void)jit::load(pathOf("absent.tess")); }));
}
