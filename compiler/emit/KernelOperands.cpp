//===- KernelOperands.cpp - reading and writing operands -----------------===//
//
// Each inner class has one way to load and store: contiguous operands a vector
// at a time, broadcast ones one element, strided ones 16 elements, repeated ones
// one vector for a whole row. Tails that no masked instruction covers go element
// by element through a buffer on the stack.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/KernelBuilder.h"
#include "compiler/lanes/LaneConversion.h"

namespace tess::compiler {

bool KernelBuilder::moves(unsigned operand, const GroupIndex &group) const {
  const KernelOperand &op = spec.operands[operand];
  if (group.group >= spec.numParallel && !op.variesOnReduced)
    return false;
  return !group.lanes || op.inner == InnerClass::Contiguous || op.inner == InnerClass::Strided;
}

unsigned KernelBuilder::accessDepth(unsigned operand) const {
  for (unsigned depth = scopes.size(); depth-- > 0;)
    for (const GroupIndex &group : scopes[depth].groups)
      if (moves(operand, group))
        return depth;
  // An operand of one element is not read before the first row, because an empty domain reads nothing.
  return scopes.size() > 1 ? 1 : 0;
}

mlir::Value KernelBuilder::pointer(unsigned operand, unsigned depth) {
  if (mlir::Value memo = scopes[depth].pointers.lookup(operand))
    return memo;
  mlir::Value result;
  if (depth == 0) {
    result = at(0, [&] {
      mlir::Value slot = b.addressConst(args.ptrs, operand, Elem::I64);
      return b.loadPointer(slot);
    });
  } else {
    result = pointer(operand, depth - 1);
    V offset;
    Elem elem = storedElem(spec.operands[operand].dtype);
    for (const GroupIndex &group : scopes[depth].groups) {
      if (!moves(operand, group))
        continue;
      InnerClass inner = spec.operands[operand].inner;
      bool unit = group.lanes && inner == InnerClass::Contiguous;
      bool isMask = inner == InnerClass::Repeated && group.group + 1 == spec.numParallel;
      V step = unit ? V() : stride(operand, group.group);
      at(depth, [&] {
        V part = unit ? group.index : isMask ? group.index & step : group.index * step;
        offset = offset ? offset + part : part;
      });
    }
    if (offset)
      result = at(depth, [&] { return b.address(result, offset, elem); });
  }
  scopes[depth].pointers[operand] = result;
  return result;
}

// A load that is hoisted out of a reduced loop is executed even when the loop is empty: it then reads the array of
// sizes.
mlir::Value KernelBuilder::safePointer(unsigned operand, mlir::Value pointer) {
  const KernelOperand &op = spec.operands[operand];
  if (spec.vectorAxis != VectorAxis::Reduced || !op.variesOnReduced || op.inner != InnerClass::Broadcast)
    return pointer;
  V some = gt(reducedCount(), b.index(0));
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

void KernelBuilder::readTile(unsigned operand) {
  Elem elem = rawElem(spec.operands[operand].dtype);
  mlir::Value address = pointer(operand, scopes.size() - 1);
  V step = stride(operand, spec.numParallel - 1);
  llvm::SmallVector<V, kLanes> lines;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    lines.push_back(b.load(address, elem, true));
    address = b.address(address, step, elem);
  }
  transpose(lines);
  mlir::Value &buffer = tiles[operand];
  buffer = b.stackBuffer(elem, runtime::kTileLanes, true);
  mlir::Value start = b.address(buffer, columnInBlock(), elem);
  for (auto [row, line] : llvm::enumerate(lines))
    b.store(line, b.addressConst(start, int64_t(row * runtime::kTileLanes), elem));
}

void KernelBuilder::enterTileRow(unsigned group, V index) {
  enterGroup(group, index);
  tileRow = index;
}

V KernelBuilder::load(unsigned operand, unsigned depth) {
  const KernelOperand &op = spec.operands[operand];
  if (mlir::Value tile = tiles.lookup(operand)) {
    Elem elem = rawElem(op.dtype);
    V place = tileRow * b.index(runtime::kTileLanes) + columnInBlock();
    return fromRaw(b.load(b.address(tile, place, elem), elem, true), op.dtype);
  }
  return loadAt(operand, pointer(operand, depth));
}

V KernelBuilder::loadAt(unsigned operand, mlir::Value address) {
  const KernelOperand &op = spec.operands[operand];
  const Scope *lanes = laneScope();
  Elem raw = rawElem(op.dtype);
  if (lanes && op.inner == InnerClass::Repeated)
    return fromRaw(loadRepeated(address, raw, stride(operand, lanes->groups.back().group)), op.dtype);
  bool byLane = lanes && moves(operand, lanes->groups.back());
  if (!byLane)
    return fromRaw(b.load(safePointer(operand, address), raw, false), op.dtype);
  V step = op.inner == InnerClass::Strided ? stride(operand, lanes->groups.back().group) : V();
  if (step && !lanes->remaining)
    return fromRaw(loadApart(address, raw, step), op.dtype);
  return fromRaw(loadLanes(address, raw, op.inner, step), op.dtype);
}

// One element in every lane is what row-major values repeat, and must not cost more than a broadcast operand.
V KernelBuilder::loadRepeated(mlir::Value base, Elem elem, V mask) {
  auto one = [&] { return Values{b.splat(b.load(base, elem, false))}; };
  return b.ifElse(eq(mask, b.index(0)), one, [&] {
    V result = b.undef(elem, true);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result = b.insert(result, b.load(b.address(base, b.index(lane) & mask, elem), elem, false), lane);
    return Values{result};
  })[0];
}

V KernelBuilder::loadByElement(mlir::Value base, Elem elem, V step) {
  mlir::Value buffer = b.stackBuffer(elem, 1, true);
  b.store(b.constantBits(elem == Elem::F16 ? Elem::I16 : elem, true, 0), buffer);
  b.forLoop(b.index(0), laneScope()->remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
    V element = b.load(b.address(base, step ? lane * step : lane, elem), elem, false);
    b.store(element, b.address(buffer, lane, elem));
    return LaneBuilder::Values();
  });
  return b.load(buffer, elem, true);
}

