//===- control_test.cpp - branches and loops -----------------------------===//
#include "eager/tracing/TracedProgram.h"
#include "tessera/Autodiff.h"
#include "tessera/Control.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

using namespace tessera;
using Floats = std::vector<float>;
using Bytes = std::vector<std::vector<char>>;

/// The bytes of trees of tensors.
template <typename... Tree> static Bytes bits(const Tree &...trees) {
  Bytes all;
  for (const std::vector<Tensor> &tensors : {detail::Leaves(trees).tensors...})
    for (const Tensor &tensor : tensors)
      all.push_back(tensor.toBytes());
  return all;
}

/// A step of a network that carries two values and gives two.
static auto step(const Tensor &w) {
  return [w](const std::pair<Tensor, Tensor> &carried, const Tensor &x) {
    Tensor a = functional::tanh(carried.first * w + x * carried.second);
    return std::pair(std::pair(a, carried.second * a + a), std::vector<Tensor>{a * w, a});
  };
}

TEST_CASE("a scan is the loop of the language") {
  Tensor xs = uniform({4, 3}), w = uniform({3}), h = uniform({3});
  for (bool reverse : {false, true}) {
    auto [last, ys] = scan(step(w), std::pair(h, w), xs, {.reverse = reverse});
    std::pair<Tensor, Tensor> now(h, w);
    std::vector<std::vector<Tensor>> parts(4);
    for (int64_t i = 0; i < 4; ++i) {
      int64_t place = reverse ? 3 - i : i;
      std::tie(now, parts[place]) = step(w)(now, xs.index({place}));
    }
    CHECK(bits(last) == bits(now));
    for (int64_t i = 0; i < 4; ++i)
      CHECK(bits(ys[0].index({i}), ys[1].index({i})) == bits(parts[i]));
  }
}

TEST_CASE("steps give several values, one or none") {
  Tensor xs = tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}), zero = zeros({2});
  CHECK(scan([](const Tensor &sum, const Tensor &x) { return sum + x; }, zero, xs).toVector<float>() == Floats{4, 6});
  auto doubled = scan([](const Tensor &x) { return std::pair(x * 2, x); }, ones({}), {.length = 3});
  CHECK(doubled.first.item<float>() == 8);
  CHECK(doubled.second.toVector<float>() == Floats{1, 2, 4});
  std::map<std::string, Tensor> named = {{"sum", zero}, {"last", zero}};
  auto result = scan(
      [](const std::map<std::string, Tensor> &carried, const std::tuple<Tensor, Tensor> &x) {
        return std::map<std::string, Tensor>{{"sum", carried.at("sum") + std::get<0>(x)}, {"last", std::get<1>(x)}};
      },
      named, std::tuple(xs, xs * 2));
  CHECK(result["sum"].toVector<float>() == Floats{4, 6});
  CHECK(result["last"].toVector<float>() == Floats{6, 8});
}

TEST_CASE("a traced loop is one operator, with the same bits, whatever its length") {
  for (int64_t trips : {0, 1, 7}) {
    Tensor xs = uniform({trips, 3}), w = uniform({3}), h = uniform({3});
    auto run = [](const Tensor &w, const Tensor &h, const Tensor &xs) {
      auto [last, ys] = scan(step(w), std::pair(h, w), xs);
      return std::vector<Tensor>{last.first, last.second, ys[0], ys[1]};
    };
    Bytes expected = bits(run(w, h, xs));
    auto traced = jit::trace(run);
    for (int i = 0; i < 3; ++i)
      CHECK(bits(traced(w, h, xs)) == expected);
    CHECK(traced.program()->graphText().find("tess.scan") != std::string::npos);
  }
}

TEST_CASE("gradients are those of the loop") {
  Tensor w = uniform({3}), h = uniform({3}), xs = uniform({4, 3});
  GradManager manager;
  manager.attach({w, h, xs});
  auto gradients = [&](auto loop) {
    {
      auto recording = manager.record();
      auto [last, ys] = loop();
      manager.backward((ys * ys).sum() + (last.second * w).sum());
    }
    std::vector<Tensor> grads;
    for (const Tensor &each : {w, h, xs}) {
      grads.push_back(each.grad());
      each.setGrad(Tensor());
    }
    return grads;
  };
  auto byScan = [&] {
    auto [last, ys] = scan(step(w), std::pair(h, w), xs);
    return std::pair(last, ys[0]);
  };
  auto byLoop = [&] {
    std::pair<Tensor, Tensor> now(h, w);
    std::vector<Tensor> ys;
    for (int64_t i = 0; i < 4; ++i) {
      auto [next, y] = step(w)(now, xs.index({i}));
      now = next;
      ys.push_back(y[0]);
    }
    return std::pair(now, functional::stack(ys, 0));
  };
  std::vector<Tensor> expected = gradients(byScan), loop = gradients(byLoop);
  for (size_t i = 0; i < 3; ++i) { // the order of sums is another
    Floats one = expected[i].toVector<float>(), other = loop[i].toVector<float>();
    for (size_t j = 0; j < one.size(); ++j)
      CHECK(one[j] == Approx(other[j]).epsilon(1e-5));
  }
  auto traced = jit::trace([&] { return gradients(byScan); });
  for (int i = 0; i < 3; ++i)
    CHECK(bits(traced()) == bits(expected));
}

