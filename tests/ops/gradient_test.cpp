// Gradient graphs of products.
#include "ops/graphs/Subgraph.h"
#include "tests/runtime/Expect.h"

using namespace tess;
using namespace tess::test;

namespace {

/// The names of the operators in the gradient of a product of two tensors.
std::string gradientOf(const OpDef &op, const Shape &x, const Shape &y) {
  Metas operands = {TensorMeta(DType::Float32, x), TensorMeta(DType::Float32, y)};
  Subgraph graph = get(op.makeBackwardGraph(operands, {false, true}, {true}));
  std::string text;
  for (const Subgraph::Node &node : graph.nodes)
    text += (text.empty() ? "" : " ") + node.op.name().str();
  return text;
}

} // namespace

TEST_CASE("the gradient of a matrix that a batch shares is one product over all rows") {
  OpDef matmul = OpDef::get("matmul");
  CHECK(gradientOf(matmul, {5, 2, 3}, {3, 4}) == "flatten flatten matmul");
  CHECK(gradientOf(OpDef::get("matmul").set("transpose_y", true), {6, kUnknown, 2, 3}, {4, 3}) ==
        "flatten flatten matmul");
  CHECK(gradientOf(OpDef::get("linear"), {5, 2, 3}, {4, 3}) == "flatten flatten matmul");
  CHECK(gradientOf(matmul, {2, 3}, {3, 4}) == "matmul");
  CHECK(gradientOf(matmul, {5, 2, 3}, {5, 3, 4}) == "matmul");
  CHECK(gradientOf(OpDef::get("matmul").set("transpose_x", true), {5, 3, 2}, {3, 4}).starts_with("matmul"));
}
