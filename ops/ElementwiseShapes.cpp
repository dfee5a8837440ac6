//===- ElementwiseShapes.cpp - conditions on dtypes of conversions --------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"

using tess::shapes::mustHold;

namespace tess::checks {

llvm::Error cast(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  DType to = op.attr("dtype").dtype();
  if (isComplex(operands[0].dtype) && !isComplex(to) && !isBool(to))
    return mustHold(op, "x must be real where dtype is neither complex nor bool", operands);
  return llvm::Error::success();
}

} // namespace tess::checks
