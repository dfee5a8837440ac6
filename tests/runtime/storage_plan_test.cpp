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
  REQUIRE(plan.copies.size() == 2);
  CHECK(plan.copies[0].stage < 0);
  CHECK(plan.copies[1].stage >= 0); // read before the first copy writes it
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
  CHECK(plan.copies.back().stage < 0);
}
