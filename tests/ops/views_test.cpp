//===- views_test.cpp - layouts of views, attributes in one form ---------===//
#include "tests/ops/Samples.h"

#include "ops/inference/ViewRules.h"
#include "ops/table/Builtin.h"
#include "ops/vocabulary/SizeExpr.h"

using namespace tess;
using namespace tess::test;
using namespace tess::builtin;

static llvm::Expected<Layout> tryView(const OpDef &op, const Layout &x) {
  Metas results = llvm::cantFail(op.infer({TensorMeta(DType::Float32, x.shape)}));
  return op.info().viewRule(op, x, results[0].shape);
}
static Layout viewed(const OpDef &op, const Layout &x) { return llvm::cantFail(tryView(op, x)); }

/// Places in storage, in row-major order of the view.
static std::vector<int64_t> places(const Layout &layout) {
  std::vector<int64_t> list;
  int64_t count = TensorMeta(DType::Int8, layout.shape).numElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, place = layout.offset;
    for (int axis = int(layout.shape.size()) - 1; axis >= 0; --axis) {
      place += rest % layout.shape[axis] * layout.strides[axis];
      rest /= layout.shape[axis];
    }
    list.push_back(place);
  }
  return list;
}

TEST_CASE("the shape of a view is the inferred one") {
  forEachSample([](const SampleCall &call) {
    if (call.op.info().lowering != Lowering::View)
      return;
    INFO(call.name);
    Shape shape = llvm::cantFail(call.op.infer(call.operands))[0].shape;
    Layout layout = llvm::cantFail(call.op.info().viewRule(call.op, Layout::contiguous(call.operands[0].shape), shape));
    CHECK(layout.shape == shape);
    int64_t size = call.operands[0].numElements();
    for (int64_t place : places(layout))
      CHECK((place >= 0 && place < size));
  });
}

TEST_CASE("slices mean what Python's mean") {
  Layout x = Layout::contiguous({6});
  CHECK(places(viewed(Slice({1}, {4}), x)) == std::vector<int64_t>{1, 2, 3});
  CHECK(places(viewed(Slice({-2}, {99}), x)) == std::vector<int64_t>{4, 5});
  CHECK(places(viewed(Slice({4}, {-7}, {-2}), x)) == std::vector<int64_t>{4, 2, 0});
  CHECK(places(viewed(Slice({-1}, {0}, {-3}), x)) == std::vector<int64_t>{5, 2});
  CHECK(places(viewed(Slice({4}, {1}), x)).empty());
  CHECK(places(viewed(Slice({INT64_MIN}, {INT64_MAX}, {5}), x)) == std::vector<int64_t>{0, 5});
  CHECK(places(viewed(Slice({0}, {5}), Layout::contiguous({0}))).empty());
}

TEST_CASE("a strided layout is reshaped where its axes lie evenly") {
  Layout transposed = viewed(Transpose({1, 0}), Layout::contiguous({4, 6}));
  CHECK(places(viewed(Reshape({2, 3, 4}), transposed)) == places(transposed));
  CHECK(places(viewed(Reshape({6, 1, 2, 2}), transposed)) == places(transposed));
  CHECK(errorOf(tryView(Reshape({24}), transposed)) ==
        "reshape: layout must be viewable in the new shape, got shape [6, 4] and strides [1, 6]");
  Layout sliced = viewed(Slice({1, 0}, {4, 6}), Layout::contiguous({5, 6}));
  CHECK(places(viewed(Reshape({18}), sliced)) == places(sliced));
  Layout broadcast = viewed(BroadcastTo({3, 4}), Layout::contiguous({4}));
  CHECK(places(viewed(Reshape({3, 2, 2}), broadcast)) == places(broadcast));
}

TEST_CASE("reshape to and from sizes of 1 and 0") {
  CHECK(viewed(Reshape({1, 1}), Layout::contiguous({})).shape == Shape{1, 1});
  CHECK(viewed(Reshape(IntList{}), Layout::contiguous({1, 1})).shape == Shape{});
  CHECK(viewed(Reshape({3, 0}), Layout::contiguous({0, 5})).shape == Shape{3, 0});
}

TEST_CASE("equal calls become equal operators") {
  TensorMeta x(DType::Float32, {4, 5, 6});
  auto normal = [&](OpDef op) {
    llvm::cantFail(op.info().normalise(op, x));
    return op.toString();
  };
  CHECK(normal(Sum({-1, 0})) == "sum(axes=[0, 2], keepdims=false)");
  CHECK(normal(Softmax(-1)) == "softmax(axis=2)");
  CHECK(normal(Transpose()) == "transpose(pattern=[2, 1, 0])");
  CHECK(normal(Reshape({-1, 10})) == "reshape(shape=[12, 10])");
  CHECK(normal(Slice({-9, 1, 5}, {9, -1, -9}, {1, 2, -1})) ==
        "slice(starts=[0, 1, 5], stops=[4, 4, -7], steps=[1, 2, -1], in_bounds=[])");
  CHECK(normal(Slice({2, 0, 0}, {1, 5, 6})) ==
        "slice(starts=[0, 0, 0], stops=[0, 5, 6], steps=[1, 1, 1], in_bounds=[])");
  CHECK(normal(Slice({-1, 0, 0}, {INT64_MAX, 5, 6}, {}, {0})) ==
        "slice(starts=[3, 0, 0], stops=[4, 5, 6], steps=[1, 1, 1], in_bounds=[])");
}

TEST_CASE("the length of a slice by expressions is its length at each size") {
  int64_t size = sizes::symbol(sizes::kDataSymbols);
  for (int64_t step : {-3, -1, 1, 2})
    for (int64_t start : {int64_t(-4), int64_t(0), int64_t(2), INT64_MAX, size, sizes::subtract(size, 3)})
      for (int64_t stop : {int64_t(-1), int64_t(1), int64_t(5), step < 0 ? INT64_MIN : INT64_MAX,
                           sizes::floorDivide(size, 2), sizes::subtract(2, size)}) {
        int64_t length = views::sliceLength(start, stop, step, size);
        INFO(sizes::toText(length) << " of " << sizes::toText(start) << ":" << sizes::toText(stop) << ":" << step);
        REQUIRE(length != kUnknown);
        for (int64_t number = 0; number < 9; ++number) {
          auto at = [&](int64_t expression) { return sizes::substitute(expression, [&](uint32_t) { return number; }); };
          CHECK(at(length) == views::sliceRange(at(start), at(stop), step, number).count);
        }
      }
}

TEST_CASE("normalised slices take the same elements") {
  TensorMeta x(DType::Float32, {7});
  for (int64_t start : {-9, -7, -3, 0, 2, 6, 7, 11})
    for (int64_t stop : {-9, -8, -1, 0, 3, 7, 9})
      for (int64_t step : {-3, -1, 1, 2}) {
        Slice before({start}, {stop}, {step});
        OpDef after = before;
        llvm::cantFail(after.info().normalise(after, x));
        INFO(before.toString() << " " << after.toString());
        CHECK(places(viewed(after, Layout::contiguous({7}))) == places(viewed(before, Layout::contiguous({7}))));
      }
}
