#include "runtime/device/Elements.h"
#include "tests/runtime/KernelHarness.h"

#include <numeric>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

HostTensor i64(Shape shape, std::vector<int64_t> values) { return HostTensor(DType::Int64, shape, values); }
HostTensor i32(Shape shape, std::vector<int32_t> values) { return HostTensor(DType::Int32, shape, values); }
HostTensor f32(Shape shape, std::vector<float> values) { return HostTensor(DType::Float32, shape, values); }

/// 0, 1, 2, ...
HostTensor range(Shape shape) {
  HostTensor out(DType::Float32, shape);
  std::iota(out.as<float>(), out.as<float>() + out.meta.numElements(), 0.0f);
  return out;
}

OpDef indexed(const char *name, IntList axes) {
  OpDef op = OpDef::get(name);
  op.set("axes", axes);
  return op;
}

OpDef along(const char *name, int64_t axis) {
  OpDef op = OpDef::get(name);
  op.set("axis", axis);
  return op;
}

std::vector<float> floats(CallResult result) {
  REQUIRE(result.error == "");
  return result.outputs[0].values<float>();
}

using Floats = std::vector<float>;

} // namespace

TEST_CASE("gather: an index for each element, negative ones from the end") {
  HostTensor x = range({4, 3}), index = i64({2, 3}, {0, 1, 2, -1, 3, 0});
  Floats expected = {0, 4, 8, 9, 10, 2};
  CHECK(floats(callKernel(along("gather", 0), {x, index})) == expected);
  CHECK(floats(callKernel(along("gather", -1), {x, i32({4, 2}, {2, -3, 0, 0, 1, 1, 2, 2})})) ==
        Floats{2, 0, 3, 3, 7, 7, 11, 11});
  CHECK(floats(callKernel(along("gather", 0), {x, i64({0, 3}, {})})).empty());
}

TEST_CASE("an index out of range is an error that names it, and the next call works") {
  HostTensor x = range({5});
  CHECK(callKernel(along("gather", 0), {x, i64({1}, {7})}).error == "gather: index must be in [-5, 4], got 7");
  CHECK(callKernel(along("gather", 0), {x, i64({1}, {-6})}).error == "gather: index must be in [-5, 4], got -6");
  CHECK(callKernel(along("scatter", 0), {x, i64({1}, {5}), range({1})}).error ==
        "scatter: index must be in [-5, 4], got 5");
  CHECK(callKernel(indexed("index_get", {0}), {x, i32({1}, {99})}).error ==
        "index_get: index must be in [-5, 4], got 99");
  CHECK(callKernel(indexed("index_add", {0}), {x, range({1}), i64({1}, {-100})}).error ==
        "index_add: index must be in [-5, 4], got -100");
  CHECK(floats(callKernel(along("gather", 0), {x, i64({1}, {4})})) == Floats{4});
}

TEST_CASE("scatter: replaces elements, the last of several wins") {
  CHECK(floats(callKernel(along("scatter", 0), {range({5}), i64({3}, {1, -1, 1}), f32({3}, {7, 8, 9})})) ==
        Floats{0, 9, 2, 3, 8});
  CHECK(floats(callKernel(along("scatter", 1), {range({2, 3}), i64({2, 1}, {2, 0}), f32({2, 1}, {-1, -2})})) ==
        Floats{0, 1, -1, -2, 4, 5});
}

TEST_CASE("index_get: one axis, several, neighbours and not") {
  HostTensor x = range({5, 3});
  CHECK(floats(callKernel(indexed("index_get", {0}), {x, i64({2}, {-1, 0})})) == Floats{12, 13, 14, 0, 1, 2});
  CHECK(floats(callKernel(indexed("index_get", {1}), {range({2, 3}), i64({2, 2}, {0, 2, 1, 1})})) ==
        Floats{0, 2, 1, 1, 3, 5, 4, 4});
  HostTensor y = range({2, 3, 4}); // y[a, b, c] = 12a + 4b + c
  CHECK(floats(callKernel(indexed("index_get", {1, 2}), {y, i64({2}, {0, 2}), i64({2}, {3, 1})})) ==
        Floats{3, 9, 15, 21}); // y[:, [0, 2], [3, 1]]
  CHECK(floats(callKernel(indexed("index_get", {0, 2}), {y, i64({2}, {0, 1}), i64({2}, {3, 0})})) ==
        Floats{3, 7, 11, 12, 16, 20}); // y[[0, 1], :, [3, 0]]: the index first
  CHECK(floats(callKernel(indexed("index_get", {0, 1}), {y, i64({2, 1}, {0, 1}), i64({2}, {2, 0})})) ==
        Floats{8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15});
  CHECK(floats(callKernel(indexed("index_get", {0}), {x, i64({0}, {})})).empty());
  CHECK(floats(callKernel(indexed("index_get", {0}), {x, i64({}, {2})})) == Floats{6, 7, 8});
}

