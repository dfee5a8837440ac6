// Which memory each value lives in, where a program has many outputs.
#include "runtime/bind/StoragePlan.h"
#include "tests/runtime/TestProgram.h"

#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

StoragePlan planOf(const TestProgram &program) {
  TensorMeta meta(DType::Float32, {2});
  std::vector<TensorMeta> metas(program.exe.values.size(), meta);
  std::vector<Layout> layouts(program.exe.values.size(), Layout::contiguous(meta.shape));
  return get(planStorage(program.exe, metas, layouts));
}

} // namespace

TEST_CASE("an input that an output shows is not overwritten by the step that makes another output") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2});
  int neg = p.node(OpDef::get("neg"), {x});
  p.kernel(negKernel, 1);
  p.output("new", neg, 0);
  p.output("old", x);
  StoragePlan plan = planOf(p);
  REQUIRE(plan.copies.size() == 3);
  CHECK(plan.copies[0].value == x); // read before it is written
  CHECK(plan.copies[0].to.kind == Place::Arena);
  CHECK(plan.copies[1].value == neg);
  CHECK(plan.copies[2].from.kind == Place::Arena);
}

/// An indexed write into neg(x), or into x where the output donates it; `isLast`: its result is the output, not the
/// negative of that.
static StoragePlan planOfWrites(bool readsItself, int donates, bool isLast) {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2}), v = p.input("v", DType::Float32, {2});
  int index = p.input("i", DType::Int64, {2});
  int target = donates < 0 ? p.node(OpDef::get("neg"), {x}) : x;
  if (donates < 0)
    p.kernel(negKernel, 1);
  OpDef set = OpDef::get("index_set");
  set.set("axes", IntList{0});
  int written = p.node(set, {target, readsItself ? target : v, index});
  p.library().inplace = {{0, 0}};
  if (!isLast) {
    written = p.node(OpDef::get("neg"), {written});
    p.kernel(negKernel, 1);
  }
  p.output("out", written, donates);
  return planOf(p);
}

TEST_CASE("a step that changes places writes into its operand, unless it reads that in another way, too") {
  auto numAllocations = [](const StoragePlan &plan) {
    return llvm::count_if(plan.allocations, [](const Allocation &a) { return a.bytes != 0; });
  };
  CHECK(numAllocations(planOfWrites(false, -1, false)) == 1);
  CHECK(numAllocations(planOfWrites(true, -1, false)) == 2);
  CHECK(numAllocations(planOfWrites(false, -1, true)) == 0); // the negative lies where the output will be
  CHECK(numAllocations(planOfWrites(true, -1, true)) == 1);
  CHECK(planOfWrites(false, 0, true).copies.empty());
  CHECK(planOfWrites(true, 0, true).copies.size() == 1);
}

TEST_CASE("a plan takes a time that is linear in the outputs") {
  constexpr int count = 100000;
  TestProgram p;
  for (int i = 0; i < count; ++i) {
    int x = p.input("x", DType::Float32, {2});
    p.output("new", p.node(OpDef::get("neg"), {x}), i);
    p.kernel(negKernel, 1).inplace = {{0, 0}};
  }
  int shown = p.input("y", DType::Float32, {2});
  for (int i = 0; i < count; ++i)
    p.output("copy", shown);
  alarm(10); // seconds, for what takes 1
  StoragePlan plan = planOf(p);
  alarm(0);
  CHECK(plan.copies.size() == count);
  CHECK(plan.copies.back().from.kind == Place::None);
}
