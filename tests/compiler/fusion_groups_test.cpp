// Which operators share a kernel, where a program is large.
#include "compiler/transforms/FusionGroups.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace tess;
using namespace tess::test;

namespace {

/// A value with twice `readers` readers: matrix products, and sums of it and each of the products, which must not share
/// its kernel.
ir::Graph hub(int readers) {
  ir::GraphBuilder b;
  auto hub = apply(b, OpDef::get("exp"), {b.input("x", TensorMeta(DType::Float32, {4, 4}))});
  for (int i = 0; i < readers; ++i) {
    auto product = apply(b, OpDef::get("matmul"), {hub, hub});
    b.output(apply(b, OpDef::get("add"), {hub, product}), "out" + std::to_string(i));
  }
  return b.finish();
}

size_t countGroups(ir::Graph &graph) {
  return compiler::FusionGroups(graph.impl().main().getBody().front(), /*fuse=*/true).groups().size();
}

} // namespace

TEST_CASE("a reader of a product shares no kernel with what the product reads") {
  ir::Graph graph = hub(3);
  CHECK(countGroups(graph) == 4);
}

TEST_CASE("grouping takes a time that is linear in the readers of a value") {
  ir::Graph graph = hub(20000);
  alarm(20); // seconds, for what takes 2
  CHECK(countGroups(graph) == 20001);
  alarm(0);
}
