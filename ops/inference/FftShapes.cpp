//===- FftShapes.cpp - shapes of Fourier transforms -----------------------===//
#include "ops/inference/FftShapes.h"
#include "ops/inference/Checks.h"
#include "ops/inference/ShapeRules.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

using fft::axisOf;
using fft::halfOf;

namespace checks {

llvm::Error fft(const OpDef &op, Operands operands, Segments) {
  if (operands[0].shape[axisOf(op, operands[0])] == 0)
    return shapes::mustHold(op, "the transformed axis must not be empty", operands);
  return llvm::Error::success();
}

} // namespace checks

namespace shapes {

llvm::Expected<Metas> fftR2c(const OpDef &op, Operands operands, Segments segments) {
  if (llvm::Error e = checks::fft(op, operands, segments))
    return std::move(e);
  Shape shape = operands[0].shape;
  int64_t &size = shape[axisOf(op, operands[0])];
  size = halfOf(size);
  return single(operands, shape);
}

llvm::Expected<Metas> fftC2r(const OpDef &op, Operands operands, Segments) {
  Shape shape = operands[0].shape;
  int64_t &size = shape[axisOf(op, operands[0])], length = op.i64("length");
  if (differs(size, halfOf(length)))
    return mustHold(op, "x must have floor(length / 2) + 1 elements along axis", operands);
  size = length;
  return single(operands, shape);
}

} // namespace shapes

} // namespace tess
