// Programs from the compiler through bind and run: what only both together show.
#include "compiler/ProgramFile.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/device/Allocator.h"
#include "runtime/run/Executor.h"
#include "tessera/deploy.h"
#include "tests/ops/TripSizes.h"
#include "tests/runtime/Expect.h"

#include <cstring>
#include <filesystem>
#include <numeric>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;
using Value = ir::GraphBuilder::Value;

namespace {

using Floats = std::vector<float>;

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

Floats range(size_t count) {
  Floats out(count);
  std::iota(out.begin(), out.end(), 1.0f);
  return out;
}

Value apply(ir::GraphBuilder &b, OpDef op, llvm::ArrayRef<Value> operands, llvm::ArrayRef<unsigned> segments = {}) {
  return get(b.apply(op, operands, segments)).front();
}

ProgramRef compiled(ir::GraphBuilder &builder) {
  ProgramOptions options;
  options.name = "test";
  return get(Program::create(get(compiler::compile(builder.finish())), std::move(options)));
}

/// Runs on float32 inputs; one float32 output.
Floats runProgram(const ProgramRef &program, std::vector<std::pair<Shape, Floats>> inputs, unsigned threads = 1) {
  Metas metas;
  llvm::SmallVector<void *, 4> pointers;
  for (auto &[shape, values] : inputs) {
    metas.push_back(f32(shape));
    pointers.push_back(values.data());
  }
  BindOptions options;
  options.threads = threads;
  BoundRef bound = get(program->bind(metas, options));
  Floats out(size_t(bound->outputs()[0].numElements()), -99);
  ok(run(*bound, pointers, {out.data()}));
  return out;
}

} // namespace

TEST_CASE("concat, pad and slice_set are copies of regions") {
  SECTION("concat along the last axis, of a strided view too") {
    ir::GraphBuilder b;
    Value x = b.input("x", f32({2, 3})), y = b.input("y", f32({2, 2}));
    OpDef concat = OpDef::get("concat"), transpose = OpDef::get("transpose");
    concat.set("axis", -1);
    transpose.set("pattern", IntList{1, 0});
    b.output(apply(b, concat, {x, apply(b, transpose, {y}), x}), "out");
    CHECK(runProgram(compiled(b), {{{2, 3}, range(6)}, {{2, 2}, range(4)}}) ==
          Floats{1, 2, 3, 1, 3, 1, 2, 3, 4, 5, 6, 2, 4, 4, 5, 6});
  }
  SECTION("pad on one side, crop on the other") {
    ir::GraphBuilder b;
    Value x = b.input("x", f32({2, 3}));
    OpDef pad = OpDef::get("pad");
    pad.set("low", IntList{1, -1}).set("high", IntList{0, 1}).set("value", 7.5);
    b.output(apply(b, pad, {x}), "out");
    CHECK(runProgram(compiled(b), {{{2, 3}, range(6)}}) == Floats{7.5, 7.5, 7.5, 2, 3, 7.5, 5, 6, 7.5});
  }
  SECTION("slice_set with a step backwards and a value that broadcasts") {
    ir::GraphBuilder b;
    Value x = b.input("x", f32({2, 4})), v = b.input("v", f32({2}));
    OpDef set = OpDef::get("slice_set");
    set.set("starts", IntList{0, 3}).set("stops", IntList{2, 0}).set("steps", IntList{1, -2});
    b.output(apply(b, set, {x, v}), "out");
    CHECK(runProgram(compiled(b), {{{2, 4}, range(8)}, {{2}, {-1, -2}}}) == Floats{1, -2, 3, -1, 5, -2, 7, -1});
  }
  SECTION("slice_set of a scalar") {
    ir::GraphBuilder b;
    Value x = b.input("x", f32({2, 4})), v = b.input("v", f32({}));
    OpDef set = OpDef::get("slice_set");
    set.set("starts", IntList{0, 1}).set("stops", IntList{1, 3});
    b.output(apply(b, set, {x, v}), "out");
    CHECK(runProgram(compiled(b), {{{2, 4}, range(8)}, {{}, {9}}}) == Floats{1, 9, 9, 4, 5, 6, 7, 8});
  }
}