TEST_CASE("a gradient of a gradient goes through loops") {
  Tensor w = uniform({3}), xs = uniform({4, 3});
  GradManager outer, inner;
  outer.attach(w);
  inner.attach(w);
  auto run = [&] {
    auto outside = outer.record();
    {
      auto inside = inner.record();
      auto [last, ys] =
          scan([&](const Tensor &h, const Tensor &x) { return std::pair(functional::sin(h * w + x), h * w); }, w, xs);
      inner.backward((last * last).sum() + ys.sum());
    }
    Tensor first = w.grad();
    w.setGrad(Tensor());
    outer.backward((first * first).sum());
    Tensor second = w.grad();
    w.setGrad(Tensor());
    return std::tuple(first, second);
  };
  Bytes expected = bits(run());
  auto traced = jit::trace(run);
  for (int i = 0; i < 2; ++i)
    CHECK(bits(traced()) == expected);
}

TEST_CASE("loops are in loops") {
  auto run = [](const Tensor &h, const Tensor &xs) {
    auto outer = [](const Tensor &h, const Tensor &x) {
      auto [k, ys] = scan([&](const Tensor &k, const Tensor &y) { return std::pair(k * 0.5 + y, k + h); }, h, x);
      Tensor squared = scan([](const Tensor &k) { return k * k; }, k, {.length = 2});
      return std::pair(k, std::pair(ys, squared));
    };
    auto [last, ys] = scan(outer, h, xs);
    return std::tuple(last, ys.first, ys.second);
  };
  Tensor h = uniform({3}), xs = uniform({4, 2, 3});
  auto traced = jit::trace(run);
  for (int i = 0; i < 2; ++i)
    CHECK(bits(traced(h, xs)) == bits(run(h, xs)));
}

TEST_CASE("what a step changes goes from trip to trip") {
  auto make = [](bool isTraced) {
    seed(3);
    Tensor count = tensor(0.0f);
    BatchNorm1d norm(4);
    auto run = [&](const Tensor &h, const Tensor &xs) {
      auto [last, ys] = scan(
          [&](const Tensor &h, const Tensor &x) {
            count.assign(count + 1);
            Tensor next = functional::tanh(norm(h + x) * uniform({5, 4}));
            return std::pair(next, next * count);
          },
          h, xs);
      return std::tuple(last, ys);
    };
    auto traced = jit::trace(run);
    Tensor h = full({5, 4}, 0.5), xs = arange(0, 60).reshape({3, 5, 4}) * 0.1;
    Bytes all;
    for (int i = 0; i < 3; ++i) {
      Bytes some = isTraced ? bits(traced(h, xs)) : bits(run(h, xs));
      all.insert(all.end(), some.begin(), some.end());
    }
    Bytes state = bits(count, norm.runningMean, norm.runningVar);
    all.insert(all.end(), state.begin(), state.end());
    CHECK(count.item<float>() == 9);
    return all;
  };
  CHECK(make(true) == make(false));
}

TEST_CASE("one of two branches runs") {
  Tensor calls = tensor(0.0f);
  auto run = [&](const Tensor &pred, const Tensor &x) {
    return cond(
        pred,
        [&](const Tensor &x) {
          calls.assign(calls + 1);
          return std::array{x * 2, uniform({2})};
        },
        [](const Tensor &x) { return std::array{-x, zeros({2})}; }, x);
  };
  auto traced = jit::trace([&](const Tensor &pred, const Tensor &x) {
    auto [value, noise] = run(pred, x);
    return std::tuple(value, noise);
  });
  Tensor x = tensor({1.0f, -2.0f});
  seed(1);
  Bytes expected;
  for (bool holds : {true, false, true, true})
    expected.push_back(bits(run(tensor(holds), x))[1]);
  CHECK(calls.item<float>() == 3);
  seed(1);
  Bytes got;
  for (bool holds : {true, false, true, true}) {
    auto [value, noise] = traced(tensor(holds), x);
    CHECK(value.toVector<float>() == (holds ? Floats{2, -4} : Floats{-1, 2}));
    got.push_back(noise.toBytes());
  }
  CHECK(got == expected);
  CHECK(calls.item<float>() == 6);
  CHECK(traced.program() != nullptr);
}

