//===- ChannelRules.cpp - where the axis of channels goes ----------------===//
#include "ops/inference/ChannelRules.h"
#include "ops/inference/RuleErrors.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::channels {

using namespace shapes;
using Operands = llvm::ArrayRef<TensorMeta>;

/// Whether `value`, which broadcasts to elements that have the channels along `axis` of `rank` axes, has its own there.
static bool isAligned(const TensorMeta &value, int own, int axis, int64_t rank) {
  return own - int64_t(value.rank()) == axis - rank;
}

/// The axis of the elements that `indices` pick from x which is `axis` of x, and how many axes they have.
static std::pair<int, int64_t> pickedAxis(const OpDef &op, const TensorMeta &x, Operands indices, int axis) {
  uint32_t mask = 0;
  for (int64_t each : op.ints("axes"))
    mask |= 1u << fromFront(each, x.rank());
  unsigned first = llvm::countr_zero(mask), added = 0;
  for (const TensorMeta &index : indices)
    added = std::max(added, index.rank());
  bool areNeighbours = ((mask >> first) & ((mask >> first) + 1)) == 0;
  int64_t rank = int64_t(x.rank()) - llvm::popcount(mask) + added;
  if (mask >> axis & 1)
    return {-1, rank};
  int before = axis - llvm::popcount(mask & ((1u << axis) - 1));
  return {!areNeighbours || int(first) < axis ? before + int(added) : before, rank};
}

int indexGet(const OpDef &op, Operands operands, int axis, unsigned) {
  return pickedAxis(op, operands[0], operands.drop_front(), axis).first;
}

int indexSet(const OpDef &op, Operands operands, int axis, unsigned) {
  auto [picked, rank] = pickedAxis(op, operands[0], operands.drop_front(2), axis);
  return picked >= 0 && isAligned(operands[1], axis, picked, rank) ? axis : -1;
}

int maskGet(const OpDef &, Operands operands, int axis, unsigned) {
  int masked = int(operands[1].rank());
  return axis < masked ? -1 : axis - masked + 1;
}

} // namespace tess::channels
