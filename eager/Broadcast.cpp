//===- Broadcast.cpp - the iteration space of an elementwise call --------===//
#include "eager/Broadcast.h"
#include "ops/Hash.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tess::eager {

namespace {

bool isPlain(const TensorImpl &tensor, const TensorImpl &first) {
  return tensor.isContiguous() && tensor.rank() == first.rank() &&
         std::equal(tensor.shape().begin(), tensor.shape().end(), first.shape().begin());
}

/// All operands row-major and of one shape: one axis, nothing broadcast.
bool planPlain(llvm::ArrayRef<Operand> operands, IterationSpace &space) {
  const TensorImpl &first = *operands[0].tensor;
  for (const Operand &operand : operands)
    if (!isPlain(*operand.tensor, first))
      return false;
  space.rank = first.rank();
  std::copy(first.shape().begin(), first.shape().end(), space.shape);
  space.numElements = first.numElements();
  space.numAxes = 1;
  space.sizes[0] = space.numElements;
  space.broadcast[0] = 0;
  for (unsigned k = 0; k < operands.size(); ++k)
    space.strides[k][0] = 1;
  return true;
}

bool inferShape(llvm::ArrayRef<Operand> operands, IterationSpace &space) {
  for (const Operand &operand : operands)
    space.rank = std::max(space.rank, operand.tensor->rank());
  std::fill_n(space.shape, space.rank, 1);
  for (const Operand &operand : operands) {
    llvm::ArrayRef<int64_t> shape = operand.tensor->shape();
    int64_t *aligned = space.shape + space.rank - shape.size();
    for (unsigned i = 0; i < shape.size(); ++i) {
      if (aligned[i] != shape[i] && aligned[i] != 1 && shape[i] != 1)
        return false;
      if (shape[i] != 1)
        aligned[i] = shape[i];
    }
  }
  return true;
}

/// One axis of the results as every operand walks it.
struct Axis {
  int64_t size;
  uint32_t broadcast;
  int64_t strides[kMaxDirectOperands];
};

bool readAxis(llvm::ArrayRef<Operand> operands, const IterationSpace &space, unsigned axis, Axis &out) {
  out.size = space.shape[axis];
  out.broadcast = 0;
  for (unsigned k = 0; k < operands.size(); ++k) {
    const TensorImpl &tensor = *operands[k].tensor;
    int own = int(axis) - int(space.rank - tensor.rank());
    int64_t size = own < 0 ? 1 : tensor.shape()[own];
    if (size != out.size && size != 1)
      return false; // an operand that does not fit the given result shape
    bool isBroadcast = size == 1 && out.size != 1;
    out.broadcast |= uint32_t(isBroadcast) << k;
    out.strides[k] = isBroadcast || own < 0 ? 0 : tensor.strides()[own];
  }
  return true;
}

/// `outer` can be walked as a part of `inner`: every operand steps over the inner axis whole.
bool mergeable(const IterationSpace &space, unsigned outer, const Axis &inner, unsigned numOperands) {
  if (space.broadcast[outer] != inner.broadcast)
    return false;
  for (unsigned k = 0; k < numOperands; ++k)
    if (!(inner.broadcast >> k & 1) && space.strides[k][outer] != inner.strides[k] * inner.size)
      return false;
  return true;
}

void addAxis(IterationSpace &space, const Axis &axis, unsigned numOperands, bool merge) {
  bool merged = merge && space.numAxes && mergeable(space, space.numAxes - 1, axis, numOperands);
  unsigned index = merged ? space.numAxes - 1 : space.numAxes++;
  space.sizes[index] = merged ? space.sizes[index] * axis.size : axis.size;
  space.broadcast[index] = axis.broadcast;
  for (unsigned k = 0; k < numOperands; ++k)
    space.strides[k][index] = axis.strides[k];
}

} // namespace

bool planIteration(llvm::ArrayRef<Operand> operands, IterationSpace &space, bool shapeGiven, bool keepAxes) {
  assert(operands.size() <= kMaxDirectOperands);
  if (!shapeGiven && !keepAxes && planPlain(operands, space))
    return true;
  if (!shapeGiven && !inferShape(operands, space))
    return false;
  for (unsigned axis = 0; axis < space.rank; ++axis) {
    Axis read;
    if (!readAxis(operands, space, axis, read))
      return false;
    space.numElements *= read.size;
    if (read.size != 1 || keepAxes)
      addAxis(space, read, operands.size(), !keepAxes);
  }
  if (space.numAxes == 0) { // one element: the class of whole vectors
    Axis single{1, 0, {}};
    std::fill_n(single.strides, operands.size(), 1);
    addAxis(space, single, operands.size(), false);
  }
  return true;
}

uint64_t classOf(const IterationSpace &space, unsigned numOperands) {
  if (space.numAxes * numOperands <= 56) { // exact
    uint64_t packed = 0;
    for (unsigned i = 0; i < space.numAxes; ++i)
      packed = packed << numOperands | space.broadcast[i];
    return packed << 4 | space.numAxes;
  }
  uint64_t h = 0x51ED270B ^ space.numAxes;
  for (unsigned i = 0; i < space.numAxes; ++i)
    h = mixHash(h, space.broadcast[i]);
  return h;
}

} // namespace tess::eager
