//===- tensor_test.cpp - tensors of the C++ API --------------------------===//
#include "tessera/Random.h"
#include "tessera/functional.h"
#include "tests/frontends/cc/Thrown.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace tessera;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TEST_CASE("tensors come from data") {
  SECTION("lists") {
    Tensor x = tensor({1.0f, 2.0f, 3.0f});
    CHECK(x.dtype() == DType::Float32);
    CHECK(x.shape() == Shape{3});
    CHECK(x.toVector<float>() == Floats{1, 2, 3});
  }
  SECTION("lists of lists") {
    Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
    CHECK(x.dtype() == DType::Int32);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.toVector<int>() == std::vector<int>{1, 2, 3, 4, 5, 6});
  }
  SECTION("vectors with a shape") {
    CHECK(tensor(std::vector<double>{1, 2, 3, 4}, Shape{2, 2}).dtype() == DType::Float64);
    CHECK(tensor(std::vector<bool>{true, false}).toVector<bool>() == std::vector<bool>{true, false});
    CHECK(tensor(std::vector<float>{}, Shape{0, 3}).shape() == Shape{0, 3});
  }
  SECTION("memory") {
    const int16_t numbers[] = {7, -8};
    CHECK(fromData(numbers, {2, 1}).toVector<int16_t>() == std::vector<int16_t>{7, -8});
  }
  SECTION("nothing") {
    CHECK(zeros({2, 2}).toVector<float>() == Floats(4));
    CHECK(ones({2}, DType::Int64).toVector<int64_t>() == Ints{1, 1});
    CHECK(full({2}, 2.5, DType::Float64).toVector<double>() == std::vector<double>{2.5, 2.5});
    CHECK(arange(1, 2, 0.25).toVector<float>() == Floats{1, 1.25, 1.5, 1.75});
    CHECK(arange(3, 0, -1, DType::Int32).toVector<int>() == std::vector<int>{3, 2, 1});
    CHECK(arange(1, 0).shape() == Shape{0});
  }
}

TEST_CASE("creation says what is wrong") {
  auto wrongCount = thrown([] { (void)tensor(Floats{1, 2, 3}, Shape{2, 2}); });
  REQUIRE(wrongCount);
  CHECK(wrongCount->code() == ErrorCode::InvalidArgument);
  CHECK(std::string(wrongCount->what()) == "tensor: values must be as many as the shape says, got 3 for [2, 2]");
  CHECK(thrown([] { (void)tensor({{1, 2}, {3}}); }));
  CHECK(thrown([] { (void)fromBytes("", DType::Float32, {-1}); }));
  CHECK(thrown([] { (void)arange(0, 1, 0); }));
  CHECK(thrown([] { (void)Tensor().shape(); }));
}

TEST_CASE("operators compute and broadcast") {
  Tensor x = tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}), row = tensor({10.0f, 20.0f});
  CHECK((x + row).toVector<float>() == Floats{11, 22, 13, 24});
  CHECK((row - x).toVector<float>() == Floats{9, 18, 7, 16});
  CHECK((x * x).toVector<float>() == Floats{1, 4, 9, 16});
  CHECK((row / x).toVector<float>() == Floats{10, 10, 10.0f / 3, 5});
  CHECK((-x).toVector<float>() == Floats{-1, -2, -3, -4});
  CHECK(x.matmul(x).toVector<float>() == Floats{7, 10, 15, 22});
  CHECK((x > 2).toVector<bool>() == std::vector<bool>{false, false, true, true});
  CHECK((x <= 2).toVector<bool>() == std::vector<bool>{true, true, false, false});
  CHECK((x == 3).toVector<bool>() == std::vector<bool>{false, false, true, false});
  CHECK((x != 3).toVector<bool>() == std::vector<bool>{true, true, false, true});
  CHECK(((x > 1) & ~(x > 3) | (x == 1)).toVector<bool>() == std::vector<bool>{true, true, true, false});
  CHECK((tensor({6, 5}) & 3).toVector<int>() == std::vector<int>{2, 1});
  CHECK((row % 3).toVector<float>() == Floats{1, 2});
  CHECK((tensor({1, 2}) << 3).toVector<int>() == std::vector<int>{8, 16});
  CHECK(row.floor_div(3).toVector<float>() == Floats{3, 6});
  CHECK(x.pow(2).toVector<float>() == Floats{1, 4, 9, 16});
  CHECK((-x).abs().toVector<float>() == Floats{1, 2, 3, 4});
}