TEST_CASE("index_set and index_add: values broadcast, order counts") {
  HostTensor x = range({3, 2});
  CHECK(floats(callKernel(indexed("index_set", {0}), {x, f32({2, 2}, {10, 11, 12, 13}), i64({2}, {2, 2})})) ==
        Floats{0, 1, 2, 3, 12, 13});
  CHECK(floats(callKernel(indexed("index_set", {0}), {x, f32({1}, {9}), i64({2}, {0, -1})})) ==
        Floats{9, 9, 2, 3, 9, 9});
  CHECK(floats(callKernel(indexed("index_add", {0}), {x, f32({3, 2}, {1, 2, 3, 4, 5, 6}), i64({3}, {1, 1, 0})})) ==
        Floats{5, 7, 6, 9, 4, 5});
  HostTensor y = range({2, 3, 2}); // y[a, b, c] = 6a + 2b + c
  CHECK(floats(callKernel(indexed("index_set", {1}), {y, f32({2, 1, 1}, {-1, -2}), i64({2}, {2, 0})})) ==
        Floats{-1, -1, 2, 3, -1, -1, -2, -2, 8, 9, -2, -2}); // a value for each a
  CHECK(floats(callKernel(indexed("index_add", {0, 2}),
                          {y, f32({1, 3}, {100, 200, 300}), i64({2}, {0, 0}), i64({2}, {1, 1})})) ==
        Floats{0, 201, 2, 403, 4, 605, 6, 7, 8, 9, 10, 11});
}

/// `count` positions below `size`, each of them several times.
HostTensor repeated(int64_t count, int64_t size) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i)
    positions.push_back(i * i % size);
  return i64({count}, positions);
}

TEST_CASE("indices: threads share rows, columns and blocks, and what wins is the last") {
  auto [shape, axis] =
      GENERATE(values<std::pair<Shape, int64_t>>({{{2, 400, 700}, 1}, {{400, 700}, 0}, {{50, 700}, 1}}));
  HostTensor x = range(shape), index = repeated(700, shape[size_t(axis)]);
  HostTensor value = callKernel(indexed("index_get", {axis}), {x, index}).outputs[0];
  for (const char *name : {"index_get", "index_set", "index_add"}) {
    INFO(name << " along " << axis);
    bool isRead = name == llvm::StringRef("index_get");
    std::vector<HostTensor> operands = isRead ? std::vector{x, index} : std::vector{x, value, index};
    OpDef op = indexed(name, {axis});
    CHECK(floats(callKernel(op, operands)) == floats(callKernel(op, operands, {3})));
  }
}

TEST_CASE("gather and scatter: threads share rows, or columns of what is one row") {
  auto [shape, axis] = GENERATE(values<std::pair<Shape, int64_t>>({{{60, 900}, 1}, {{60, 900}, 0}}));
  HostTensor x = range(shape), index(DType::Int64, shape);
  for (int64_t i = 0; i < index.meta.numElements(); ++i)
    index.as<int64_t>()[i] = i * i % shape[size_t(axis)];
  CHECK(floats(callKernel(along("gather", axis), {x, index})) ==
        floats(callKernel(along("gather", axis), {x, index}, {3})));
  HostTensor source = callKernel(along("gather", axis), {x, index}).outputs[0];
  CHECK(floats(callKernel(along("scatter", axis), {x, index, source})) ==
        floats(callKernel(along("scatter", axis), {x, index, source}, {3})));
}

TEST_CASE("index_add sums narrow floats one addition at a time") {
  HostTensor x(DType::Float16, {1}, std::vector<F16>{F16(2048)});
  HostTensor ones(DType::Float16, {3}, std::vector<F16>{F16(1), F16(1), F16(1)});
  HostTensor out = callKernel(indexed("index_add", {0}), {x, ones, i64({3}, {0, 0, 0})}).outputs[0];
  CHECK(float(out.as<F16>()[0]) == 2048); // 2048 + 1 rounds to 2048 each time
}