void KernelBuilder::storeByElement(V value, mlir::Value base, V step) {
  Elem elem = value.elem();
  mlir::Value buffer = b.stackBuffer(elem, 1, true);
  b.store(value, buffer);
  b.forLoop(b.index(0), laneScope()->remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
    V element = b.load(b.address(buffer, lane, elem), elem, false);
    b.store(element, b.address(base, step ? lane * step : lane, elem));
    return LaneBuilder::Values();
  });
}

V KernelBuilder::tailMask() { return lt(b.iota(Elem::I32), b.splat(b.convert(laneScope()->remaining, Elem::I32))); }

V KernelBuilder::loadLanes(mlir::Value base, Elem elem, InnerClass inner, V step) {
  const Scope &scope = *laneScope();
  if (!scope.whole)
    return loadLanes(base, elem, inner, step, scope.mask);
  return b.ifElse(
      scope.whole, [&] { return LaneBuilder::Values{loadLanes(base, elem, inner, step, V())}; },
      [&] { return LaneBuilder::Values{loadLanes(base, elem, inner, step, tailMask())}; })[0];
}

V KernelBuilder::loadLanes(mlir::Value base, Elem elem, InnerClass inner, V step, V mask) {
  if (inner == InnerClass::Contiguous) {
    if (!mask)
      return b.load(base, elem, true);
    return narrowMasks || elemBytes(elem) >= 4 ? b.maskedLoad(base, mask, elem) : loadByElement(base, elem, V());
  }
  if (mask)
    return loadByElement(base, elem, step);
  V result = b.undef(elem, true);
  for (unsigned lane = 0; lane < b.lanes(); ++lane) {
    result = b.insert(result, b.load(base, elem, false), lane);
    base = b.address(base, step, elem);
  }
  return result;
}

void KernelBuilder::storeLanes(V value, mlir::Value base, InnerClass inner, V step) {
  const Scope &scope = *laneScope();
  if (!scope.whole)
    return storeLanes(value, base, inner, step, scope.mask);
  b.ifElse(
      scope.whole, [&] { return storeLanes(value, base, inner, step, V()), LaneBuilder::Values(); },
      [&] { return storeLanes(value, base, inner, step, tailMask()), LaneBuilder::Values(); });
}

void KernelBuilder::storeLanes(V value, mlir::Value base, InnerClass inner, V step, V mask) {
  if (inner == InnerClass::Contiguous) {
    if (!mask)
      return b.store(value, base);
    if (narrowMasks || elemBytes(value.elem()) >= 4)
      return b.maskedStore(value, base, mask);
    return storeByElement(value, base, V());
  }
  if (mask)
    return storeByElement(value, base, step);
  for (unsigned lane = 0; lane < b.lanes(); ++lane) {
    b.store(b.extract(value, lane), base);
    base = b.address(base, step, value.elem());
  }
}

void KernelBuilder::store(const KernelStore &store) {
  if (!store.indices.empty())
    return writeAt(store);
  const int index = store.node;
  const unsigned operand = unsigned(store.operand);
  const KernelOperand &op = spec.operands[operand];
  DType from = spec.nodes[index].dtype;
  const Scope *lanes = laneScope();
  bool byLane = lanes && moves(operand, lanes->groups.back());
  V value = byLane ? lanesOf(index) : node(index).value;
  if (from != op.dtype)
    value = castValue(value, from, op.dtype);
  mlir::Value address = pointer(operand, scopes.size() - 1);
  V raw = toRaw(value, op.dtype);
  if (!byLane)
    return b.store(raw, address);
  V step = op.inner == InnerClass::Strided ? stride(operand, lanes->groups.back().group) : V();
  storeLanes(raw, address, op.inner, step);
}

// Reads everything before anything is written: an output may share an input's memory, and a kept value another's slot.
void KernelBuilder::storeElements() {
  llvm::SmallVector<KernelStore> stores;
  for (const KernelStore &store : spec.stores)
    if (isFullStore(spec, store) && plan.phase[store.node] == phase)
      stores.push_back(store);
  llvm::SmallVector<int> kept;
  for (unsigned i = 0; i < spec.nodes.size(); ++i)
    if (plan.scratchOffset[i] >= 0 && plan.phase[i] == phase)
      kept.push_back(i);
  for (const KernelStore &each : stores)
    node(each.node);
  for (int index : kept)
    node(index);
  for (const KernelStore &each : stores)
    store(each);
  for (int index : kept)
    spill(index);
}

void KernelBuilder::storeRows() {
  for (const KernelStore &each : spec.stores)
    if (!isFullStore(spec, each))
      node(each.node);
  for (const KernelStore &each : spec.stores)
    if (!isFullStore(spec, each))
      store(each);
}

} // namespace tess::compiler
