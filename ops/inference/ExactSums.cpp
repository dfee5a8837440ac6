//===- ExactSums.cpp - sums of products of bytes within int32 -------------===//
#include "ops/inference/ExactSums.h"

#include "ops/inference/Checks.h"
#include "ops/inference/RuleErrors.h"

namespace tess::integers {

static int64_t largest(const TensorMeta &operand, bool hasZero) {
  return hasZero || storageOf(operand.dtype) == DType::UInt8 ? 255 : 128;
}

llvm::Error requireDepth(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int64_t depth) {
  const int64_t product = largest(operands[0], operands.size() > 2) * largest(operands[1], operands.size() > 3);
  const int64_t most = INT32_MAX / product;
  if (depth == kUnknown || sizes::isSymbolic(depth) || depth <= most)
    return llvm::Error::success();
  return shapes::mustHoldOfTwo(
      op, "depth (" + llvm::Twine(depth) + ", at most " + llvm::Twine(most) + ") must keep sums within int32", operands,
      0, 1);
}

} // namespace tess::integers

namespace tess::checks {

llvm::Error integerMatmul(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  const Shape &x = operands[0].shape;
  return integers::requireDepth(op, operands, x[x.size() - (op.boolean("transpose_x") ? 2 : 1)]);
}

} // namespace tess::checks
