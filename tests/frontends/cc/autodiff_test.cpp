//===- autodiff_test.cpp - gradients -------------------------------------===//
#include "tessera/Autodiff.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

using namespace tessera;
using Floats = std::vector<float>;

TEST_CASE("backward gives gradients of attached tensors") {
  Tensor x = tensor({1.0f, 2.0f}), y = tensor({3.0f, 4.0f});
  GradManager manager;
  manager.attach(x);
  {
    auto recording = manager.record();
    CHECK(manager.isRecording());
    manager.backward((x * x * y).sum());
  }
  CHECK(!manager.isRecording());
  CHECK(x.grad().toVector<float>() == Floats{6, 16});
  CHECK(!y.grad().isDefined());
}

TEST_CASE("gradients add up until they are cleared") {
  Tensor x = tensor({2.0f});
  GradManager manager;
  manager.attach(x);
  for (int i = 0; i < 3; ++i) {
    auto recording = manager.record();
    manager.backward(x * 5);
  }
  CHECK(x.grad().item<float>() == 15);
  x.setGrad(Tensor());
  CHECK(!x.grad().isDefined());
}

TEST_CASE("several results are weighted") {
  Tensor x = tensor({2.0f, 3.0f});
  GradManager manager;
  manager.attach(x);
  auto recording = manager.record();
  manager.backward({x * x, x + 1}, {tensor({1.0f, 10.0f}), Tensor()});
  CHECK(x.grad().toVector<float>() == Floats{5, 61});
}

TEST_CASE("NoGrad and the end of the scope stop recording") {
  Tensor x = tensor({2.0f});
  GradManager manager;
  manager.attach(x);
  Tensor before;
  {
    auto recording = manager.record();
    before = x * 2;
  }
  auto recording = manager.record();
  {
    NoGrad noGrad;
    before = before + x;
  }
  manager.backward(before + x);
  CHECK(x.grad().item<float>() == 1);
}

TEST_CASE("the outer manager differentiates the inner one's backward") {
  Tensor x = tensor({3.0f});
  GradManager outer, inner;
  outer.attach(x);
  inner.attach(x);
  auto recording = outer.record();
  {
    auto first = inner.record();
    inner.backward(x * x * x);
  }
  Tensor first = x.grad();
  CHECK(first.item<float>() == 27);
  x.setGrad(Tensor());
  outer.backward(first);
  CHECK(x.grad().item<float>() == 18);
}

TEST_CASE("callbacks change what is added") {
  Tensor x = tensor({3.0f});
  GradManager manager;
  manager.attach(x, [](const Tensor &, const Tensor &grad) { return grad * 100; });
  auto recording = manager.record();
  manager.backward(x * 2);
  CHECK(x.grad().item<float>() == 200);
}

TEST_CASE("misuse is an error") {
  GradManager manager;
  CHECK(thrown([&] { manager.backward(tensor({1.0f})); }));
  auto recording = manager.record();
  CHECK(thrown([&] { auto again = manager.record(); }));
}
