// Outputs that no step writes where they belong: views, inputs, memory that they take over.
#include "runtime/run/Executor.h"
#include "runtime/sim/SimDevice.h"
#include "tests/runtime/TestProgram.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

OpDef transpose() {
  OpDef op = OpDef::get("transpose");
  return op.set("pattern", IntList{1, 0});
}

} // namespace

TEST_CASE("views read their base and outputs that are views are copied or written in place") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 3});
  int neg = p.node(OpDef::get("neg"), {x});
  p.kernel(negKernel, 2);
  OpDef reshape = OpDef::get("reshape");
  reshape.set("shape", IntList{6});
  int transposed = p.node(transpose(), {neg}, ValueKind::View);
  int flat = p.node(reshape, {neg}, ValueKind::View);
  p.output("flat", flat);             // the kernel writes it where it belongs
  p.output("transposed", transposed); // a strided copy
  p.output("input", x);               // a plain copy
  BoundRef bound = get(p.create()->bind({f32({2, 3})}));
  CHECK(bound->memory().arena == 0);
  CHECK(bound->launches() == 3);
  std::vector<float> in = {1, 2, 3, 4, 5, 6}, a(6), b(6), c(6);
  ok(run(*bound, {in.data()}, {a.data(), b.data(), c.data()}));
  CHECK(a == std::vector<float>{-1, -2, -3, -4, -5, -6});
  CHECK(b == std::vector<float>{-1, -4, -2, -5, -3, -6});
  CHECK(c == in);
}

TEST_CASE("an output may take over an input's buffer") {
  TestProgram p;
  int w = p.input("w", DType::Float32, {4}), g = p.input("g", DType::Float32, {4});
  int sum = p.node(OpDef::get("add"), {w, g});
  p.kernel(addKernel, 1);
  p.output("w", sum, 0);
  SECTION("read by the same step without a promise: through the arena") {}
  SECTION("read by the same step in place: directly") { p.exe.steps[0].inplace = {{0, 0}}; }
  SECTION("read later: through the arena") {
    p.output("old", p.node(OpDef::get("neg"), {w}));
    p.kernel(negKernel, 1);
    p.exe.steps[0].inplace = {{0, 0}};
  }
  bool direct = !p.exe.steps[0].inplace.empty() && p.exe.steps.size() == 1;
  BoundRef bound = get(p.create()->bind({f32({4}), f32({4})}));
  CHECK(bound->memory().arena == (direct ? 0 : 64));
  std::vector<float> weight = {1, 2, 3, 4}, gradient = {10, 20, 30, 40}, old(4);
  llvm::SmallVector<void *> outputs = {nullptr, old.data()};
  ok(run(*bound, {weight.data(), gradient.data()}, llvm::ArrayRef(outputs).take_front(bound->outputs().size())));
  CHECK(weight == std::vector<float>{11, 22, 33, 44});
  if (bound->outputs().size() == 2)
    CHECK(old == std::vector<float>{-1, -2, -3, -4});
}

TEST_CASE("two inputs may change places") {
  TestProgram p;
  int a = p.input("a", DType::Float32, {4}), b = p.input("b", DType::Float32, {4});
  p.output("a", b, 0);
  p.output("b", a, 1);
  BoundRef bound = get(p.create()->bind({f32({4}), f32({4})}));
  std::vector<float> x = {1, 2, 3, 4}, y = {5, 6, 7, 8};
  ok(run(*bound, {x.data(), y.data()}, {nullptr, nullptr}));
  CHECK(x == std::vector<float>{5, 6, 7, 8});
  CHECK(y == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("an input is shown as it was, though an output takes over its memory") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2});
  p.output("new", p.node(OpDef::get("neg"), {x}), 0);
  p.kernel(negKernel, 1);
  p.output("old", x);
  std::vector<float> memory = {1, 2}, old(2);
  ok(run(*get(p.create()->bind({f32({2})})), {memory.data()}, {nullptr, old.data()}));
  CHECK(memory == std::vector<float>{-1, -2});
  CHECK(old == std::vector<float>{1, 2});
}

TEST_CASE("a donated buffer must have the output's shape") {
  TestProgram p;
  int w = p.input("w", DType::Float32, {4}), g = p.input("g", DType::Float32, {1});
  p.output("w", p.node(OpDef::get("neg"), {w}), 1);
  (void)g;
  p.kernel(negKernel, 1);
  CHECK(messageOf(p.create()->bind({f32({4}), f32({1})})) ==
        "bind: output w must have the shape of input g, whose memory it takes over, got f32[4] and f32[1]");
}

TEST_CASE("the host makes a copy that is not in one piece") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 2});
  p.output("out", p.node(transpose(), {x}, ValueKind::View));
  std::vector<float> in = {1, 2, 3, 4}, out(4);
  SECTION("on the processor") {
    ok(run(*get(p.create()->bind({f32({2, 2})})), {in.data()}, {out.data()}));
    CHECK(out == std::vector<float>{1, 3, 2, 4});
  }
  SECTION("on another device") {
    SimDevice device;
    Stream &stream = device.defaultStream();
    BoundRef bound = get(p.create(&device)->bind({f32({2, 2})}));
    BufferRef there = get(Buffer::allocate(device, 16)), result = get(Buffer::allocate(device, 16));
    ok(stream.copyIn(there->data(), in.data(), 16));
    ok(run(*bound, {there->data()}, {result->data()}));
    ok(stream.copyOut(out.data(), result->data(), 16));
    ok(stream.synchronize());
    CHECK(out == std::vector<float>{1, 3, 2, 4});
  }
}
