//===- custom_ops_test.cpp - operators that users bring, by name ----------===//
#include "tessera/Autodiff.h"
#include "tessera/CustomOps.h"
#include "tessera/Jit.h"
#include "tessera/Random.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace tessera;
using Floats = std::vector<float>;

namespace {

constexpr const char *kAwkward = "tests/custom/libawkward.so"; // among the runfiles

/// The only result of an operator of the library of awkward ones, which is loaded.
Tensor call(const std::string &name, const std::vector<Tensor> &operands, const Parameters &parameters = {}) {
  loadLibrary(kAwkward);
  return callOperator("awkward::" + name, operands, parameters).front();
}

Tensor matrix() { return tensor<float>({{-1, 2, 3}, {4, -5, 6}}); }

} // namespace

TEST_CASE("operators of a library run by name") {
  CHECK(call("scaled_relu", {matrix()}, {{"scale", 2}}).toVector<float>() == Floats{0, 4, 6, 8, 0, 12});
  CHECK(call("scaled_relu", {matrix()}).toVector<float>() == Floats{0, 2, 3, 4, 0, 6});
  const std::vector<Tensor> moments = callOperator("awkward::moments", {tensor<float>({{1, 3}, {2, 2}})});
  REQUIRE(moments.size() == 2);
  CHECK(moments[0].toVector<float>() == Floats{2, 2});
  CHECK(moments[1].toVector<float>() == Floats{1, 0});
  const Tensor mean = call("weighted", {matrix(), matrix()}, {{"weights", IntList{1, 3}}, {"mode", "mean"}});
  CHECK(mean.toVector<float>() == Floats{-2, 4, 6, 8, -10, 12});
  CHECK(call("positives", {tensor<int64_t>({3, -1, 7})}).toVector<int64_t>() == std::vector<int64_t>{3, 7});
}

TEST_CASE("a trace and its file run them") {
  loadLibrary(kAwkward);
  auto function = jit::trace([](const Tensor &x) { return call("scaled_relu", {x * 2}, {{"scale", 0.5}}) + 1; });
  for (int i = 0; i < 3; ++i)
    CHECK(function(matrix()).toVector<float>() == Floats{1, 3, 4, 5, 1, 7});
  CHECK(function.program() != nullptr);
  const char *folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder ? folder : "/tmp") + "/custom.tess";
  jit::DumpOptions options;
  options.inputs = {"x"};
  function.dump(path, options);
  CHECK(jit::load(path)({matrix()})[0].toVector<float>() == Floats{1, 3, 4, 5, 1, 7});
}

TEST_CASE("gradients go through them") {
  Tensor x = matrix();
  GradManager manager;
  manager.attach(x);
  auto recording = manager.record();
  manager.backward(call("scaled_relu", {x * x}, {{"scale", 3}}).sum());
  CHECK(x.grad().toVector<float>() == Floats{-6, 12, 18, 24, -30, 36});
}

TEST_CASE("states change in place") {
  Tensor total = zeros({2, 3});
  const Tensor again = total;
  (void)call("running_sum", {matrix(), total});
  CHECK(call("running_sum", {matrix(), total}).toVector<float>() == Floats{-2, 4, 6, 8, -10, 12});
  CHECK(again.toVector<float>() == Floats{-2, 4, 6, 8, -10, 12});
  auto step = jit::trace([&](const Tensor &x) { return call("running_sum", {x, total}); });
  for (int i = 0; i < 2; ++i)
    (void)step(matrix());
  CHECK(again.toVector<float>() == Floats{-4, 8, 12, 16, -20, 24});
}

TEST_CASE("random numbers are those of the generator") {
  auto drawn = [](bool isTraining) {
    return call("noise", {zeros({4})}, {{"is_training", isTraining}}).toVector<float>();
  };
  seed(5);
  const Floats first = drawn(true), second = drawn(true);
  CHECK(first != second);
  CHECK(drawn(false) == Floats(4, 0));
  seed(5);
  CHECK(drawn(true) == first);
  CHECK(defaultGenerator().offsetState().item<int64_t>() == int64_t(1) << 32);
}

TEST_CASE("an unknown operator, library or parameter is named") {
  loadLibrary(kAwkward);
  auto message = [](auto function) {
    std::optional<Error> error = thrown(function);
    return error ? std::string(error->what()) : "";
  };
  for (const char *name : {"awkward::nothing", "nowhere::relu", "relu", "awkward::moments.backward"})
    CHECK(message([&] { (void)callOperator(name, {matrix()}); }) ==
          "callOperator: the library must be loaded that has the operator, got '" + std::string(name) + "'");
  CHECK_THAT(message([] { loadLibrary("nowhere.so"); }),
             Catch::Contains("load_library: a library must be a file, got"));
  CHECK_THAT(message([] { (void)call("scaled_relu", {matrix()}, {{"scale", 0.0}}); }),
             Catch::Contains("scale must be in [0.001, 1000.0], got 0.0"));
  CHECK_THAT(message([] { (void)call("scaled_relu", {matrix()}, {{"other", 1}}); }), Catch::Contains("other"));
  CHECK_THAT(message([] { (void)call("weighted", {matrix()}); }), Catch::Contains("weights"));
  CHECK_THAT(message([] { (void)call("matvec", {matrix()}); }), Catch::Contains("matvec"));
}
