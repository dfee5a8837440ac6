//===- KernelScans.cpp - the loops of a kernel with scans -----------------===//
#include "compiler/emit/KernelScans.h"

#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::compiler {

using Values = LaneBuilder::Values;

// Of stack, for the values before of a block of columns; vectors of a block whose elements lie in a line of memory
// each.
constexpr unsigned kBlockBytes = 16384, kStridedVectors = 4;
// A function of more instructions is emitted once for all lanes.
constexpr unsigned kLong = 4;

KernelScans::KernelScans(KernelBuilder &k) : KernelLoops(k.b, k.scopes), k(k), spec(k.spec), walked(spec.numParallel) {
  for (auto [index, node] : llvm::enumerate(spec.nodes))
    if (node.kind == NodeKind::Scan)
      scans.push_back(int(index));
}

/// What each scan has before its first element.
Values KernelScans::starts(bool vector) {
  return llvm::map_to_vector<4>(scans, [&](int index) {
    const KernelNode &node = spec.nodes[index];
    return neutralOf(b, node.fn, node.dtype, computeElem(node.dtype), vector);
  });
}

/// Whether an element is the first one that is taken.
V KernelScans::isFirst() {
  V here = scopes.indexOf(walked), first = isBackward() ? k.sizes.size(walked) - b.index(1) : b.index(0);
  bool isAlongRow = scopes.hasLanes() && spec.vectorAxis == VectorAxis::Reduced;
  return isAlongRow ? eq(b.splat(here) + b.iota(Elem::I64), b.splat(first)) : eq(here, first);
}

/// The weights of the current elements, or null. That of the first one does not count, whatever it is.
V KernelScans::weight(const KernelNode &node) {
  return node.args.size() == 1 ? V() : select(isFirst(), 1.0, k.nodes.current(node.args[1]));
}

V KernelScans::combine(const KernelNode &node, V carry, V x, V weight) {
  return emitScalarFn(node.fn, node.dtype, {weight ? carry * weight : carry, x}, {node.dtype, node.dtype});
}

void KernelScans::define(int index, V value) {
  const KernelNode &node = spec.nodes[index];
  if (node.exclusive && node.fn == ScalarFn::Add && isFloat(node.dtype))
    value = select(isFirst(), 0.0, value); // the sum of no elements is 0, not the neutral -0
  k.nodes.define(index, node.roundsHere ? roundTo(value, node.dtype) : value);
}

/// Takes in one element, in each lane that of its own column; returns the value after it.
V KernelScans::step(int index, V carry) {
  const KernelNode &node = spec.nodes[index];
  V x = k.nodes.current(node.args[0]), next = combine(node, carry, x, weight(node));
  define(index, node.exclusive ? carry : next);
  return next;
}

/// The value after a vector of elements, and the values of its lanes.
Values KernelScans::takeLanes(const KernelNode &node, V carry, V x, V weight) {
  V out = b.undef(x.elem(), true), mask = scopes.mask();
  for (unsigned i = 0; i < kLanes; ++i) {
    unsigned lane = isBackward() ? kLanes - 1 - i : i;
    V next = combine(node, carry, b.extract(x, lane), weight ? b.extract(weight, lane) : V());
    if (mask && isBackward()) // lanes outside come first
      next = select(b.extract(mask, lane), next, carry);
    out = b.insert(out, node.exclusive ? carry : next, lane);
    carry = next;
  }
  return {carry, out};
}

/// The same in a loop.
Values KernelScans::takeLanesInLoop(const KernelNode &node, V carry, V x, V weight) {
  V mask = scopes.mask(), last = b.index(kLanes - 1);
  return b.forLoop(b.index(0), b.index(kLanes), b.index(1), {carry, x}, [&](V i, llvm::ArrayRef<V> before) {
    V lane = isBackward() ? last - i : i;
    V next = combine(node, before[0], b.extractAt(x, lane), weight ? b.extractAt(weight, lane) : V());
    if (mask && isBackward())
      next = select(b.extractAt(mask, lane), next, before[0]);
    return Values{next, b.insertAt(before[1], node.exclusive ? before[0] : next, lane)};
  });
}

