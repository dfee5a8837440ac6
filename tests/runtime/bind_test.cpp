#include "ops/vocabulary/SizeExpr.h"
#include "runtime/device/Allocator.h"
#include "runtime/null/NullDevice.h"
#include "runtime/run/Executor.h"
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Worker.h"
#include "tests/runtime/TestProgram.h"

#include <cmath>
#include <thread>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

std::vector<float> iota(size_t count, float start = 1) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = start + float(i);
  return out;
}

OpDef transpose() {
  OpDef op = OpDef::get("transpose");
  return op.set("pattern", IntList{1, 0});
}

/// out = neg(x + y), two kernels; `rank` 1.
TestProgram negatedSum() {
  TestProgram p;
  p.symbol("batch", 1, 512);
  int x = p.input("x", DType::Float32, {"batch"}), y = p.input("y", DType::Float32, {"batch"});
  int sum = p.node(OpDef::get("add"), {x, y});
  p.kernel(addKernel, 1);
  int out = p.node(OpDef::get("neg"), {sum});
  p.kernel(negKernel, 1);
  p.output("out", out);
  return p;
}

} // namespace

TEST_CASE("a step that reads a size of its own result is refused") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {4});
  int y = p.node(OpDef::get("neg"), {x});
  int found = p.node(OpDef::get("non_zero"), {y}, ValueKind::Temp, DType::Int32);
  p.exe.dataSizes = {{found, 0}};
  int z = p.node(OpDef::get("full").set("shape", IntList{sizes::symbol(sizes::kDataSymbols)}).set("value", 1.0), {});
  Step &step = p.kernel(negKernel, 1);
  step.operands = {x};
  step.results = {y, z};
  Step search;
  search.kind = StepKind::Library;
  search.op = OpDef::get("non_zero");
  search.operands = {y};
  search.results = {found};
  p.exe.steps.push_back(search);
  p.output("z", z, -1);
  CHECK(messageOf(p.tryCreate().takeError()).find("must not read a size that follows from it") != std::string::npos);
}

TEST_CASE("a program runs at every size of its symbols") {
  ProgramRef program = negatedSum().create();
  for (int64_t n : {1, 7, 512}) {
    BoundRef bound = get(program->bind({f32({n}), f32({n})}));
    CHECK(bound->outputs()[0] == f32({n}));
    std::vector<float> x = iota(size_t(n)), y = iota(size_t(n), 10), out(static_cast<size_t>(n), 0.f);
    ok(run(*bound, {x.data(), y.data()}, {out.data()}));
    for (size_t i = 0; i < out.size(); ++i)
      CHECK(out[i] == -(x[i] + y[i]));
  }
}

TEST_CASE("inputs that do not fit the signature are named") {
  TestProgram p;
  p.symbol("batch", 1, 512);
  p.symbol("n", 2, INT64_MAX);
  int image = p.input("image", DType::Float32, {"batch", 1, 8, 8});
  p.input("label", DType::Int64, {"batch", "n"});
  p.output("out", p.node(OpDef::get("neg"), {image}));
  p.kernel(negKernel, 4);
  ProgramRef program = p.create();
  TensorMeta label(DType::Int64, {3, 2});
  auto message = [&](TensorMeta a, TensorMeta b) { return messageOf(program->bind({a, b})); };
  CHECK(message(f32({600, 1, 8, 8}), label) ==
        "test: input image must be f32[batch, 1, 8, 8] with batch in 1..512, got f32[600, 1, 8, 8]");
  CHECK(message(f32({3, 1, 8}), label) ==
        "test: input image must be f32[batch, 1, 8, 8] with batch in 1..512, got f32[3, 1, 8]");
  CHECK(message(TensorMeta(DType::Float64, {3, 1, 8, 8}), label) ==
        "test: input image must be f32[batch, 1, 8, 8] with batch in 1..512, got f64[3, 1, 8, 8]");
  CHECK(message(f32({3, 1, 8, 8}), TensorMeta(DType::Int64, {3, 1})) ==
        "test: input label must be i64[batch, n] with batch in 1..512, n at least 2, got i64[3, 1]");
  CHECK(message(f32({4, 1, 8, 8}), label) ==
        "test: batch must be one size in all inputs, got 4 in image and 3 in label");
  CHECK(messageOf(program->bind({label})) == "test: must have 2 inputs, got 1");
  CHECK(program->describeInput(0) == "f32[batch, 1, 8, 8] with batch in 1..512");
}

