//===- Broadcast.cpp - the iteration space of an elementwise call --------===//
#include "eager/classes/Broadcast.h"
#include "ops/vocabulary/Hash.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tess::eager {

namespace {

/// A loop, because a call of memcmp takes longer than the few sizes.
bool hasShapeOf(const TensorImpl &tensor, const TensorImpl &first) {
  unsigned rank = first.rank();
  if (tensor.rank() != rank)
    return false;
  const int64_t *sizes = tensor.shape().data(), *wanted = first.shape().data();
  uint64_t differing = 0;
  for (unsigned i = 0; i < rank; ++i)
    differing |= uint64_t(sizes[i] ^ wanted[i]);
  return differing == 0;
}

/// Plans a call whose operands are all row-major and of one shape: one axis, nothing is broadcast.
bool planPlain(llvm::ArrayRef<Operand> operands, IterationSpace &space) {
  const TensorImpl &first = *operands[0].tensor;
  if (!first.isContiguous())
    return false;
  for (const Operand &operand : operands.drop_front())
    if (!operand.tensor->isContiguous() || !hasShapeOf(*operand.tensor, first))
      return false;
  space.isPlain = true;
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

/// One axis of the results, with each operand's stride along it.
struct Axis {
  int64_t size;
  uint32_t broadcast;
  int64_t strides[kMaxDirectOperands];
};

/// Of a given shape, an operand without axes is broadcast along those of size 1, too: its class is the same.
bool readAxis(llvm::ArrayRef<Operand> operands, const IterationSpace &space, unsigned axis, bool shapeGiven,
              Axis &out) {
  out.size = space.shape[axis];
  out.broadcast = 0;
  for (unsigned k = 0; k < operands.size(); ++k) {
    const TensorImpl &tensor = *operands[k].tensor;
    int own = int(axis) - int(space.rank - tensor.rank());
    int64_t size = own < 0 ? 1 : tensor.shape()[own];
    if (size != out.size && size != 1)
      return false; // the operand does not fit the given result shape
    bool isBroadcast = size == 1 && (out.size != 1 || (shapeGiven && tensor.rank() == 0));
    out.broadcast |= uint32_t(isBroadcast) << k;
    out.strides[k] = isBroadcast || own < 0 ? 0 : tensor.strides()[own];
  }
  return true;
}

/// A bit for each operand whose stride along `outer` is not the whole length of `inner`, so that the axes cannot be
/// merged.
uint32_t apartAt(const IterationSpace &space, unsigned outer, unsigned inner, unsigned numOperands) {
  uint32_t found = 0;
  for (unsigned k = 0; k < numOperands; ++k)
    if (!(space.broadcast[inner] >> k & 1) && space.strides[k][outer] != space.strides[k][inner] * space.sizes[inner])
      found |= 1u << k;
  return found;
}

void addAxis(IterationSpace &space, const Axis &axis, unsigned numOperands, bool merge) {
  unsigned index = space.numAxes++;
  space.sizes[index] = axis.size;
  space.broadcast[index] = axis.broadcast;
  for (unsigned k = 0; k < numOperands; ++k)
    space.strides[k][index] = axis.strides[k];
  if (!merge || !index || space.broadcast[index - 1] != axis.broadcast || apartAt(space, index - 1, index, numOperands))
    return;
  space.numAxes = index;
  space.sizes[index - 1] *= axis.size;
  for (unsigned k = 0; k < numOperands; ++k)
    space.strides[k][index - 1] = axis.strides[k];
}

/// Finds how the operands lie along the axes that are longer than 1; a stride along any other axis has no meaning.
void findLayouts(IterationSpace &space, unsigned numOperands) {
  int last = -1;
  for (unsigned axis = 0; axis < space.numAxes; ++axis) {
    if (space.sizes[axis] == 1)
      continue;
    if (last >= 0 && space.broadcast[last] == space.broadcast[axis])
      space.apart |= apartAt(space, unsigned(last), axis, numOperands) != 0;
    last = int(axis);
  }
  for (unsigned k = 0; last >= 0 && k < numOperands; ++k)
    if (space.strides[k][last] != 1 && !(space.broadcast[last] >> k & 1))
      space.strided |= 1u << k;
  space.apart &= !space.strided; // one strided operand keeps the axes of all apart
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
    if (!readAxis(operands, space, axis, shapeGiven, read))
      return false;
    space.numElements *= read.size;
    if (read.size != 1 || keepAxes)
      addAxis(space, read, operands.size(), !keepAxes);
  }
  if (space.numAxes == 0) { // one element belongs to the class of whole vectors
    Axis single{1, 0, {}};
    std::fill_n(single.strides, operands.size(), 1);
    addAxis(space, single, operands.size(), false);
  }
  findLayouts(space, operands.size());
  return true;
}

void planDestination(llvm::ArrayRef<Operand> operands, TensorImpl &target, IterationSpace &space, bool keepAxes) {
  llvm::SmallVector<Operand, kMaxDirectOperands> all(operands);
  all.push_back(Operand(&target));
  IterationSpace whole;
  whole.rank = space.rank;
  std::copy_n(space.shape, space.rank, whole.shape);
  [[maybe_unused]] bool fits = planIteration(all, whole, /*shapeGiven=*/true, keepAxes);
  assert(fits && "operands fit the shape of the result, which the destination has");
  space = whole;
}

uint64_t classOf(const IterationSpace &space, unsigned numOperands) {
  if (LLVM_LIKELY(!(space.apart | space.strided)) && space.numAxes * numOperands <= 56) { // the key is exact, no hash
    uint64_t packed = 0;
    for (unsigned i = 0; i < space.numAxes; ++i)
      packed = packed << numOperands | space.broadcast[i];
    return packed << 4 | space.numAxes;
  }
  uint64_t h = mixHash(0x51ED270B ^ space.numAxes, uint64_t(space.apart) << 32 | space.strided);
  for (unsigned i = 0; i < space.numAxes; ++i)
    h = mixHash(h, space.broadcast[i]);
  return h;
}

} // namespace tess::eager