TEST_CASE("mask_get and non_zero say how much they found") {
  HostTensor mask(DType::Bool, {2, 3}, std::vector<uint8_t>{1, 0, 0, 0, 1, 1});
  CallResult result = callKernel(OpDef::get("mask_get"), {range({2, 3, 2}), mask});
  CHECK(result.unknownExtent == 3);
  CHECK(std::vector<float>(result.outputs[0].as<float>(), result.outputs[0].as<float>() + 6) ==
        Floats{0, 1, 8, 9, 10, 11});
  CallResult positions = callKernel(OpDef::get("non_zero"), {f32({2, 3}, {0, 5, -0.0f, NAN, 0, 1})});
  CHECK(positions.unknownExtent == 3);
  int32_t *rows = positions.outputs[0].as<int32_t>();
  CHECK(std::vector<int32_t>(rows, rows + 6) == std::vector<int32_t>{0, 1, 1, 0, 1, 2});
  CHECK(callKernel(OpDef::get("non_zero"), {range({0, 3})}).unknownExtent == 0);
}

TEST_CASE("nms takes boxes by falling score, unless they overlap a better one too much") {
  // Box 1 covers half of box 0's and its own area together, box 2 none; box 3 has no area.
  HostTensor boxes = f32({4, 4}, {0, 0, 3, 1, 1, 0, 4, 1, 5, 0, 6, 1, 2, 2, 2, 2});
  auto taken = [&](Floats scores, double threshold, AttrValue most) {
    OpDef op = OpDef::get("nms");
    op.set("iou_thresh", threshold).set("max_output", std::move(most));
    CallResult result = callKernel(op, {boxes, f32({4}, std::move(scores))});
    std::vector<int32_t> indices = result.outputs[0].values<int32_t>();
    indices.resize(result.unknownExtent);
    return indices;
  };
  using Indices = std::vector<int32_t>;
  CHECK(taken({1, 2, 3, 0}, 0.5, {}) == Indices{2, 1, 0, 3}); // an overlap of 0.5 is not above it
  CHECK(taken({1, 2, 3, 0}, 0.49, {}) == Indices{2, 1, 3});
  CHECK(taken({1, NAN, 1, 1}, 0.49, {}) == Indices{1, 2, 3}); // NaN first, then equal scores in their order
  CHECK(taken({1, 2, 3, 0}, 0.49, 2) == Indices{2, 1});
  CHECK(taken({1, 2, 3, 0}, 0.49, 0) == Indices{});
}

TEST_CASE("argsort: stable, NaN the largest, both directions") {
  HostTensor x = f32({2, 4}, {3, NAN, 1, 3, -0.0f, 0, -1, 5});
  OpDef op = OpDef::get("argsort");
  CallResult up = callKernel(op, {x});
  CHECK(up.outputs[1].values<int32_t>() == std::vector<int32_t>{2, 0, 3, 1, 2, 0, 1, 3});
  CHECK(up.outputs[0].values<float>()[4] == -1);
  op.set("descending", true);
  CHECK(callKernel(op, {x}).outputs[1].values<int32_t>() == std::vector<int32_t>{1, 0, 3, 2, 3, 0, 1, 2});
  CHECK(callKernel(op, {range({2, 0})}).error == "");
}

TEST_CASE("topk is a prefix of argsort") {
  HostTensor x = randomF32({5, 40}, 3); // 256 values: many are equal
  for (bool descending : {false, true})
    for (int64_t k : {0, 1, 7, 40}) {
      OpDef topk = OpDef::get("topk"), argsort = OpDef::get("argsort");
      topk.set("k", k).set("descending", descending);
      argsort.set("descending", descending);
      CallResult some = callKernel(topk, {x}), all = callKernel(argsort, {x});
      auto order = all.outputs[1].values<int32_t>(), prefix = some.outputs[1].values<int32_t>();
      for (int64_t row = 0; row < 5; ++row)
        CHECK(std::equal(prefix.begin() + row * k, prefix.begin() + (row + 1) * k, order.begin() + row * 40));
    }
}