TEST_CASE("a run with the wrong number of pointers is an error") {
  BoundRef bound = get(negatedSum().create()->bind({f32({2}), f32({2})}));
  CHECK(messageOf(run(*bound, {}, {})) == "test: run must get 2 inputs, 1 outputs, 0 scalars, got 0, 0, 0");
}

TEST_CASE("nothing is allocated after the first run") {
  BoundRef bound = get(negatedSum().create()->bind({f32({100}), f32({100})}));
  std::vector<float> x(100), y(100), out(100);
  ok(run(*bound, {x.data(), y.data()}, {out.data()}));
  uint64_t allocations = hostDevice().allocator().stats().allocations, launches = launchCount();
  for (int i = 0; i < 10; ++i)
    ok(run(*bound, {x.data(), y.data()}, {out.data()}));
  CHECK(hostDevice().allocator().stats().allocations == allocations);
  CHECK(launchCount() == launches + 10 * bound->launches());
  CHECK(bound->launches() == 2);
}

TEST_CASE("the arena can be handed in") {
  BoundRef bound = get(negatedSum().create()->bind({f32({64}), f32({64})}));
  CHECK(bound->memory().arena == 256); // the sum
  CHECK(bound->memory().outputs == 256);
  alignas(64) char arena[256];
  std::vector<float> x = iota(64), y = iota(64), out(64);
  RunOptions options;
  options.arena = arena;
  uint64_t allocations = hostDevice().allocator().stats().allocations;
  ok(run(*bound, {x.data(), y.data()}, {out.data()}, {}, options));
  CHECK(hostDevice().allocator().stats().allocations == allocations);
  CHECK(out[3] == -8);
  CHECK(reinterpret_cast<float *>(arena)[3] == 8);
}

TEST_CASE("broadcast operands have stride 0 and views their own") {
  bool isTransposed = GENERATE(false, true);
  TestProgram p;
  int x = isTransposed ? p.input("x", DType::Float32, {4, 3}) : p.input("x", DType::Float32, {3, 4});
  int y = p.input("y", DType::Float32, {1, 4});
  if (isTransposed)
    x = p.node(transpose(), {x}, ValueKind::View);
  p.output("out", p.node(OpDef::get("add"), {x, y}));
  p.kernel(
       [](void *const *q, const int64_t *d, void *, int64_t outerLo, int64_t outerHi, int64_t lo, int64_t hi) {
         for (int64_t i = outerLo; i < outerHi; ++i)
           for (int64_t j = lo; j < hi; ++j) // dims: 2 sizes, then two strides for each operand
             static_cast<float *>(q[2])[i * d[6] + j * d[7]] = static_cast<const float *>(q[0])[i * d[2] + j * d[3]] +
                                                               static_cast<const float *>(q[1])[i * d[4] + j * d[5]];
       },
       2)
      .parallel = {{0, 1}, {1, 2}};
  std::vector<float> a = iota(12), b = iota(4, 100), out(12);
  BoundRef bound = get(p.create()->bind({isTransposed ? f32({4, 3}) : f32({3, 4}), f32({1, 4})}));
  ok(run(*bound, {a.data(), b.data()}, {out.data()}));
  for (size_t i = 0; i < 12; ++i)
    CHECK(out[i] == a[isTransposed ? i / 4 + i % 4 * 3 : i] + b[i % 4]);
}

TEST_CASE("axes that do not collapse are an error and no wild read") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {3, 4});
  p.output("out", p.node(OpDef::get("neg"), {p.node(transpose(), {x}, ValueKind::View)}));
  p.kernel(negKernel, 2); // claims that both axes are one
  CHECK(messageOf(p.create()->bind({f32({3, 4})}))
            .starts_with("bind: kernel axes 0..2 of [4, 3] must collapse for operand 0, got strides [1, 4]"));
}

TEST_CASE("bind: an input that repeats is copied for a kernel that does not repeat it") {
  TestProgram p;
  bool inLast = GENERATE(false, true);
  int64_t rows = inLast ? 3 : 1, columns = inLast ? 1 : 4;
  int x = p.input("x", DType::Float32, {3, 4}), y = p.input("y", DType::Float32, {rows, columns});
  int sum = p.node(OpDef::get("add"), {y, x});
  p.kernel(addKernel, 2); // claims that both axes are one
  p.output("out", p.node(OpDef::get("add"), {sum, y}));
  p.kernel(addKernel, 2);
  std::vector<float> a = iota(12), b = iota(4, 100), out(12);
  BoundRef bound = get(p.create()->bind({f32({3, 4}), f32({rows, columns})}));
  ok(run(*bound, {a.data(), b.data()}, {out.data()}));
  for (size_t i = 0; i < 12; ++i)
    CHECK(out[i] == a[i] + 2 * b[inLast ? i / 4 : i % 4]);
}

