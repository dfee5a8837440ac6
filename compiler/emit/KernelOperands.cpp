//===- KernelOperands.cpp - reading and writing operands -----------------===//
#include "compiler/emit/KernelOperands.h"
#include "compiler/lanes/LaneConversion.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::compiler {

bool KernelOperands::moves(unsigned operand, const GroupIndex &group) const {
  const KernelOperand &op = spec.operands[operand];
  if (group.group >= spec.numParallel && !op.variesOnReduced)
    return false;
  return !group.lanes || op.inner == InnerClass::Contiguous || op.inner == InnerClass::Strided;
}

bool KernelOperands::differsByLane(unsigned operand) const {
  const GroupIndex *lanes = scopes.lanes();
  return lanes && moves(operand, *lanes);
}

V KernelOperands::laneStride(unsigned operand) {
  const GroupIndex *lanes = scopes.lanes();
  return lanes && spec.operands[operand].inner == InnerClass::Strided ? sizes.stride(operand, lanes->group) : V();
}

unsigned KernelOperands::accessDepth(unsigned operand) const {
  for (unsigned depth = scopes.innermost() + 1; depth-- > 0;)
    for (const GroupIndex &group : scopes.groupsAt(depth))
      if (moves(operand, group))
        return depth;
  // An operand of one element is not read before the first row, because an empty domain reads nothing.
  return scopes.innermost() ? 1 : 0;
}

/// Elements between the operand's element where the scope around `depth` stands and its element there; null for none.
V KernelOperands::offsetAt(unsigned operand, unsigned depth) {
  V offset;
  for (const GroupIndex &group : scopes.groupsAt(depth)) {
    if (!moves(operand, group))
      continue;
    InnerClass inner = spec.operands[operand].inner;
    bool unit = group.lanes && inner == InnerClass::Contiguous;
    bool isMask = inner == InnerClass::Repeated && group.group + 1 == spec.numParallel;
    V step = unit ? V() : sizes.stride(operand, group.group);
    offset = scopes.at(depth, [&] {
      V part = unit ? group.index : isMask ? group.index & step : group.index * step;
      return offset ? offset + part : part;
    });
  }
  return offset;
}

mlir::Value KernelOperands::pointer(unsigned operand, unsigned depth) {
  if (mlir::Value memo = pointers.find(depth, operand))
    return memo;
  mlir::Value result;
  if (depth == 0) {
    result = scopes.at(0, [&] { return b.loadPointer(b.addressConst(args.ptrs, operand, Elem::I64)); });
  } else {
    result = pointer(operand, depth - 1);
    Elem elem = storedElem(spec.operands[operand].dtype);
    if (V offset = offsetAt(operand, depth))
      result = scopes.at(depth, [&] { return b.address(result, offset, elem); });
  }
  pointers.set(depth, operand, result);
  return result;
}

// A load that is hoisted out of a reduced loop is executed even when the loop is empty: it then reads the array of
// sizes.
mlir::Value KernelOperands::safePointer(unsigned operand, mlir::Value pointer) {
  const KernelOperand &op = spec.operands[operand];
  if (spec.vectorAxis != VectorAxis::Reduced || !op.variesOnReduced || op.inner != InnerClass::Broadcast)
    return pointer;
  V some = gt(sizes.reducedCount(), b.index(0));
  return b.selectPointer(some, pointer, args.dims);
}

/// The square whose lines these are, by columns.
static void transpose(llvm::MutableArrayRef<V> lines) {
  for (size_t span = 1; span < lines.size(); span *= 2) {
    llvm::SmallVector<int32_t, kLanes> upper, lower; // lanes of a pair of lines
    for (size_t lane = 0; lane < lines.size(); ++lane) {
      upper.push_back(int32_t(lane & span ? lines.size() + lane - span : lane));
      lower.push_back(int32_t(lane & span ? lines.size() + lane : lane + span));
    }
    for (size_t i = 0; i < lines.size(); ++i)
      if (!(i & span)) {
        V first = lines[i], second = lines[i + span];
        lines[i] = first.b().shuffle(first, second, upper);
        lines[i + span] = first.b().shuffle(first, second, lower);
      }
  }
}

void KernelOperands::readTile(unsigned operand) {
  Elem elem = rawElem(spec.operands[operand].dtype);
  mlir::Value address = pointer(operand, scopes.innermost());
  V step = sizes.stride(operand, spec.numParallel - 1);
  llvm::SmallVector<V, kLanes> lines;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    lines.push_back(b.load(address, elem, true));
    address = b.address(address, step, elem);
  }
  transpose(lines);
  mlir::Value &buffer = tiles[operand];
  buffer = b.stackBuffer(elem, runtime::kTileLanes, true);
  mlir::Value start = b.address(buffer, indices.columnInBlock(), elem);
  for (auto [row, line] : llvm::enumerate(lines))
    b.store(line, b.addressConst(start, int64_t(row * runtime::kTileLanes), elem));
}

void KernelOperands::enterTileRow(unsigned group, V index) {
  scopes.enterGroup(group, index);
  tileRow = index;
}

V KernelOperands::loadFromTile(mlir::Value tile, DType dtype) {
  Elem elem = rawElem(dtype);
  V place = tileRow * b.index(runtime::kTileLanes) + indices.columnInBlock();
  return fromRaw(b.load(b.address(tile, place, elem), elem, true), dtype);
}

ScopedValue KernelOperands::load(unsigned operand) {
  unsigned depth = accessDepth(operand);
  V value = scopes.at(depth, [&] {
    if (mlir::Value tile = tiles.lookup(operand))
      return loadFromTile(tile, spec.operands[operand].dtype);
    return loadAt(operand, pointer(operand, depth));
  });
  return {value, depth};
}

V KernelOperands::loadAt(unsigned operand, mlir::Value address) {
  const KernelOperand &op = spec.operands[operand];
  Elem raw = rawElem(op.dtype);
  if (scopes.hasLanes() && op.inner == InnerClass::Repeated)
    return fromRaw(access.loadRepeated(address, raw, sizes.stride(operand, scopes.lanes()->group)), op.dtype);
  if (!differsByLane(operand))
    return fromRaw(b.load(safePointer(operand, address), raw, false), op.dtype);
  V step = laneStride(operand);
  if (step && !scopes.laneLimit().remaining)
    return fromRaw(access.loadApart(address, raw, step), op.dtype);
  return fromRaw(access.load(address, raw, op.inner, step), op.dtype);
}

void KernelOperands::store(unsigned operand, V value) {
  const KernelOperand &op = spec.operands[operand];
  mlir::Value address = pointer(operand, scopes.innermost());
  V raw = toRaw(value, op.dtype);
  if (!differsByLane(operand))
    return b.store(raw, address);
  access.store(raw, address, op.inner, laneStride(operand));
}

} // namespace tess::compiler