TEST_CASE("numbers keep the dtype of the tensor beside them") {
  CHECK((tensor({1.0, 2.0}) * 2).dtype() == DType::Float64);
  CHECK((tensor({1.0f}) + 0.5).dtype() == DType::Float32);
  CHECK((tensor({1}) + 1).dtype() == DType::Int32);
  CHECK((1 - tensor({0.25f})).item<float>() == 0.75f);
  CHECK(Tensor(2.5).dtype() == DType::Float32);
  CHECK(Tensor(2).dtype() == DType::Int32);
  CHECK(Tensor(true).dtype() == DType::Bool);
}

TEST_CASE("values are read in any type") {
  CHECK(tensor({1.75f}).item<double>() == 1.75);
  CHECK(tensor({1.0, 2.0}).toVector<int64_t>() == Ints{1, 2});
  CHECK(tensor({0, 3}).toVector<bool>() == std::vector<bool>{false, true});
  CHECK(full({1}, 0.5, DType::BFloat16).item<float>() == 0.5f);
  auto error = thrown([] { (void)tensor({1, 2}).item<int>(); });
  REQUIRE(error);
  CHECK(std::string(error->what()) == "item: a tensor must have one element, got shape [2]");
}

TEST_CASE("methods are functions") {
  Tensor x = arange(0, 6).reshape({2, 3});
  CHECK(x.transpose().shape() == Shape{3, 2});
  CHECK(x.transpose({1, 0}).toVector<float>() == Floats{0, 3, 1, 4, 2, 5});
  CHECK(x.reshape({3, -1}).shape() == Shape{3, 2});
  CHECK(x.flatten().shape() == Shape{6});
  CHECK(x.sum().item<float>() == 15);
  CHECK(x.sum({0}).toVector<float>() == Floats{3, 5, 7});
  CHECK(x.mean({1}, true).shape() == Shape{2, 1});
  CHECK(x.max({-1}).toVector<float>() == Floats{2, 5});
  CHECK(x.min().item<float>() == 0);
  CHECK(x.prod({1}).toVector<float>() == Floats{0, 60});
  CHECK(x.std({1}).toVector<float>() == Floats{std::sqrt(2.0f / 3), std::sqrt(2.0f / 3)});
  CHECK(x.astype(DType::Int8).dtype() == DType::Int8);
  CHECK(x.size(-1) == 3);
  CHECK(thrown([&] { (void)x.size(2); })->code() == ErrorCode::OutOfRange);
}

TEST_CASE("what Python flattens without an axis is flattened") {
  Tensor x = tensor({{1.0f, 5.0f}, {7.0f, 2.0f}});
  CHECK(x.argmax().item<int>() == 2);
  CHECK(functional::argmax(x).item<int>() == 2);
  CHECK(x.argmin(std::nullopt, true).shape() == Shape{1, 1});
  CHECK(x.argmax(0).toVector<int>() == std::vector<int>{1, 0});
  CHECK(x.argmax(-1, true).shape() == Shape{2, 1});
  CHECK(x.roll(1).toVector<float>() == Floats{2, 1, 5, 7});
  CHECK(x.roll(1).shape() == x.shape());
  CHECK(x.roll(1, 0).toVector<float>() == Floats{7, 2, 1, 5});
  CHECK(functional::repeat(x, 2).toVector<float>() == Floats{1, 1, 5, 5, 7, 7, 2, 2});
  CHECK(functional::repeat(x, 2, 1).shape() == Shape{2, 4});
}

TEST_CASE("an index takes what Python's takes") {
  Tensor x = arange(0, 24, 1, DType::Int64).reshape({2, 3, 4});
  CHECK(x.index({1, 2, 3}).item<int64_t>() == 23);
  CHECK(x.index({-1}).shape() == Shape{3, 4});
  CHECK(x.index({all, 1}).toVector<int64_t>() == Ints{4, 5, 6, 7, 16, 17, 18, 19});
  CHECK(x.index({ellipsis, 0}).toVector<int64_t>() == Ints{0, 4, 8, 12, 16, 20});
  CHECK(x.index({0, Slice(1, 3), Slice({}, {}, 2)}).toVector<int64_t>() == Ints{4, 6, 8, 10});
  CHECK(x.index({0, 0, Slice({}, {}, -1)}).toVector<int64_t>() == Ints{3, 2, 1, 0});
  CHECK(x.index({newAxis, 0, ellipsis, newAxis}).shape() == Shape{1, 3, 4, 1});
  CHECK(x.index({all, tensor({2, 0})}).toVector<int64_t>() ==
        Ints{8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15});
  CHECK(x.index({x > 21}).toVector<int64_t>() == Ints{22, 23});
}

