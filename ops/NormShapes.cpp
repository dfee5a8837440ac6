//===- NormShapes.cpp - shapes of normalisations -------------------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

namespace checks {

using namespace shapes;

/// Checks that operands 1 to 4 are parameters of shape [1, C, 1, ...] and of one dtype.
llvm::Error batchParameters(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  if (x.rank() < 2 || x.rank() > 5)
    return mustHold(op, "x must have rank 2 to 5", operands);
  for (unsigned i = 1; i < operands.size(); ++i) {
    const TensorMeta &p = operands[i];
    bool fits = p.rank() == x.rank();
    for (unsigned axis = 0; fits && axis < p.rank(); ++axis)
      fits = !differs(p.shape[axis], axis == 1 ? x.shape[1] : 1);
    if (!fits)
      return mustHoldOfTwo(op, "parameters must have shape [1, C, 1, ...] for x [N, C, ...]", operands, 0, i);
    if (p.dtype != operands[1].dtype)
      return mustHoldOfTwo(op, "parameters must have one dtype", operands, 1, i);
  }
  return llvm::Error::success();
}

} // namespace checks

namespace shapes {

llvm::Expected<Metas> batchNorm(const OpDef &op, Operands operands, Segments segments) {
  if (llvm::Error e = checks::batchParameters(op, operands, segments))
    return std::move(e);
  TensorMeta statistic(operands[1].dtype, operands[1].shape);
  statistic.shape[1] = operands[0].shape[1] != kUnknown ? operands[0].shape[1] : statistic.shape[1];
  return Metas{TensorMeta(operands[0].dtype, operands[0].shape), statistic, statistic, statistic, statistic};
}

} // namespace shapes

} // namespace tess