/// Sets columns 1 to 3 of `x` to `v`, whose last axis has `size` elements; `between`: between two negations.
static ProgramRef columnsSet(int64_t rows, int64_t columns, int64_t size, bool between) {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({rows, columns})), v = b.input("v", f32({rows, size}));
  if (between)
    x = apply(b, OpDef::get("neg"), {x});
  OpDef set = OpDef::get("slice_set");
  set.set("starts", IntList{0, 1}).set("stops", IntList{rows, 4});
  Value written = apply(b, set, {x, v});
  b.output(between ? apply(b, OpDef::get("neg"), {written}) : written, "out");
  return compiled(b);
}

TEST_CASE("a value that repeats along the last axis is written by a kernel where its size says so") {
  int64_t size = GENERATE(as<int64_t>(), 1, kUnknown);
  std::vector<std::pair<Shape, Floats>> inputs = {{{2, 5}, range(10)}, {{2, 1}, {-1, -2}}};
  ExecutorStats before = executorStats();
  CHECK(runProgram(columnsSet(2, 5, size, true), inputs) == Floats{1, 1, 1, 1, 5, 6, 2, 2, 2, 10});
  CHECK(executorStats().launches - before.launches == (size == 1 ? 3 : 2));
  CHECK(executorStats().copies - before.copies == (size == 1 ? 0 : 1));
}

TEST_CASE("what is copied whole is copied by all threads") {
  const int64_t rows = 2000, columns = 1000;
  Floats x = range(size_t(rows * columns)), v(size_t(rows), -3.0f), expected = x;
  for (int64_t row = 0; row < rows; ++row)
    std::fill_n(expected.begin() + row * columns + 1, 3, -3.0f);
  ProgramRef program = columnsSet(rows, columns, 1, false);
  CHECK_FALSE(get(program->bind({f32({rows, columns}), f32({rows, 1})}, {1}))->needsWorker());
  CHECK(get(program->bind({f32({rows, columns}), f32({rows, 1})}, {3}))->needsWorker());
  for (unsigned threads : {1u, 3u}) {
    Floats out = runProgram(program, {{{rows, columns}, x}, {{rows, 1}, v}}, threads);
    CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("a chain of writes into a value that nothing else reads copies nothing") {
  ir::GraphBuilder b;
  Value y = apply(b, OpDef::get("neg"), {b.input("x", f32({2, 4}))}), v = b.input("v", f32({2, 1}));
  OpDef set = OpDef::get("slice_set");
  for (int64_t column : {1, 3}) {
    set.set("starts", IntList{0, column}).set("stops", IntList{2, column + 1});
    y = apply(b, set, {y, v});
  }
  b.output(apply(b, OpDef::get("neg"), {y}), "out");
  ExecutorStats before = executorStats();
  CHECK(runProgram(compiled(b), {{{2, 4}, range(8)}, {{2, 1}, {9, 8}}}) == Floats{1, -9, 3, -9, 5, -8, 7, -8});
  CHECK(executorStats().launches - before.launches == 4);
  CHECK(executorStats().copies == before.copies);
}

TEST_CASE("indexed writes are made in a copy of their operand") {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({3, 2})), v = b.input("v", f32({1, 2}));
  int64_t one = 1;
  Value index = b.constant(TensorMeta(DType::Int64, {1}), llvm::StringRef(reinterpret_cast<char *>(&one), sizeof(one)));
  OpDef set = OpDef::get("index_set");
  set.set("axes", IntList{0});
  Value first = apply(b, set, {x, v, index}, {1, 1, 1});
  b.output(apply(b, OpDef::get("add"), {first, x}), "out"); // x is what it was
  CHECK(runProgram(compiled(b), {{{3, 2}, range(6)}, {{1, 2}, {-1, -2}}}) == Floats{2, 4, 2, 2, 10, 12});
}

TEST_CASE("a network of library calls and kernels gives the same bits for 1 and 2 threads") {
  ir::GraphBuilder b;
  int batch = b.dim({"batch", 1, 64});
  Value x = b.input("x", f32({kUnknown, 8, 28, 28}), {batch, -1, -1, -1});
  Value w = b.input("w", f32({16, 8, 3, 3})), fc = b.input("fc", f32({16, 10}));
  OpDef conv = OpDef::get("conv2d"), pool = OpDef::get("max_pool2d"), mean = OpDef::get("mean");
  conv.set("padding", IntList{1, 1});
  pool.set("kernel_size", IntList{2, 2}).set("strides", IntList{2, 2});
  mean.set("axes", IntList{2, 3}).set("keepdims", false);
  Value y = apply(b, pool, {apply(b, OpDef::get("relu"), {apply(b, conv, {x, w})})});
  Value logits = apply(b, OpDef::get("matmul"), {apply(b, mean, {y}), fc});
  OpDef softmax = OpDef::get("softmax");
  b.output(apply(b, softmax, {logits}), "out");
  ProgramRef program = compiled(b);
  for (int64_t n : {1, 5}) {
    Floats image(size_t(n * 8 * 28 * 28)), weight(16 * 8 * 9), matrix(160);
    auto fill = [](Floats &values) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = float(int(i * 7919 % 101) - 50) / 64;
    };
    fill(image);
    fill(weight);
    fill(matrix);
    std::vector<std::pair<Shape, Floats>> inputs = {
        {{n, 8, 28, 28}, image}, {{16, 8, 3, 3}, weight}, {{16, 10}, matrix}};
    Floats one = runProgram(program, inputs), two = runProgram(program, inputs, 2);
    CHECK(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)) == 0);
    CHECK(std::accumulate(one.begin(), one.end(), 0.0f) == Approx(float(n)).epsilon(1e-5));
  }
}

