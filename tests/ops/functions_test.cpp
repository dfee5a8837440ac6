//===- functions_test.cpp - the generated C++ functions ------------------===//
//
// Over a Tensor that only remembers what was applied.
//
//===----------------------------------------------------------------------===//
#include "ops/operator/OpDef.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace tess;

namespace {

struct Tensor {
  std::string text;
};

std::string called(const OpDef &op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments) {
  std::string text = op.toString();
  for (const Tensor &operand : operands)
    text += " " + (operand.text.empty() ? "-" : operand.text);
  for (unsigned n : segments)
    text += " " + std::to_string(n);
  return text;
}

Tensor apply(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {}) {
  return {called(op, operands, segments)};
}

std::vector<Tensor> applyAll(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments = {}) {
  return {{called(op, operands, segments)}};
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#include "tests/ops/Functions.inc"
#pragma clang diagnostic pop

} // namespace

TEST_CASE("generated functions apply their operator") {
  Tensor x = {"x"}, y = {"y"};
  CHECK(matmul(x, y, true).text == "matmul(transpose_x=true, transpose_y=false) x y");
  CHECK(softmax(x).text == "softmax(axis=-1) x");
  CHECK(astype(x, DType::Float16).text == "cast(dtype=f16) x");
  CHECK(clip(x, 0.0).text == "clip(lower=0.0, upper=inf) x");
  CHECK(scaled_dot_product_attention(x, y, y)[0].text ==
        "scaled_dot_product_attention(is_causal=false, scale=none) x y y -");
  CHECK(scaled_dot_product_attention(x, y, y, x, true, 2)[0].text ==
        "scaled_dot_product_attention(is_causal=true, scale=2.0) x y y x");
  CHECK(full({2, 3}, 1.5).text == "full(shape=[2, 3], value=1.5, dtype=f32)");
  CHECK(cross_entropy(x, y, {}, 1, 0.1, true, "sum").text ==
        "cross_entropy(axis=1, label_smooth=0.1, with_logits=true, reduction=\"sum\", ignore_index=-100) x y -");
}

TEST_CASE("variadic operands carry their counts, optional ones may be left out") {
  Tensor x = {"x"}, y = {"y"};
  CHECK(concat({x, y}, 1).text == "concat(axis=1) x y 2");
  CHECK(index_get(x, {y, y}, {0, 1}).text == "index_get(axes=[0, 1]) x y y 1 2");
  CHECK(linear(x, y).text == "linear() x y -");
  CHECK(topk(x, 2)[0].text == "topk(k=2, descending=true) x");
}