V KernelScans::stepAlongRow(int index, V carry) {
  const KernelNode &node = spec.nodes[index];
  V x = k.nodes.current(node.args[0]), factors = weight(node);
  Values done =
      infoOf(node.fn).cost > kLong ? takeLanesInLoop(node, carry, x, factors) : takeLanes(node, carry, x, factors);
  define(index, done[1]);
  return done[0];
}

/// Takes in one element of a row, or a vector of them; returns the values after it.
Values KernelScans::advance(llvm::ArrayRef<V> carried) {
  Values next;
  for (auto [index, carry] : llvm::zip_equal(scans, carried))
    next.push_back(scopes.hasLanes() ? stepAlongRow(index, carry) : step(index, carry));
  k.nodes.storeElements();
  return next;
}

void KernelScans::row() {
  auto body = [&](llvm::ArrayRef<V> carried) { return advance(carried); };
  vectorLoop(b.index(0), k.sizes.size(walked), walked, starts(/*vector=*/false), body, isBackward());
  k.nodes.storeRows();
}

void KernelScans::alone() {
  auto body = [&](llvm::ArrayRef<V> carried) { return advance(carried); };
  indexLoop(b.index(0), k.sizes.size(walked), walked, starts(/*vector=*/false), body, isBackward());
  k.nodes.storeRows();
}

/// A block of columns goes along together, so that neighbours are read from every row; the values before wait in
/// memory.
void KernelScans::columns(V lo, V hi) {
  unsigned bytes = 0;
  for (int index : scans)
    bytes += elemBytes(computeElem(spec.nodes[index].dtype)) * kLanes;
  auto isStrided = [](const KernelOperand &operand) { return operand.inner == InnerClass::Strided; };
  unsigned vectors = llvm::any_of(spec.operands, isStrided) ? kStridedVectors : std::max(kBlockBytes / bytes, 1u);
  llvm::SmallVector<mlir::Value> carries;
  for (int index : scans)
    carries.push_back(b.stackBuffer(computeElem(spec.nodes[index].dtype), vectors, true));
  V step = b.index(int64_t(vectors) * kLanes);
  scopes.loop(lo, hi, step, {}, [&](V start, llvm::ArrayRef<V>) {
    V end = start + step;
    k.indices.enterBlock(start);
    block(start, select(lt(end, hi), end, hi), carries);
    return Values();
  });
}

void KernelScans::block(V start, V end, llvm::ArrayRef<mlir::Value> carries) {
  unsigned column = spec.numParallel - 1;
  Values neutral = starts(/*vector=*/true);
  b.forLoop(b.index(0), end - start, b.index(kLanes), {}, [&](V offset, llvm::ArrayRef<V>) {
    for (auto [value, memory] : llvm::zip_equal(neutral, carries))
      b.store(value, b.address(memory, offset, value.elem()));
    return Values();
  });
  auto advanceColumns = [&](llvm::ArrayRef<V>) {
    for (auto [index, memory] : llvm::zip_equal(scans, carries)) {
      Elem elem = computeElem(spec.nodes[index].dtype);
      mlir::Value address = b.address(memory, k.indices.columnInBlock(), elem);
      b.store(step(index, b.load(address, elem, true)), address);
    }
    k.nodes.storeElements();
    return Values();
  };
  auto row = [&](llvm::ArrayRef<V>) { return vectorLoop(start, end, column, {}, advanceColumns); };
  indexLoop(b.index(0), k.sizes.size(walked), walked, {}, row, isBackward());
  if (llvm::any_of(spec.stores, [&](const KernelStore &store) { return !isFullStore(spec, store); }))
    vectorLoop(start, end, column, {}, [&](llvm::ArrayRef<V>) { return k.nodes.storeRows(), Values(); });
}

} // namespace tess::compiler