TEST_CASE("an output as long as the data says") {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({2, 3}));
  b.output(apply(b, OpDef::get("non_zero"), {x}), "where");
  ProgramRef program = compiled(b);
  BoundRef bound = get(program->bind({f32({2, 3})}));
  CHECK(bound->dependsOnData());
  CHECK(bound->outputs()[0].shape == Shape{6, 2});
  std::vector<int32_t> out(12);
  Floats in = {0, 1, 0, 2, 0, 0};
  ok(run(*bound, {in.data()}, {out.data()}));
  CHECK(bound->outputs()[0].shape == Shape{2, 2});
  CHECK(std::vector<int32_t>(out.begin(), out.begin() + 4) == std::vector<int32_t>{0, 1, 1, 0});
  in = Floats(6, 1);
  ok(run(*bound, {in.data()}, {out.data()}));
  CHECK(bound->outputs()[0].shape == Shape{6, 2});
}

/// The elements of x above 0 as y; ones(size of y) + y and y[0:1]; the input `total` plus the sum of y, in its memory.
static ProgramRef stagedProgram() {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({6})), total = b.input("total", f32({}));
  Value zero = apply(b, OpDef::get("full").set("shape", IntList{}).set("value", 0.0), {});
  Value y = apply(b, OpDef::get("mask_get"), {x, apply(b, OpDef::get("greater"), {x, zero})});
  b.nameSize(y, 0, 0);
  OpDef full = OpDef::get("full").set("shape", IntList{sizes::symbol(sizes::kDataSymbols)}).set("value", 1.0);
  b.output(apply(b, OpDef::get("add"), {apply(b, full, {}), y}), "more");
  OpDef slice = OpDef::get("slice").set("starts", IntList{0}).set("stops", IntList{1});
  b.output(apply(b, slice, {y}), "first");
  b.output(apply(b, OpDef::get("add"), {total, apply(b, OpDef::get("sum"), {y})}), "next", 1);
  return compiled(b);
}

TEST_CASE("what reads a size of data is bound when the data is there") {
  BoundRef bound = get(stagedProgram()->bind({f32({6}), f32({})}));
  CHECK(bound->dependsOnData());
  CHECK(bound->mostOutputs()[0].shape == Shape{6});
  CHECK(bound->memory().outputs == 6 * 4 + 1 * 4);
  CHECK(bound->memory().arena >= 6 * 4); // y
  Floats more(6), first(1), total = {10};
  for (unsigned repeat = 0; repeat < 2; ++repeat) {
    Floats x = {1, -1, 3, -1, 5, -1};
    ok(run(*bound, {x.data(), total.data()}, {more.data(), first.data(), nullptr}));
    CHECK(bound->outputs()[0].shape == Shape{3});
    CHECK(Floats(more.begin(), more.begin() + 3) == Floats{2, 4, 6});
    CHECK(bound->outputs()[1].shape == Shape{1});
    CHECK(first[0] == 1);
    CHECK(total[0] == 10 + 9 * float(repeat + 1));
    x = {-1, -1, -1, -1, -1, -1};
    ok(run(*bound, {x.data(), total.data()}, {more.data(), first.data(), nullptr}));
    CHECK(bound->outputs()[0].shape == Shape{0});
    CHECK(bound->outputs()[1].shape == Shape{0});
  }
}

