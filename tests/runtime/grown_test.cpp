// What loops without a bound stack: memory that grows, and what may be done with it.
#include "ops/graphs/Control.h"
#include "runtime/device/Allocator.h"
#include "runtime/run/Executor.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/Features.h"
#include "tests/runtime/TestProgram.h"
#include "llvm/ADT/StringExtras.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

const TensorMeta kCount(DType::Int64, {}), kRow(DType::Float32, {3}), kGrown(DType::Float32, {1, 3});

/// A loop of n trips, h += 1 each time, that stacks -h; then one back of m trips that adds these up.
struct GrownProgram : TestProgram {
  ValueId n, m, h, saved = -1, last, total;

  /// `apart`: the second loop takes what grew as an input.
  explicit GrownProgram(bool apart = false) {
    n = input("n", DType::Int64, {});
    m = input("m", DType::Int64, {});
    h = input("h", DType::Float32, {3});
    ValueId one = input("one", DType::Float32, {3});
    if (apart)
      saved = input("saved", DType::Float32, {1, 3});
    ValueId carried = open(n, h, -1);
    ValueId neg = node(OpDef::get("neg"), {carried});
    kernel(negKernel, 1);
    ValueId sum = node(OpDef::get("add"), {carried, one});
    kernel(addKernel, 1).inplace = {{0, 0}};
    last = close({sum, neg});
    if (!apart)
      saved = exe.steps[0].results[2];
    ValueId x = -1, so = open(m, h, saved, &x);
    sum = node(OpDef::get("add"), {so, x});
    kernel(addKernel, 1).inplace = {{0, 0}};
    exe.loops[1].reverse = true;
    total = close({sum});
    output("last", last);
    output("total", total);
  }

  ValueId value(ValueKind kind, DType dtype = DType::Float32) {
    exe.values.push_back({kind, dtype, -1, -1, "", ""});
    return ValueId(exe.values.size() - 1);
  }

  /// Begins a loop that carries `count` and `start` and takes elements of `xs`, if any; returns what is carried.
  ValueId open(ValueId count, ValueId start, ValueId xs, ValueId *element = nullptr) {
    step = exe.steps.size(), node0 = exe.nodes.size();
    LoopDecl &loop = exe.loops.emplace_back();
    loop.arguments = {value(ValueKind::Argument, DType::Int64), value(ValueKind::Argument)};
    loop.numCarried = 2;
    loop.length = control::kManyTrips;
    loop.isGuarded = true;
    ValueIds operands = {count, start};
    if (element) {
      operands.push_back(xs);
      loop.arguments.push_back(*element = value(ValueKind::Argument));
    }
    exe.nodes.emplace_back();
    exe.steps.emplace_back();
    exe.nodes.back().operands = exe.steps.back().operands = operands;
    exe.nodes.back().loop = exe.steps.back().loop = int32_t(exe.loops.size()) - 1;
    exe.steps.back().kind = StepKind::Loop;
    return loop.arguments[1];
  }

  /// Ends it with what it yields behind the count; returns what it carried last.
  ValueId close(ValueIds yields) {
    LoopDecl &loop = exe.loops.back();
    loop.yields = {loop.arguments[0]};
    loop.yields.append(yields);
    loop.numNodes = uint32_t(exe.nodes.size() - node0 - 1);
    loop.numSteps = uint32_t(exe.steps.size() - step - 1);
    ValueIds results = {value(ValueKind::Temp, DType::Int64)};
    for (size_t i = 0; i < yields.size(); ++i)
      results.push_back(value(ValueKind::Temp));
    exe.nodes[node0].results = exe.steps[step].results = results;
    return results[1];
  }

private:
  size_t step = 0, node0 = 0;
};

struct Results {
  std::vector<float> last = std::vector<float>(3), total = std::vector<float>(3);
  std::string error;
};

Results runOn(Bound &bound, int64_t n, int64_t m) {
  Results results;
  std::vector<float> h = {1, 2, 3}, one = {1, 1, 1};
  llvm::Error error = run(bound, {&n, &m, h.data(), one.data()}, {results.last.data(), results.total.data()});
  results.error = takeError(std::move(error)).second;
  return results;
}

BoundRef bindOf(GrownProgram &p) { return get(p.create()->bind({kCount, kCount, kRow, kRow})); }

} // namespace

TEST_CASE("what a loop without a bound stacks grows as it goes on") {
  GrownProgram p;
  BoundRef bound = bindOf(p);
  uint64_t held = hostDevice().allocator().stats().inUse;
  for (int64_t n : {0, 1, 8, 9, 1000, 3, 70}) { // pointers are where they were, and memory goes back
    Results results = runOn(*bound, n, n);
    CHECK(results.error == "");
    int64_t pairs = n * (n - 1) / 2;
    float made = float(n), sum = float(pairs);
    CHECK(results.last == std::vector<float>{1 + made, 2 + made, 3 + made});
    CHECK(results.total == std::vector<float>{1 - made - sum, 2 - 2 * made - sum, 3 - 3 * made - sum});
    CHECK(hostDevice().allocator().stats().inUse <= held + bound->memory().arena + 4096);
  }
}