TEST_CASE("a branch has a gradient") {
  Tensor x = tensor({3.0f, -4.0f});
  GradManager manager;
  manager.attach(x);
  auto slope = [&](const Tensor &limit) {
    auto recording = manager.record();
    manager.backward(cond(x.sum() < limit, [&] { return x * x; }, [&] { return x * 7; }).sum());
    Tensor grad = x.grad();
    x.setGrad(Tensor());
    return grad;
  };
  auto traced = jit::trace(slope);
  for (float limit : {5.0f, -5.0f, 5.0f, -5.0f}) {
    Floats expected = limit > 0 ? Floats{6, -8} : Floats{7, 7};
    CHECK(slope(tensor(limit)).toVector<float>() == expected);
    CHECK(traced(tensor(limit)).toVector<float>() == expected);
  }
}

/// The steps to 1 of the numbers of L. Collatz.
static Tensor collatz(const Tensor &n, std::optional<int64_t> maxTrips) {
  auto body = [](const Tensor &n, const Tensor &steps) {
    Tensor next = cond(
        functional::mod(n, 2) == 0, [](const Tensor &n) { return functional::floor_div(n, 2); },
        [](const Tensor &n) { return n * 3 + 1; }, n);
    return std::tuple(next, steps + 1);
  };
  auto goesOn = [](const Tensor &n, const Tensor &) { return n > 1; };
  return std::get<1>(whileLoop(goesOn, body, std::tuple(n, tensor(int32_t(0))), maxTrips));
}

TEST_CASE("a loop goes on while its condition holds") {
  for (std::optional<int64_t> maxTrips :
       {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(5)}) {
    auto traced = jit::trace([&](const Tensor &n) { return collatz(n, maxTrips); });
    for (auto [number, steps] : {std::pair(1, 0), std::pair(6, 8), std::pair(27, 111), std::pair(6, 8)}) {
      int64_t expected = std::min<int64_t>(steps, maxTrips.value_or(1000));
      CHECK(collatz(tensor(int32_t(number)), maxTrips).item<int64_t>() == expected);
      CHECK(traced(tensor(int32_t(number))).item<int64_t>() == expected);
    }
  }
}

TEST_CASE("a loop that data ends has a gradient") {
  Tensor x = tensor({0.5f, 1.0f}), w = tensor({0.25f, 0.75f});
  GradManager manager;
  manager.attach({x, w});
  auto gradients = [&](const Tensor &limit) {
    auto recording = manager.record();
    Tensor last = whileLoop([&](const Tensor &y) { return y.sum() < limit; },
                            [&](const Tensor &y) { return functional::tanh(y * w) + y * 1.5; }, x);
    manager.backward(last.sum());
    std::tuple grads(last, x.grad(), w.grad());
    x.setGrad(Tensor());
    w.setGrad(Tensor());
    return grads;
  };
  auto traced = jit::trace(gradients);
  for (float limit : {20.0f, 3.0f, 2.0f, 20.0f})
    CHECK(bits(traced(tensor(limit))) == bits(gradients(tensor(limit))));
}

TEST_CASE("a file keeps a loop for any number of trips") {
  Tensor w = uniform({3}), h = uniform({3});
  auto run = [&](const Tensor &xs) { return std::get<0>(scan(step(w), std::pair(h, w), xs)).first; };
  auto traced = jit::trace(run);
  (void)traced(uniform({4, 3}));
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/scan.tess";
  traced.dump(path, {.inputs = {"xs"}, .outputs = {"last"}, .dims = {{"xs", {{0, {"steps", 0}}}}}});
  for (bool allowCode : {false, true}) {
    jit::Program program = jit::load(path, allowCode);
    for (int64_t trips : {0, 1, 4, 9}) {
      Tensor xs = uniform({trips, 3});
      CHECK(bits(program({xs})) == bits(run(xs)));
    }
  }
}

TEST_CASE("a step that looks at a size of data runs trip by trip") {
  auto run = [](const Tensor &xs) {
    auto trip = [](const Tensor &sum, const Tensor &x) {
      Tensor positive = functional::mask_get(x, x > 0);
      return sum + double(positive.size(0)) * positive.sum();
    };
    return scan(trip, zeros({}), xs);
  };
  auto traced = jit::trace(run);
  for (int i = 0; i < 3; ++i) {
    Tensor xs = uniform({4, 6}) - 0.5;
    CHECK(bits(traced(xs)) == bits(run(xs)));
  }
}

