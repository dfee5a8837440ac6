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

using Shape = std::vector<int64_t>;

struct Tensor {
  std::string text;
  Shape shape() const { return {2, 3}; }
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
  CHECK(matmul(x, y, true).text == "matmul(transpose_x=true, transpose_y=false, dtype=none) x y");
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

TEST_CASE("without an axis some functions flatten their operand, as Python's") {
  Tensor x = {"x"};
  std::string flat = "flatten(start_axis=0, end_axis=-1) x";
  CHECK(argmax(x, 1).text == "argmax(axis=1, keepdims=false) x");
  CHECK(argmax(x, -1, true).text == "argmax(axis=-1, keepdims=true) x");
  CHECK(argmax(x).text == "argmax(axis=0, keepdims=false) " + flat);
  CHECK(argmin(x, std::nullopt, true).text == "reshape(shape=[1, 1]) argmin(axis=0, keepdims=false) " + flat);
  CHECK(repeat(x, 2).text == "repeat(repeats=2, axis=0) " + flat);
  CHECK(roll(x, 2).text == "reshape_like() roll(shift=2, axis=0) " + flat + " x");
  CHECK(roll(x, 2, 0).text == "roll(shift=2, axis=0) x");
}

TEST_CASE("variadic operands carry their counts, optional ones may be left out") {
  Tensor x = {"x"}, y = {"y"};
  CHECK(concat({x, y}, 1).text == "concat(axis=1) x y 2");
  CHECK(index_get(x, {y, y}, {0, 1}).text == "index_get(axes=[0, 1]) x y y 1 2");
  CHECK(linear(x, y).text == "linear() x y -");
  CHECK(topk(x, 2)[0].text == "topk(k=2, descending=true) x");
}
