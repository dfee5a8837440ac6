//===- RuleErrors.h - how a shape rule says no -------------------*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"
#include "ops/vocabulary/SizeExpr.h"

namespace tess::shapes {

/// "<op>: <must>, got <operand> <meta>".
inline llvm::Error mustHold(const OpDef &op, const llvm::Twine &must, llvm::ArrayRef<TensorMeta> operands,
                            unsigned index = 0) {
  return invalidArgument(op.name() + ": " + must + ", got " + op.info().operands[index].name + " " +
                         toString(operands[index]));
}

/// "<op>: <must>, got x <meta> and y <meta>".
inline llvm::Error mustHoldOfTwo(const OpDef &op, const llvm::Twine &must, llvm::ArrayRef<TensorMeta> operands,
                                 unsigned first, unsigned second) {
  auto shown = [&](unsigned i) { return std::string(op.info().operands[i].name) + " " + toString(operands[i]); };
  return invalidArgument(op.name() + ": " + must + ", got " + shown(first) + " and " + shown(second));
}

/// "<user>: <must>, got <values>" of an operator that stands for another one.
inline llvm::Error mustHoldOf(const llvm::Twine &user, const llvm::Twine &must, const llvm::Twine &values) {
  return invalidArgument(user + ": " + must + ", got " + values);
}

/// "<op>: <must>, got <values>".
inline llvm::Error mustHoldOf(const OpDef &op, const llvm::Twine &must, const llvm::Twine &values) {
  return mustHoldOf(op.name(), must, values);
}

/// One result with the dtype of operand 0.
inline Metas single(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<int64_t> shape) {
  return {TensorMeta(operands[0].dtype, shape)};
}

/// `axis` counted from the front.
inline int64_t fromFront(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// Both numbers, and different. Of expressions it is taken for granted that they are not, and told (sizes::agreed).
inline bool differs(int64_t a, int64_t b) {
  if (a == b || a == kUnknown || b == kUnknown)
    return false;
  if (!sizes::isSymbolic({a, b}))
    return true;
  sizes::agreed(a, b);
  return false;
}

/// That int32 numbers the elements along those axes of operand 0 whose bits `axes` has.
inline llvm::Error fitsInt32(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, uint32_t axes) {
  for (unsigned i = 0; i < operands[0].rank(); ++i)
    if (axes >> i & 1 && operands[0].shape[i] > INT32_MAX)
      return mustHold(op, "axis must have at most 2147483647 elements", operands);
  return llvm::Error::success();
}

} // namespace tess::shapes
