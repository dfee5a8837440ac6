//===- KernelPhases.cpp - values that wait for later phases ---------------===//
#include "compiler/emit/KernelPhases.h"

#include "compiler/lanes/LaneConversion.h"

namespace tess::compiler {

mlir::Value KernelPhases::slotOf(int node) {
  if (mlir::Value memo = slots.lookup(node))
    return memo;
  V count = sizes.reducedCount();
  return slots[node] = scopes.at(0, [&] {
    V offset = (count + b.index(runtime::scratchElements(0))) * b.index(plan.scratchOffset[node]);
    return b.address(scratch, offset, Elem::I8);
  });
}

mlir::Value KernelPhases::elementInSlot(int node, Elem elem) {
  mlir::Value slot = slotOf(node);
  return b.address(slot, indices.reducedNumber(), elem);
}

V KernelPhases::reload(int node) {
  Elem elem = computeElem(spec.nodes[node].dtype);
  mlir::Value address = elementInSlot(node, elem);
  V value = access.load(address, elem == Elem::I1 ? Elem::I8 : elem, InnerClass::Contiguous, V());
  return elem == Elem::I1 ? b.compare(LaneBuilder::Cmp::Ne, value, value.ci(0)) : value;
}

void KernelPhases::spill(int node, V lanes) {
  mlir::Value address = elementInSlot(node, lanes.elem());
  access.store(lanes.elem() == Elem::I1 ? b.convert(lanes, Elem::I8) : lanes, address, InnerClass::Contiguous, V());
}

std::optional<ScopedValue> KernelPhases::find(int node) {
  if (mlir::Value buffer = held.lookup(node)) {
    unsigned depth = scopes.depthOfLanes();
    Elem elem = computeElem(spec.nodes[node].dtype);
    return ScopedValue{scopes.at(depth, [&] { return b.load(placeIn(buffer, elem), elem, true); }), depth};
  }
  if (plan.scratchOffset[node] >= 0 && plan.phase[node] < phase)
    return ScopedValue{reload(node), scopes.innermost()};
  return std::nullopt;
}

} // namespace tess::compiler
