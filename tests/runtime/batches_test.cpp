//===- batches_test.cpp - independent kernels as one launch ---------------===//
#include "runtime/device/Allocator.h"
#include "runtime/null/NullDevice.h"
#include "runtime/run/Executor.h"
#include "tests/runtime/TestProgram.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

TensorMeta f32(int64_t size) { return TensorMeta(DType::Float32, {size}); }

/// out_k = x_k + y for each size, y a number.
TestProgram sums(llvm::ArrayRef<int64_t> sizes) {
  TestProgram p;
  int y = p.input("y", DType::Float32, {1});
  for (int64_t size : sizes) {
    int x = p.input("x" + std::to_string(p.exe.inputs.size()), DType::Float32, {size});
    p.output("out" + std::to_string(p.exe.outputs.size()), p.node(OpDef::get("add"), {x, y}));
    p.kernel(addKernel, 1);
  }
  return p;
}

std::vector<std::vector<float>> runSums(const BoundRef &bound, llvm::ArrayRef<int64_t> sizes) {
  float y = 0.5f;
  std::vector<std::vector<float>> in, out;
  std::vector<void *> inputs = {&y}, outputs;
  for (int64_t size : sizes) {
    in.emplace_back(size_t(size), float(size));
    out.emplace_back(size_t(size));
  }
  for (size_t k = 0; k < sizes.size(); ++k) {
    inputs.push_back(in[k].data());
    outputs.push_back(out[k].data());
  }
  ok(run(*bound, inputs, outputs));
  uint64_t before = hostDevice().allocator().stats().allocations, launches = launchCount();
  ok(run(*bound, inputs, outputs));
  CHECK(hostDevice().allocator().stats().allocations == before);
  CHECK(launchCount() == launches + bound->launches());
  return out;
}

BoundRef bindWith(TestProgram &program, llvm::ArrayRef<TensorMeta> inputs, bool batches, unsigned threads = 1) {
  BindOptions options;
  options.threads = threads;
  options.batches = batches;
  return get(program.create()->bind(inputs, options));
}

} // namespace

TEST_CASE("kernels that touch no memory of each other are one launch") {
  unsigned threads = GENERATE(1u, 2u, 3u);
  const std::vector<std::vector<int64_t>> lists = {{4, 1, 17}, {100000, 3, 40000, 64, 9}, {20000, 20000, 20000}};
  for (const std::vector<int64_t> &sizes : lists) {
    TestProgram program = sums(sizes);
    std::vector<TensorMeta> metas = {f32(1)};
    for (int64_t size : sizes)
      metas.push_back(f32(size));
    BoundRef batched = bindWith(program, metas, true, threads), apart = bindWith(program, metas, false, threads);
    CHECK(batched->launches() == 1);
    CHECK(apart->launches() == sizes.size());
    auto result = runSums(batched, sizes);
    CHECK(result == runSums(apart, sizes));
    for (size_t k = 0; k < sizes.size(); ++k)
      CHECK(result[k] == std::vector<float>(size_t(sizes[k]), float(sizes[k]) + 0.5f));
  }
}

TEST_CASE("a kernel that reads what another one writes waits for it") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {8});
  int sum = p.node(OpDef::get("add"), {x, x});
  p.kernel(addKernel, 1);
  p.output("out", p.node(OpDef::get("neg"), {sum}));
  p.kernel(negKernel, 1);
  CHECK(bindWith(p, {f32(8)}, true)->launches() == 2);
}

TEST_CASE("a kernel that takes over a buffer waits for those that read it") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {4}), y = p.input("y", DType::Float32, {4});
  p.output("sum", p.node(OpDef::get("add"), {x, y}));
  p.kernel(addKernel, 1);
  int update = p.node(OpDef::get("neg"), {y});
  p.kernel(negKernel, 1);
  p.output("new_x", update, 0);
  BoundRef bound = bindWith(p, {f32(4), f32(4)}, true);
  CHECK(bound->launches() == 2);
  std::vector<float> a = {1, 2, 3, 4}, b = {10, 20, 30, 40}, sum(4);
  ok(run(*bound, {a.data(), b.data()}, {sum.data(), nullptr}));
  CHECK(sum == std::vector<float>{11, 22, 33, 44});
  CHECK(a == std::vector<float>{-10, -20, -30, -40});
}

TEST_CASE("a kernel that is given the memory of a dead value waits for its last reader") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {64}), y = p.input("y", DType::Float32, {64});
  int first = p.node(OpDef::get("neg"), {x});
  p.kernel(negKernel, 1);
  p.output("a", p.node(OpDef::get("add"), {first, x}));
  p.kernel(addKernel, 1);
  int second = p.node(OpDef::get("neg"), {y}); // in the memory of `first`
  p.kernel(negKernel, 1);
  p.output("b", p.node(OpDef::get("add"), {second, y}));
  p.kernel(addKernel, 1);
  BoundRef bound = bindWith(p, {f32(64), f32(64)}, true);
  CHECK(bound->memory().arena == 64 * 4);
  CHECK(bound->launches() == 4);
  std::vector<float> a(64, 1), b(64, 2), outA(64, 5), outB(64, 5);
  ok(run(*bound, {a.data(), b.data()}, {outA.data(), outB.data()}));
  CHECK(outA == std::vector<float>(64, 0));
  CHECK(outB == std::vector<float>(64, 0));
}

TEST_CASE("a device that knows no batches gets launch after launch") {
  NullDevice device;
  TestProgram p = sums({4, 6});
  BoundRef bound = get(p.create(&device)->bind({f32(1), f32(4), f32(6)}));
  device.takeCalls();
  char *memory = nullptr;
  ok(run(*bound, {memory, memory, memory}, {memory, memory}));
  CHECK(device.takeCalls() ==
        std::vector<std::string>{"launch outer=1 inner=4 parts=1", "launch outer=1 inner=6 parts=1", "synchronize"});
}