TEST_CASE("code made for other strides is refused at bind") {
  auto messageOfStep = [](int64_t step) {
    TestProgram p;
    int x = p.input("x", DType::Float32, {8});
    OpDef slice = OpDef::get("slice");
    slice.set("starts", IntList{0}).set("stops", IntList{8}).set("steps", IntList{step});
    p.output("out", p.node(OpDef::get("neg"), {p.node(slice, {x}, ValueKind::View)}));
    p.kernel(negKernel, 1).innerClasses = {InnerClass::Contiguous, InnerClass::Contiguous};
    return messageOf(p.create()->bind({f32({8})}));
  };
  CHECK(messageOfStep(1).empty());
  CHECK(messageOfStep(2).find("must have the inner stride that its code was made for (1), got 2") != std::string::npos);
  CHECK(messageOfStep(8).empty()); // one element has no stride
}

TEST_CASE("a reduction writes its row, with and without the axis, and over nothing") {
  auto rowSum = [](void *const *q, const int64_t *d, void *, int64_t lo, int64_t hi, int64_t, int64_t) {
    for (int64_t row = lo; row < hi; ++row) { // dims: rows, columns, then (row, column) strides
      float sum = -0.0f;
      for (int64_t i = 0; i < d[1]; ++i)
        sum += static_cast<const float *>(q[0])[row * d[2] + i * d[3]];
      static_cast<float *>(q[1])[row * d[4]] = sum;
    }
  };
  for (bool keep : {true, false})
    for (int64_t columns : {5, 0}) {
      TestProgram p;
      int x = p.input("x", DType::Float32, {3, columns});
      OpDef sum = OpDef::get("sum");
      sum.set("axes", IntList{1}).set("keepdims", keep);
      p.output("out", p.node(sum, {x}));
      Step &step = p.kernel(rowSum, 2);
      step.domain = {x};
      step.parallel = {{0, 1}};
      step.reduced = {{1, 2}};
      step.vectorOnReduced = true;
      BoundRef bound = get(p.create()->bind({f32({3, columns})}));
      std::vector<float> in = iota(15), out(3, 99);
      ok(run(*bound, {in.data()}, {out.data()}));
      for (size_t row = 0; row < 3; ++row)
        CHECK(out[row] == (columns ? 15 + 25 * float(row) : 0));
    }
}

TEST_CASE("an empty domain launches nothing") {
  ProgramRef program = negatedSum().create();
  TestProgram p;
  int x = p.input("x", DType::Float32, {0, 4});
  p.output("out", p.node(OpDef::get("neg"), {x}));
  p.kernel(negKernel, 2);
  BoundRef bound = get(p.create()->bind({f32({0, 4})}));
  CHECK(bound->launches() == 0);
  ok(run(*bound, {nullptr}, {nullptr}));
}

TEST_CASE("runtime attributes reach the kernel at each run") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {3});
  p.output("out", p.node(OpDef::get("neg"), {x}));
  p.kernel(scaleKernel, 1).scalars = {{ScalarSource::Parameter, 0, 0}};
  p.exe.numScalars = 1;
  BoundRef bound = get(p.create()->bind({f32({3})}));
  std::vector<float> in = iota(3), out(3);
  for (double factor : {2.0, -0.5}) {
    ok(run(*bound, {in.data()}, {out.data()}, {llvm::bit_cast<uint64_t>(factor)}));
    CHECK(out[2] == float(3 * factor));
  }
}

TEST_CASE("an operand that dies gives its memory to the result") {
  auto chain = [](bool inplace) {
    TestProgram p;
    int value = p.input("x", DType::Float32, {64});
    for (int i = 0; i < 6; ++i) {
      value = p.node(OpDef::get("neg"), {value});
      Step &step = p.kernel(negKernel, 1);
      if (inplace)
        step.inplace = {{0, 0}};
    }
    p.output("out", value);
    BoundRef bound = get(p.create()->bind({f32({64})}));
    std::vector<float> in = iota(64), out(64);
    ok(run(*bound, {in.data()}, {out.data()}));
    CHECK(out == in);
    return bound->memory().arena;
  };
  CHECK(chain(false) == 512);
  CHECK(chain(true) == 256);
}