TEST_CASE("an index says what is wrong") {
  Tensor x = zeros({2, 3});
  auto error = thrown([&] { (void)x.index({all, 3}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::OutOfRange);
  CHECK(std::string(error->what()) == "index: index must be in [-3, 2] for axis 1, got 3 for f32[2, 3]");
  CHECK(thrown([&] { (void)x.index({0, 0, 0}); }));
  CHECK(thrown([&] { (void)x.index({ellipsis, ellipsis}); }));
  CHECK(thrown([&] { (void)x.index({Slice({}, {}, 0)}); })->code() == ErrorCode::InvalidArgument);
  auto floats = thrown([&] { (void)x.index({tensor({0.5f})}); });
  REQUIRE(floats);
  CHECK(std::string(floats->what()) == "index: arrays of a key must be of ints or bools, got f32[1]");
}

TEST_CASE("masks stand beside other items") {
  Tensor x = arange(0, 24, 1, DType::Int64).reshape({2, 3, 4}), rows = tensor({1, 0, 1}).astype(DType::Bool);
  CHECK(x.index({1, rows, 0}).toVector<int64_t>() == Ints{12, 20});
  CHECK(x.index({all, rows, Slice(0, 1)}).toVector<int64_t>() == Ints{0, 8, 12, 20});
  CHECK(x.index({tensor({0, 1}), ellipsis, tensor({3, 0})}).shape() == Shape{2, 3});
}

TEST_CASE("setIndex puts values where an index takes them") {
  Tensor x = zeros({2, 3}, DType::Int64);
  x.setIndex({0, all}, tensor({1, 2, 3}));
  x.setIndex({all, -1}, 7.5);
  x.setIndex({tensor({1, 1}), tensor({0, 1})}, tensor({4, 5}));
  CHECK(x.toVector<int64_t>() == Ints{1, 2, 7, 4, 5, 7});
  x.setIndex({x > 4}, 0);
  CHECK(x.toVector<int64_t>() == Ints{1, 2, 0, 4, 0, 0});
  CHECK(thrown([&] { x.setIndex({0}, zeros({5})); }));
}

TEST_CASE("errors of operators come with their code") {
  auto error = thrown([] { (void)zeros({2, 3}).matmul(zeros({4, 5})); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error->what()).find("matmul: ") == 0);
}

TEST_CASE("handles share a variable, assign() reaches all of them") {
  Tensor x = tensor({1.0f}), same = x, other = x + 0;
  x.assign(tensor({5.0f}));
  CHECK(same.item<float>() == 5);
  CHECK(other.item<float>() == 1);
  CHECK(thrown([] { Tensor(3).assign(tensor({1})); }));
}

TEST_CASE("tensors print") {
  CHECK(toString(tensor({{1.5f, 2.0f}, {-3.0f, NAN}})) == "Tensor([[1.5, 2],\n [-3, nan]], dtype=float32)");
  CHECK(toString(tensor(7)) == "Tensor(7, dtype=int32)");
  CHECK(toString(tensor({true})) == "Tensor([true], dtype=bool)");
  CHECK(toString(Tensor()) == "Tensor()");
  std::string many = toString(arange(0, 2000, 1, DType::Int32));
  CHECK(many == "Tensor([0, 1, 2, ..., 1997, 1998, 1999], dtype=int32)");
}

TEST_CASE("random numbers follow from the seed") {
  Generator a(3), b(3), c(4);
  Floats first = a.uniform({1000}).toVector<float>();
  CHECK(b.uniform({1000}).toVector<float>() == first);
  CHECK(c.uniform({1000}).toVector<float>() != first);
  CHECK(a.uniform({1000}).toVector<float>() != first);
  a.reseed(3);
  CHECK(a.uniform({1000}).toVector<float>() == first);
  for (float value : first)
    CHECK((value >= 0 && value < 1));
  Tensor normal = a.normal({10000}, 2, 3);
  CHECK(std::abs(normal.mean().item<float>() - 2) < 0.15);
  Ints order = a.permutation(100);
  std::sort(order.begin(), order.end());
  CHECK(order == arange(0, 100).toVector<int64_t>());
}