TEST_CASE("the memory of a trip is known, and is not planned") {
  GrownProgram p;
  BoundRef bound = bindOf(p);
  CHECK(bound->memory().savedPerTrip == 12);
  CHECK(bound->memory().arena <= 4 * 64);
  CHECK_FALSE(bound->isOutputGrown(0));
}

TEST_CASE("a loop reads no more trips than there were") {
  GrownProgram p;
  BoundRef bound = bindOf(p);
  CHECK(runOn(*bound, 20, 21).error ==
        "while_loop: the gradient of a loop without max_trips must read what each trip saved, got trip 20 of 20");
  p.exe.loops[1].reverse = false;
  bound = bindOf(p);
  CHECK(runOn(*bound, 20, 21).error ==
        "while_loop: the gradient of a loop without max_trips must read what each trip saved, got trip 20 of 20");
  CHECK(runOn(*bound, 20, 20).error == "");
}

TEST_CASE("memory that there is not ends the run") {
  GrownProgram p;
  BoundRef bound = bindOf(p);
  Allocator &allocator = hostDevice().allocator();
  allocator.setLimit(allocator.stats().inUse + (1 << 20));
  std::string error = runOn(*bound, int64_t(1) << 40, 0).error;
  allocator.setLimit(UINT64_MAX);
  CHECK_THAT(error, Catch::Matchers::Contains("while_loop: what trips save for a gradient must find memory, got 65536 "
                                              "trips of 12 bytes (cpu0: memory must stay within"));
  CHECK(runOn(*bound, 20, 20).error == "");
  p.exe.loops[0].reverse = true; // it knows before how many there will be
  CHECK(runOn(*bindOf(p), int64_t(1) << 61, 0).error ==
        "while_loop: what trips save for a gradient must find memory, got 2305843009213693952 trips of 12 bytes (more "
        "than 2^62)");
}

TEST_CASE("what grew goes from one program to another") {
  GrownProgram p, reader(/*apart=*/true);
  p.output("saved", p.saved);
  BoundRef first = bindOf(p), second = get(reader.create()->bind({kCount, kCount, kRow, kRow, kGrown}));
  CHECK(first->isOutputGrown(2));
  CHECK(second->memory().savedPerTrip == 12); // of its own first loop
  int64_t n = 30, trips = 0;
  std::vector<float> h = {1, 2, 3}, one = {1, 1, 1}, last(3), total(3), again(3);
  BufferRef buffer;
  RunOptions options;
  options.takeGrown = [&](size_t, BufferRef taken, int64_t count) { buffer = std::move(taken), trips = count; };
  ok(run(*first, {&n, &n, h.data(), one.data()}, {last.data(), total.data(), nullptr}, {}, options));
  CHECK(trips == n);
  options.savedTrips = [&](size_t) { return trips; };
  ok(run(*second, {&n, &n, h.data(), one.data(), buffer->data()}, {last.data(), again.data()}, {}, options));
  CHECK(again == total);
  CHECK(messageOf(run(*second, {&n, &n, h.data(), one.data(), buffer->data()}, {last.data(), again.data()})) ==
        "while_loop: the gradient of a loop without max_trips must read what each trip saved, got trip 29 of 1");
  CHECK(messageOf(run(*first, {&n, &n, h.data(), one.data()}, {last.data(), total.data(), nullptr})) ==
        "test: memory of output saved, which grew, must be taken over, got nobody who does");
}

TEST_CASE("nothing else reads what grew") {
  auto refusal = [](void (*edit)(GrownProgram &)) {
    GrownProgram p;
    edit(p);
    return messageOf(p.tryCreate());
  };
  auto expected = Catch::Matchers::Contains("what loops without a bound stack must be read by such loops alone, got");
  CHECK_THAT(refusal([](GrownProgram &p) {
               p.output("neg", p.node(OpDef::get("neg"), {p.saved}));
               p.kernel(negKernel, 2);
             }),
             expected);
  CHECK_THAT(refusal([](GrownProgram &p) { p.exe.loops[1].length = -1; }), expected);
  CHECK_THAT(refusal([](GrownProgram &p) { p.exe.loops[0].length = 99; }), expected);
  CHECK_THAT(refusal([](GrownProgram &p) { p.output("saved", p.saved, 2); }), expected);
  CHECK_THAT(refusal([](GrownProgram &p) { p.exe.dataSizes.push_back({p.saved, 0}); }), expected);
}

TEST_CASE("older readers refuse what grows by name") {
  GrownProgram p;
  auto names = [&] { return llvm::join(featuresOf(p.exe).names(), " "); };
  CHECK(names() == "grown_values loops");
  CHECK(featuresOf(get(parseExecutable(serializeExecutable(p.exe), "p"))) == featuresOf(p.exe));
  p.exe.loops[0].length = p.exe.loops[1].length = 99;
  CHECK(names() == "loops");
}