TEST_CASE("memory is not given away while somebody still reads it") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {64});
  int a = p.node(OpDef::get("neg"), {x});
  p.kernel(negKernel, 1);
  int b = p.node(OpDef::get("neg"), {a});
  p.kernel(negKernel, 1).inplace = {{0, 0}};
  int c = p.node(OpDef::get("add"), {a, b});
  p.kernel(addKernel, 1).inplace = {{0, 0}, {1, 0}};
  p.output("out", p.node(OpDef::get("neg"), {c}));
  p.kernel(negKernel, 1);
  BoundRef bound = get(p.create()->bind({f32({64})}));
  CHECK(bound->memory().arena == 512);
  std::vector<float> in = iota(64), out(64, 5);
  ok(run(*bound, {in.data()}, {out.data()}));
  CHECK(out == std::vector<float>(64, 0));
}

TEST_CASE("large domains run in parallel on the worker, small ones on the caller") {
  TestProgram p;
  p.symbol("n", 1, INT64_MAX);
  int x = p.input("x", DType::Float32, {"n"}), y = p.input("y", DType::Float32, {"n"});
  p.output("out", p.node(OpDef::get("add"), {x, y}));
  p.kernel(addKernel, 1);
  ProgramRef program = p.create();
  for (int64_t n : {1000, 100003, 300003}) { // the second is split, but not worth the way to the worker
    BoundRef bound = get(program->bind({f32({n}), f32({n})}, {2, false}));
    CHECK(bound->needsWorker() == (n * kDefaultPicoseconds >= kWorkerPicoseconds));
    uint64_t before = executorStats().workerRuns;
    std::vector<float> a = iota(size_t(n)), b = iota(size_t(n), 5), out(static_cast<size_t>(n), 0.f);
    ok(run(*bound, {a.data(), b.data()}, {out.data()}));
    CHECK(executorStats().workerRuns == before + (n * kDefaultPicoseconds >= kWorkerPicoseconds));
    bool same = true;
    for (size_t i = 0; i < out.size(); ++i)
      same &= out[i] == a[i] + b[i];
    CHECK(same);
  }
}

TEST_CASE("constants are aligned and small integers are known to inference") {
  std::vector<float> ones = {1, 2, 3};
  TestProgram p;
  int x = p.input("x", DType::Float32, {3});
  int c = p.constant(f32({3}), ones.data());
  p.output("out", p.node(OpDef::get("add"), {x, c}));
  p.kernel(addKernel, 1);
  ProgramRef program = p.create();
  CHECK(program->constantBytes() == 12);
  BoundRef bound = get(program->bind({f32({3})}));
  CHECK(bound->memory().total() == 24);
  std::vector<float> in = {10, 20, 30}, out(3);
  ok(run(*bound, {in.data()}, {out.data()}));
  CHECK(out == std::vector<float>{11, 22, 33});
}

TEST_CASE("library steps run between kernels, with workspace from the arena") {
  TestProgram p;
  p.symbol("m", 1, 1000);
  int x = p.input("x", DType::Float32, {"m", 3}), w = p.input("w", DType::Float32, {3, 2});
  int product = p.node(OpDef::get("matmul"), {x, w});
  p.library();
  p.output("out", p.node(OpDef::get("neg"), {product}));
  p.kernel(negKernel, 2);
  ProgramRef program = p.create();
  BoundRef bound = get(program->bind({f32({2, 3}), f32({3, 2})}));
  CHECK(bound->implementations().size() == 1);
  std::vector<float> a = iota(6), b = iota(6), out(4);
  ok(run(*bound, {a.data(), b.data()}, {out.data()}));
  CHECK(out == std::vector<float>{-22, -28, -49, -64});
}

TEST_CASE("errors of inference name the user's line") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 3}), y = p.input("y", DType::Float32, {4, 5});
  int bad = p.node(OpDef::get("matmul"), {x, y});
  p.exe.values[size_t(bad)].location = "model.py:12 (Net.fc)";
  p.library();
  p.output("out", bad);
  std::string message = messageOf(p.create()->bind({f32({2, 3}), f32({4, 5})}));
  CHECK(message.find("matmul: ") == 0);
  CHECK(message.find(" at model.py:12 (Net.fc)") != std::string::npos);
}