TEST_CASE("a scan refuses what does not fit") {
  Tensor h = zeros({3}), xs = zeros({2, 3});
  auto sum = [](const Tensor &h, const Tensor &x) { return h + x; };
  auto check = [&](auto call, ErrorCode code, const std::string &message) {
    auto traced = jit::trace(call);
    for (auto &&error : {thrown(call), thrown([&] { traced(); })}) {
      REQUIRE(error);
      CHECK(error->code() == code);
      CHECK_THAT(error->what(), Catch::StartsWith(message));
    }
    CHECK(bits(jit::trace([&] { return scan(sum, h, xs); })()) == bits(scan(sum, h, xs))); // nothing is left behind
  };
  using enum ErrorCode;
  check([&] { return scan([](const Tensor &h, const Tensor &) { return h.index({Slice(0, 1)}); }, h, xs); },
        InvalidArgument,
        "scan: step must return each carried value with the dtype and shape that it takes, got f32[1]");
  check([&] { return scan(sum, h, zeros({})); }, InvalidArgument,
        "scan: xs must have an axis for the trips, got f32[]");
  check([&] { return scan([](const Tensor &h) { return h; }, h, {}); }, InvalidArgument,
        "scan: length must be given where there are no xs, got none");
  check([&] { return scan([](const Tensor &h) { return h; }, h, {.length = -1}); }, InvalidArgument,
        "scan: length must be at least 0, got -1");
  check([&] { return scan(sum, h, xs, {.length = 5}); }, InvalidArgument,
        "scan: length must be the size of axis 0 of all xs, got 5");
  using List = std::vector<Tensor>;
  check([&] { return scan([](const List &h, const Tensor &) { return List{h[0], h[0]}; }, List{h}, xs); }, TypeMismatch,
        "scan: step must return carried values in containers of the same sizes, got [2] and [1]");
  check([&] { return scan([](const Tensor &, const Tensor &) { return Tensor(); }, h, xs); }, InvalidArgument,
        "tensor: a value must be given, got a tensor that is not defined");
}

TEST_CASE("branches and while loops refuse what does not fit") {
  Tensor x = zeros({3}), holds = tensor(true);
  auto same = [&] { return x; };
  auto check = [](auto call, ErrorCode code, const std::string &message) {
    auto error = thrown([&] { jit::trace(call)(); });
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK_THAT(error->what(), Catch::StartsWith(message));
  };
  using enum ErrorCode;
  check([&] { return cond(x, same, same); }, TypeMismatch, "cond: pred must be a bool tensor, got f32[3]");
  check([&] { return cond(x > 0, same, same); }, InvalidArgument, "cond: pred must have rank 0, got bool[3]");
  check([&] { return cond(holds, same, [&] { return zeros({2}); }); }, InvalidArgument,
        "cond: both branches must return the same dtypes and shapes, got [f32[3]] and [f32[2]]");
  using List = std::vector<Tensor>;
  check([&] { return cond(holds, [&] { return List{x}; }, [&] { return List{x, x}; }); }, TypeMismatch,
        "cond: both branches must return values in containers of the same sizes, got [2] and [1]");
  auto next = [](const Tensor &x) { return x + 1; };
  check([&] { return whileLoop([](const Tensor &x) { return x; }, next, x); }, TypeMismatch,
        "while_loop: the result of cond must be a bool tensor, got f32[3]");
  check([&] { return whileLoop([](const Tensor &x) { return x < 1; }, next, x); }, InvalidArgument,
        "while_loop: the result of cond must have rank 0, got bool[3]");
  check(
      [&] {
        return whileLoop([](const Tensor &x) { return x.sum() < 1; }, [](const Tensor &x) { return x.sum(); }, x);
      },
      InvalidArgument, "while_loop: body must return each carried value with the dtype and shape that it takes");
  check([&] { return whileLoop([](const Tensor &x) { return x.sum() < 1; }, next, x, -1); }, InvalidArgument,
        "while_loop: max_trips must be at least 0, got -1");
}

TEST_CASE("sequences refuse what does not fit") {
  LSTM lstm(3, 4, {.numLayers = 2});
  GRU gru(3, 4);
  Tensor x = zeros({5, 2, 3}), h = zeros({2, 2, 4});
  auto message = [](auto call) { return std::string(thrown(call).value().what()); };
  CHECK(message([&] { gru(x, h); }) == "GRU: hx must have 3 axes, the first of 1 cells, got float32[2, 2, 4]");
  CHECK(message([&] { lstm(x, {h, zeros({2, 4})}); }) ==
        "LSTM: hx must have 3 axes, the first of 2 cells, got float32[2, 4]");
  CHECK(message([&] { lstm(zeros({5, 3})); }) == "lstm: inp must have 3 axes, got float32[5, 3]");
}

TEST_CASE("an exception of a step is the user's") {
  struct Mine {};
  auto run = [](const Tensor &xs) {
    return scan([](const Tensor &, const Tensor &) -> Tensor { throw Mine(); }, zeros({3}), xs);
  };
  Tensor xs = zeros({2, 3});
  CHECK_THROWS_AS(run(xs), Mine);
  CHECK_THROWS_AS(jit::trace(run)(xs), Mine);
}
