// Loops: what trips share of memory, what a file may say of them, and how they run.
#include "runtime/run/Executor.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/FlatExecutable.h"
#include "tests/runtime/TestProgram.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

/// A scan whose trip gives `h + x` and `-h`: s, ys = scan(h, xs).
struct LoopProgram : TestProgram {
  ValueId h, xs, carried, x, sum, neg, last, ys;

  explicit LoopProgram(bool reverse = false) {
    symbol("steps", 0, 100);
    h = input("h", DType::Float32, {3});
    xs = input("xs", DType::Float32, {"steps", 3});
    exe.loops.emplace_back();
    carried = value(ValueKind::Argument);
    x = value(ValueKind::Argument);
    exe.nodes.emplace_back();
    exe.steps.emplace_back();
    neg = node(OpDef::get("neg"), {carried});
    kernel(negKernel, 1);
    sum = node(OpDef::get("add"), {carried, x});
    kernel(addKernel, 1).inplace = {{0, 0}};
    last = value(ValueKind::Temp);
    ys = value(ValueKind::Temp);
    LoopDecl &loop = exe.loops[0];
    loop.arguments = {carried, x};
    loop.yields = {sum, neg};
    loop.numCarried = 1;
    loop.numNodes = loop.numSteps = 2;
    loop.reverse = reverse;
    exe.nodes[0].operands = exe.steps[0].operands = {h, xs};
    exe.nodes[0].results = exe.steps[0].results = {last, ys};
    exe.nodes[0].loop = exe.steps[0].loop = 0;
    exe.steps[0].kind = StepKind::Loop;
    exe.steps[0].inplace = {{0, 0}};
    output("last", last);
    output("ys", ys);
  }

  ValueId value(ValueKind kind) {
    exe.values.push_back({kind, DType::Float32, -1, -1, "", ""});
    return ValueId(exe.values.size() - 1);
  }
};

struct Results {
  std::vector<float> last, ys;
};

Results runOn(LoopProgram &p, int64_t steps) {
  BoundRef bound = get(p.create()->bind({f32({3}), f32({steps, 3})}));
  std::vector<float> h = {1, 2, 3}, xs(size_t(steps) * 3);
  for (size_t i = 0; i < xs.size(); ++i)
    xs[i] = float(i + 1) * 10;
  Results results{std::vector<float>(3), std::vector<float>(xs.size())};
  for (int again = 0; again < 2; ++again) // pointers that move are where they were
    ok(run(*bound, {h.data(), xs.data()}, {results.last.data(), results.ys.data()}));
  return results;
}

} // namespace

TEST_CASE("a loop runs its steps once for each element") {
  LoopProgram p;
  Results results = runOn(p, 2);
  CHECK(results.last == std::vector<float>{51, 72, 93});
  CHECK(results.ys == std::vector<float>{-1, -2, -3, -11, -22, -33});
}

TEST_CASE("a reversed loop begins with the last element") {
  LoopProgram p(/*reverse=*/true);
  Results results = runOn(p, 2);
  CHECK(results.last == std::vector<float>{51, 72, 93});
  CHECK(results.ys == std::vector<float>{-41, -52, -63, -1, -2, -3});
}

TEST_CASE("a loop without trips gives what it began with") {
  LoopProgram p;
  CHECK(runOn(p, 0).last == std::vector<float>{1, 2, 3});
}

TEST_CASE("a carried value is one memory unless it is read after it is written") {
  LoopProgram p;
  CHECK(get(p.create()->bind({f32({3}), f32({5, 3})}))->memory().arena == 0); // in the outputs
  std::swap(p.exe.nodes[1], p.exe.nodes[2]);
  std::swap(p.exe.steps[1], p.exe.steps[2]);
  BindOptions options;
  options.batches = false;
  BoundRef bound = get(p.create()->bind({f32({3}), f32({5, 3})}, options));
  CHECK(bound->memory().arena == 64);
  CHECK(bound->launches() == 5); // the start, the loop, two kernels, the end of a trip
  CHECK(runOn(p, 2).ys == std::vector<float>{-1, -2, -3, -11, -22, -33});
}

TEST_CASE("a loop survives its encoding") {
  LoopProgram p;
  std::string bytes = serializeExecutable(p.exe);
  auto noCode = [](Executable exe) {
    for (Image &image : exe.images)
      image.entries[0].offset = 0;
    return exe;
  };
  CHECK(serializeExecutable(noCode(get(parseExecutable(bytes, "a.tess")))) == bytes);
  CHECK(serializeExecutable(get(readFlat(writeFlat(p.exe), "flat"))) == bytes);
}

TEST_CASE("loops that are not whole are refused") {
  struct Case {
    const char *why;
    void (*edit)(LoopProgram &);
  };
  const Case cases[] = {
      {"node 0 must name a loop of its own among 1, got 3", [](LoopProgram &p) { p.exe.nodes[0].loop = 3; }},
      {"body of step 0 must end at most at 3", [](LoopProgram &p) { p.exe.loops[0].numSteps = 3; }},
      {"step 1 must name a loop if it is one", [](LoopProgram &p) { p.exe.steps[1].kind = StepKind::Loop; }},
      {"loop 0 must have a node and a step of the same values",
       [](LoopProgram &p) { p.exe.nodes[0].operands = {p.xs, p.h}; }},
      {"loop 0 must have an argument for each operand", [](LoopProgram &p) { p.exe.loops[0].arguments.pop_back(); }},
      {"loop 0 must have arguments of its own", [](LoopProgram &p) { p.exe.loops[0].arguments[1] = p.carried; }},
      {"loop 0 must yield temporaries that its body makes", [](LoopProgram &p) { p.exe.loops[0].yields[1] = p.sum; }},
      {"loop 0 must yield temporaries that its body makes", [](LoopProgram &p) { p.exe.loops[0].yields[1] = p.x; }},
      {"loop 0 must have a length, got -2", [](LoopProgram &p) { p.exe.loops[0].length = -2; }},
      {"loop 1 must have a node and a step in the same loop",
       [](LoopProgram &p) { p.exe.loops.push_back(p.exe.loops[0]), p.exe.loops[1].numNodes = 0; }},
      {"operand of node 1 must be defined before", [](LoopProgram &p) { p.exe.nodes[1].operands = {p.last}; }},
      {"operand of step 1 must be computed before", [](LoopProgram &p) { p.exe.steps[1].operands = {p.ys}; }},
  };
  for (const Case &each : cases) {
    LoopProgram p;
    each.edit(p);
    CHECK_THAT(messageOf(p.tryCreate()), Catch::Matchers::Contains(each.why));
  }
}

TEST_CASE("what a loop is bound to must fit") {
  LoopProgram p;
  p.exe.loops[0].length = 4;
  CHECK(messageOf(p.create()->bind({f32({3}), f32({5, 3})})) ==
        "scan: xs must have one size of axis 0, got 4 and f32[5, 3]");
  LoopProgram wide;
  wide.exe.inputs[0].dims[0].size = -1;
  CHECK_THAT(messageOf(wide.create()->bind({f32({1}), f32({5, 3})})),
             Catch::Matchers::Contains("scan: step must return each carried value"));
}