TEST_CASE("a later stage that refuses its sizes ends one run") {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({5}));
  Value zero = apply(b, OpDef::get("full").set("shape", IntList{}).set("value", 0.0), {});
  Value y = apply(b, OpDef::get("mask_get"), {x, apply(b, OpDef::get("greater"), {x, zero})});
  b.output(apply(b, OpDef::get("reshape").set("shape", IntList{2, -1}), {y}), "pairs");
  BoundRef bound = get(compiled(b)->bind({f32({5})}));
  CHECK(bound->mostOutputs()[0].shape == Shape{2, kUnknown}); // 5 elements have no pairs
  Floats out(4), odd = {1, 2, 3, -1, -1}, even = {1, 2, 3, 4, -1};
  RunOptions options;
  options.allocate = [&](size_t output, const TensorMeta &meta) -> llvm::Expected<void *> {
    CHECK(output == 0);
    CHECK(meta.shape == Shape{2, 2});
    return out.data();
  };
  CHECK(messageOf(run(*bound, {odd.data()}, {nullptr}, {}, options)).find("reshape: number of elements must stay") ==
        0);
  CHECK(messageOf(run(*bound, {even.data()}, {nullptr})) == "test: output pairs must have memory, got none");
  CHECK(messageOf(run(*bound, {even.data()}, {out.data()})) ==
        "test: output pairs must fit into memory for f32[2, ?], got f32[2, 2]");
  ok(run(*bound, {even.data()}, {nullptr}, {}, options));
  CHECK(out == Floats{1, 2, 3, 4});
}

TEST_CASE("a loop in whose trips data decides sizes runs its body as a program") {
  ir::GraphBuilder b;
  Value total = b.input("total", f32({})), rows = b.input("rows", f32({kUnknown, 4}), {b.dim({"n", 0, 9}), -1});
  auto results = get(b.apply(positiveSums(), {total, rows}));
  b.output(results[0], "last");
  b.output(apply(b, OpDef::get("neg"), {results[1]}), "sums");
  ProgramRef program = compiled(b);
  for (int64_t count : {3, 0, 1, 3}) {
    BoundRef bound = get(program->bind({f32({}), f32({count, 4})}));
    CHECK(bound->memory().outputs >= 4);
    Floats begin = {10}, data = {1, -1, 2, -3, -1, -1, -1, -1, 1, 2, 3, 4}, last(1), sums(3, -99);
    ok(run(*bound, {begin.data(), data.data()}, {last.data(), sums.data()}));
    CHECK(bound->outputs()[1].shape == Shape{count});
    CHECK(last[0] == (count == 3 ? 23 : count == 1 ? 13 : 10));
    CHECK(begin[0] == 10);
    Floats expected = {-3, -0.0f, -10};
    for (int64_t row = 0; row < 3; ++row)
      CHECK(sums[row] == (row < count ? expected[row] : -99));
  }
}

TEST_CASE("a loop that cannot be a stage is refused") {
  ir::GraphBuilder b;
  Value total = b.input("total", f32({})), rows = b.input("rows", f32({3, 4}));
  b.output(get(b.apply(positiveSums(), {total, rows}))[0], "last");
  Executable exe = get(compiler::compile(b.finish()));
  auto isLoop = [](const auto &each) { return each.loop >= 0; };
  Step &step = *llvm::find_if(exe.steps, isLoop);
  ProgramNode &node = *llvm::find_if(exe.nodes, isLoop);
  SECTION("its operands have no memory of their own") {
    exe.values.push_back({ValueKind::Constant, DType::Float32, -1, 0, "", ""});
    exe.constants.insert(exe.constants.begin(), {f32({}), std::string(4, '\0'), ""});
    for (ValueDecl &value : llvm::MutableArrayRef<ValueDecl>(exe.values).drop_back())
      value.constant += value.kind == ValueKind::Constant;
    step.operands[0] = node.operands[0] = ValueId(exe.values.size() - 1);
    CHECK_THAT(messageOf(Program::create(std::move(exe))), Catch::Matchers::Contains("must be inputs or computed"));
  }
  SECTION("it has no results") {
    step.results.clear();
    step.inplace.clear();
    node.results.clear();
    exe.loops[step.loop].yields.clear();
    exe.loops[step.loop].numCarried = 0;
    exe.outputs.clear();
    CHECK_THAT(messageOf(Program::create(std::move(exe))), Catch::Matchers::Contains("a loop must have a result"));
  }
}

