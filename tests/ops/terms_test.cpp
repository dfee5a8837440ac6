// What terms of records call: comparisons that a size leaves open, and lists.
#include "ops/graphs/Terms.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::terms;

static const int64_t kOpen = sizes::symbol(0), kOther = sizes::symbol(1);

TEST_CASE("a comparison that a size leaves open holds") {
  CHECK((mayEqual(2, 2) && !mayEqual(2, 3) && mayEqual(kUnknown, 3) && mayEqual(kOpen, 3)));
  CHECK((mayDiffer(2, 3) && !mayDiffer(2, 2) && mayDiffer(kUnknown, 3)));
  CHECK((mayBeBelow(2, 3) && !mayBeBelow(3, 3) && mayBeBelow(kOpen, 0)));
  CHECK((mayBeAtMost(3, 3) && !mayBeAtMost(4, 3) && mayBeAtMost(4, kUnknown)));
  CHECK((mayDivide(2, 6) && !mayDivide(4, 6) && mayDivide(4, kOpen)));
  CHECK((mayEqual({2, kUnknown}, {2, 3}) && !mayEqual({2, 3}, {2, 4}) && !mayEqual({2}, {2, 2})));
  CHECK((mayFit({1, 3}, {2, 3}) && !mayFit({2, 3}, {3})));
  CHECK((mayBroadcast({Sizes({2, 1}), Sizes({3})}) && !mayBroadcast({Sizes({2}), Sizes({3})})));
}

TEST_CASE("what a record demands of expressions is told") {
  sizes::AgreedSizes told;
  CHECK((mustEqual(2, 2) && !mustEqual(2, 3) && mustEqual(kUnknown, 3) && mustEqual(kOpen, kOpen)));
  CHECK(told.pairs().empty());
  CHECK(mustEqual({2, kOpen, kOther}, {2, 3, kOther}));
  REQUIRE(told.pairs().size() == 1);
  CHECK(told.pairs()[0] == std::pair(kOpen, int64_t(3)));
}

TEST_CASE("lists are made of lists") {
  CHECK((at({5, 6, 7}, 1) == 6 && at({5, 6, 7}, -1) == 7));
  CHECK(without({5, 6, 7}, -2) == IntList{5, 7});
  CHECK(with({5, 7}, 1, 6) == IntList{5, 6, 7});
  CHECK(merged({2, 3, 4, 5}, 1, 2) == IntList{2, 12, 5});
  CHECK(joined({{1}, {}, {2, 3}}) == IntList{1, 2, 3});
  CHECK(broadcast({Sizes({2, 1}), Sizes({3})}) == IntList{2, 3});
  CHECK(fromFront({-1, 0}, 3) == IntList{2, 0});
  CHECK(allAxes({-1, 0}, 3) == IntList{0, 2});
  CHECK(allAxes({}, 3) == IntList{0, 1, 2});
  CHECK(permuted(Sizes({2, 3, 4}), {2, 0, 1}) == IntList{4, 2, 3});
  CHECK(inverse({2, 0, 1}) == IntList{1, 2, 0});
  CHECK((isSame({2, kOpen}, {2, kOpen}) && !isSame({2, kUnknown}, {2, 3})));
}

TEST_CASE("lists of operands are unified") {
  Metas metas = {TensorMeta(DType::Float32, {2, kUnknown}), TensorMeta(DType::Float32, {kUnknown, 3})};
  auto shapes = shapesOf(llvm::ArrayRef<TensorMeta>(metas));
  CHECK((shapes.size() == 2 && shapes[1] == Sizes({kUnknown, 3})));
  CHECK((alike(shapes) && unified(shapes) == IntList{2, 3}));
  metas.emplace_back(DType::Float32, Shape{2, 4});
  CHECK_FALSE(alike(shapesOf(llvm::ArrayRef<TensorMeta>(metas))));
  auto ofRank = [](int64_t i) { return IntList(i, 1); };
  CHECK((!alike(each(2, ofRank)) && alike(each(1, ofRank)) && alike(each(0, ofRank))));
  sizes::AgreedSizes told;
  IntList common = {kOpen};
  CHECK((unify(common, {3}) && told.pairs().size() == 1));
  CHECK((sum({2, 3}) == 5 && sum({}) == 0 && sum({2, kUnknown}) == kUnknown && sum(start({2, 3, 4}, 2)) == 5));
}

TEST_CASE("a strided layout begins at its first index, and without elements at that of the other") {
  Layout x{{4, 6}, {6, 1}, 10};
  Layout part = strided(x, {2, 3}, {1, 5}, {2, -2});
  CHECK((part.shape == Shape{2, 3} && part.strides == Shape{12, -2} && part.offset == 21));
  CHECK(strided(x, {0, 3}, {4, 0}, {1, 1}).offset == 10);
}

TEST_CASE("steps make lists and are counted") {
  auto isOdd = [](int64_t i) { return i % 2 == 1; };
  CHECK(each(3, [](int64_t i) { return 2 * i; }) == IntList{0, 2, 4});
  CHECK(each(5, [](int64_t i) { return 2 * i; }, isOdd) == IntList{2, 6});
  CHECK((count(5, isOdd) == 2 && count(0, isOdd) == 0 && all(0, isOdd) && !all(2, isOdd)));
}

TEST_CASE("results have the dtypes of terms, or one that inference replaces") {
  Metas metas = metasOf({{2}, {3, 4}}, {DType::Float16, DType::Int32});
  CHECK((metas[0] == TensorMeta(DType::Float16, {2}) && metas[1] == TensorMeta(DType::Int32, {3, 4})));
  CHECK(metasOf({{2}})[0].shape == Shape{2});
}

TEST_CASE("elements are counted as those of a tensor") {
  CHECK((product({2, 3}) == 6 && product({}) == 1 && product({2, kUnknown}) == kUnknown));
  CHECK((product({0, kUnknown}) == 0 && product({INT64_MAX, 2}) == INT64_MAX));
  CHECK(product({kOpen, 2}) == sizes::multiply(kOpen, 2));
  CHECK((hasElements({2, 3}, {}) && !hasElements({2, 0}, {1}) && hasElements({0, 0}, {1}) && !hasElements({0}, {})));
}