TEST_CASE("a step with another operator than its node is refused") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 3}), w = p.input("w", DType::Float32, {3, 2});
  p.output("out", p.node(OpDef::get("matmul"), {x, w}));
  Step &step = p.library();
  get(p.tryCreate());
  SECTION("attributes that give another shape") { step.op.set("transpose_x", true).set("transpose_y", true); }
  SECTION("attributes that the operands do not fit") { step.op.set("transpose_y", true); }
  SECTION("other operands") { step.operands = {w, x}; }
  CHECK(messageOf(p.tryCreate()) ==
        "test: step 0 must be the operator that gives its results their shapes, got matmul");
}

TEST_CASE("a movement that does not compute what its node says is refused") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 3});
  OpDef pad = OpDef::get("pad");
  pad.set("low", IntList{1, 0}).set("high", IntList{0, 1});
  p.output("out", p.node(pad, {x}));
  Step &step = p.kernel(negKernel, 2);
  step.kind = StepKind::Movement;
  step.fillEntry = 0;
  step.scalars = {{ScalarSource::Immediate, 0, 0}};
  step.op = pad;
  get(p.tryCreate());
  step.op.set("high", IntList{7, 1});
  CHECK(messageOf(p.tryCreate()) == "test: step 0 must be the operator that gives its results their shapes, got pad");
}

TEST_CASE("the executor works through the device alone") {
  NullDevice device;
  TestProgram p;
  float one = 1;
  int x = p.input("x", DType::Float32, {"n", 64});
  p.exe.inputs[0].dims[0] = {-1, -1};
  int c = p.constant(f32({1, 1}), &one);
  int sum = p.node(OpDef::get("add"), {x, c});
  p.kernel(addKernel, 2).parallel = {{0, 2}};
  OpDef op = OpDef::get("matmul");
  op.set("transpose_y", true);
  int product = p.node(op, {sum, sum});
  p.library();
  p.output("product", product);
  p.output("x", x);
  ProgramRef program = p.create(&device);
  CHECK(device.takeCalls() == std::vector<std::string>{"allocate 4", "copy in 4"});
  BoundRef bound = get(program->bind({f32({2, 64})}));
  CHECK(device.takeCalls().empty()); // shapes and plans need no device
  char *memory = nullptr;
  ok(run(*bound, {memory}, {memory, memory}));
  std::vector<std::string> calls = device.takeCalls();
  REQUIRE(calls.size() == 5);
  CHECK(calls[0] == "allocate " + std::to_string(bound->memory().arena));
  CHECK(calls[1] == "launch outer=1 inner=128 parts=1");
  CHECK(calls[2] == "call " + bound->implementations()[0]);
  CHECK(calls[3] == "copy 512");
  CHECK(calls[4] == "synchronize");
  auto event = get(device.createEvent());
  CHECK_FALSE(event->done());
  ok(device.defaultStream().record(*event));
  CHECK(event->done());
}

TEST_CASE("threads may bind one program and run their own") {
  ProgramRef program = negatedSum().create();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 1; i < 50; ++i) {
        int64_t n = i + t;
        auto bound = program->bind({f32({n}), f32({n})});
        std::vector<float> x = iota(size_t(n)), y = iota(size_t(n)), out(static_cast<size_t>(n), 0.f);
        if (bound && !run(**bound, {x.data(), y.data()}, {out.data()}) && out[0] == -2)
          ++good;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 4 * 49);
}

TEST_CASE("bind: a free size may become 1 beside a larger one") {
  TestProgram program;
  program.symbol("n", 1, 9);
  program.symbol("m", 1, 9);
  int x = program.input("x", DType::Float32, {"n"}), y = program.input("y", DType::Float32, {"m"});
  program.output("out", program.node(OpDef::get("add"), {x, y}));
  program.kernel(addKernel, 1).innerClasses.assign(3, InnerClass::Contiguous); // made for operands that both vary
  ProgramRef made = program.create();
  for (auto [n, m] : {std::pair(1, 5), std::pair(5, 1), std::pair(1, 1)}) {
    BoundRef bound = get(made->bind({f32({n}), f32({m})}));
    std::vector<float> a = iota(size_t(n), 7), b = iota(size_t(m), 100), out(size_t(std::max(n, m)));
    ok(run(*bound, {a.data(), b.data()}, {out.data()}));
    for (size_t i = 0; i < out.size(); ++i)
      CHECK(out[i] == a[n == 1 ? 0 : i] + b[m == 1 ? 0 : i]);
  }
}