TEST_CASE("an error in a kernel names operator and line, and the next run works") {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({5})), index = b.input("index", TensorMeta(DType::Int64, {1}));
  b.output(get(b.apply(OpDef::get("gather"), {x, index}, {}, "model.py:9 (Net.pick)")).front(), "out");
  BoundRef bound = get(compiled(b)->bind({f32({5}), TensorMeta(DType::Int64, {1})}));
  Floats in = range(5), out(1);
  int64_t position = 7;
  CHECK(messageOf(run(*bound, {in.data(), &position}, {out.data()})) ==
        "gather: index must be in [-5, 4], got 7 at model.py:9 (Net.pick)");
  position = -1;
  ok(run(*bound, {in.data(), &position}, {out.data()}));
  CHECK(out[0] == 5);
}

TEST_CASE("the plan is what a run takes") {
  ir::GraphBuilder b;
  Value x = b.input("x", f32({600, 600}));
  Value y = x;
  for (int i = 0; i < 3; ++i) {
    y = apply(b, OpDef::get("matmul"), {y, b.input("w" + std::to_string(i), f32({600, 600}))});
    y = apply(b, OpDef::get("tanh"), {y});
  }
  b.output(y, "out");
  BoundRef bound = get(compiled(b)->bind({f32({600, 600}), f32({600, 600}), f32({600, 600}), f32({600, 600})}, {1}));
  Floats in(600 * 600, 0.5f), w(600 * 600, 0.01f), out(600 * 600);
  uint64_t before = hostDevice().allocator().stats().inUse;
  hostDevice().allocator().resetPeak();
  for (int i = 0; i < 3; ++i)
    ok(run(*bound, {in.data(), w.data(), w.data(), w.data()}, {out.data()}));
  uint64_t growth = hostDevice().allocator().stats().peak - before;
  CHECK(growth >= bound->memory().arena);
  CHECK(growth <= bound->memory().arena * 9 / 8 + 4096); // a block may be an eighth larger
  CHECK(bound->memory().arena >= 2 * 600 * 600 * 4);
}

TEST_CASE("a compiled file runs by deploy with the bits of the compiler's own process") {
  std::string path = "/tmp/tess_compiled_" + std::to_string(::getpid()) + ".tess";
  Floats weight(8 * 400);
  for (size_t i = 0; i < weight.size(); ++i)
    weight[i] = float(i % 23) / 16 - 0.7f;
  auto build = [&] {
    ir::GraphBuilder b;
    int batch = b.dim({"batch", 1, 64});
    Value x = b.input("x", f32({kUnknown, 8}), {batch, -1});
    llvm::StringRef bytes(reinterpret_cast<const char *>(weight.data()), weight.size() * sizeof(float));
    Value w = b.constant(f32({8, 400}), bytes, "fc.weight");
    b.output(apply(b, OpDef::get("softmax"), {apply(b, OpDef::get("gelu"), {apply(b, OpDef::get("matmul"), {x, w})})}),
             "probabilities");
    return b.finish();
  };
  get(compiler::writeProgram(path, build(), {"host"}, {{"author", "test"}}));
  ProgramRef program = get(Program::create(get(compiler::compile(build()))));
  Floats in = range(3 * 8), deployed(3 * 400);
  Floats direct = runProgram(program, {{{3, 8}, in}});
  tessera::deploy::Model model;
  tessera::deploy::Session session;
  auto status = tessera::deploy::Model::load(path, model);
  CHECK(status.message == "");
  REQUIRE(model.bind({{3, 8}}, session));
  REQUIRE(session.run({in.data()}, {deployed.data()}));
  CHECK(std::memcmp(direct.data(), deployed.data(), direct.size() * sizeof(float)) == 0);
  CHECK(session.memory().constants == weight.size() * sizeof(float));
  CHECK(model.metadata("author") != nullptr);
  std::filesystem::remove(path);
}
