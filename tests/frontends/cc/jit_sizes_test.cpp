//===- jit_sizes_test.cpp - traced functions at other sizes ---------------===//
#include "tessera/Autodiff.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tessera;

/// Runs `plain`, traced, on rows of each count, three times in turn (the second shows that other tensors do the same),
/// and counts its programs.
template <typename F> static size_t programsFor(F plain, const std::vector<int64_t> &counts) {
  auto function = jit::trace(plain);
  std::set<const void *> programs;
  for (int round = 0; round < 3; ++round)
    for (int64_t count : counts) {
      Tensor x = uniform({count, 3});
      CHECK(function(x).toBytes() == plain(x).toBytes());
      if (auto program = function.program())
        programs.insert(program.get());
    }
  return programs.size();
}

static std::vector<int64_t> lengths(int64_t from, int64_t count) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(from + i);
  return list;
}

TEST_CASE("calls with other sizes share a program") {
  auto rows = [](const Tensor &x) { return functional::softmax(functional::tanh(x * 2), 1).sum(); };
  CHECK(programsFor(rows, lengths(2, 20)) == 1);
  std::vector<int64_t> again = lengths(2, 20);
  again.insert(again.begin(), 3, 5); // the first sizes have a program of their own once they run compiled
  CHECK(programsFor(rows, again) == 2);
  CHECK(programsFor(rows, lengths(0, 4)) == 3); // sizes of 0 and 1 are never free
}

TEST_CASE("a function that does something else at other sizes has a program for each") {
  auto mean = [](const Tensor &x) { return x.sum() / double(x.size(0)); };
  CHECK(programsFor(mean, {4, 7, 9}) == 3);
  auto branch = [](const Tensor &x) { return x.size(0) > 5 ? x * 2 : x + 1; };
  CHECK(programsFor(branch, {4, 3, 7, 9}) <= 4);
  auto refusal = jit::trace([&](const Tensor &x) { return functional::matmul(x, uniform({3, 2})); });
  (void)refusal(uniform({2, 3}));
  auto error = thrown([&] { (void)refusal(uniform({2, 4})); });
  REQUIRE(error);
  CHECK(std::string(error->what()).find("matmul: dimension K must match") == 0);
  CHECK(refusal(uniform({5, 3})).shape() == Shape{5, 2});
}

TEST_CASE("a training step runs at other sizes with the same bits") {
  auto train = [](bool isTraced) {
    seed(7);
    Linear net(3, 2);
    GradManager manager;
    manager.attach(net.parameters());
    SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});
    auto plain = [&](const Tensor &x) {
      auto recording = manager.record();
      Tensor y = net(x), loss = (y * y).sum();
      manager.backward(loss);
      optimizer.step().clearGrad();
      return loss;
    };
    auto traced = jit::trace(plain);
    std::vector<float> losses;
    for (int64_t rows : {4, 4, 6, 3, 6, 9})
      losses.push_back((isTraced ? traced(uniform({rows, 3})) : plain(uniform({rows, 3}))).template item<float>());
    return losses;
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("a program serves the sizes that data decides") {
  std::set<const void *> programs;
  auto plain = [](const Tensor &x) { return functional::non_zero(x) * 2; };
  auto asks = [](const Tensor &x) { return x * double(functional::non_zero(x).size(0)); };
  auto traced = jit::trace(plain);
  auto eager = jit::trace(asks);
  for (int ones : {2, 3, 0, 4, 1}) {
    std::vector<float> values(4, 0);
    std::fill(values.begin(), values.begin() + ones, 1);
    Tensor x = tensor(values);
    CHECK(traced(x).toBytes() == plain(x).toBytes());
    CHECK(eager(x).toBytes() == asks(x).toBytes());
    if (traced.program())
      programs.insert(traced.program().get());
    CHECK(eager.program() == nullptr);
  }
  CHECK(programs.size() == 1);
}

TEST_CASE("a call whose program does not take the sizes of data runs eagerly") {
  auto total = [](const Tensor &x) {
    Tensor chosen = functional::flatten(functional::non_zero(x));
    return functional::sum_to(chosen, functional::slice(chosen, {0}, {1}));
  };
  auto traced = jit::trace(total);
  Tensor one = tensor(std::vector<float>{1, 0}), more = tensor(std::vector<float>{1, 1});
  for (const Tensor &x : {one, one, one, more, one})
    CHECK(traced(x).toBytes() == total(x).toBytes());
  CHECK(traced.program() != nullptr);
  auto product = [](const Tensor &x) { return functional::non_zero(x) * ones({2, 1}); };
  auto refusing = jit::trace(product);
  for (int i = 0; i < 3; ++i)
    CHECK(refusing(more).toBytes() == product(more).toBytes());
  CHECK_THROWS_WITH(refusing(tensor(std::vector<float>{1, 1, 1})), Catch::Contains("mul: operands must broadcast"));
}
