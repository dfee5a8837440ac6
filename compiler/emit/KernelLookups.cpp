//===- KernelLookups.cpp - elements at indices that others hold -----------===//
//
// A wrong index does not stop a kernel, which goes on with the first element of
// the axis: it is reported (runtime::LookupReport), and its caller raises the error.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/KernelBuilder.h"
#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::compiler {

using runtime::BoundNumber;
using runtime::LookupReport;

KernelBuilder::Found KernelBuilder::placeOf(llvm::ArrayRef<int16_t> indices, int slot) {
  llvm::SmallVector<V, 2> places;
  unsigned depth = 0;
  for (auto [number, node] : llvm::enumerate(indices)) {
    Found index = this->node(node);
    depth = std::max(depth, index.depth);
    unsigned lookup = unsigned(slot) + unsigned(number);
    V stride = lookupNumber(lookup, BoundNumber::Stride), size = lookupNumber(lookup, BoundNumber::Extent);
    bool isWithoutSign = isUnsigned(spec.nodes[node].dtype);
    places.push_back(at(index.depth, [&] {
      return checkedPlace(b.convert(index.value, Elem::I64, isWithoutSign), size, lookup) * stride;
    }));
  }
  V sum = at(depth, [&] {
    V place = places[0];
    for (V other : llvm::ArrayRef(places).drop_front())
      place = place + other;
    return place;
  });
  return {sum, depth};
}

V KernelBuilder::buildLookup(const KernelNode &node, unsigned &depth) {
  unsigned operand = unsigned(node.operand);
  Found place = placeOf(node.args, node.slot);
  depth = std::max(accessDepth(operand), place.depth);
  mlir::Value base = pointer(operand, depth);
  const Scope *lanes = laneScope();
  bool movesByStride = lanes && spec.operands[operand].inner == InnerClass::Strided;
  V step = movesByStride ? stride(operand, lanes->groups.back().group) : V();
  return at(depth, [&] {
    if (place.value.isVector())
      return loadEach(base, operand, place.value, step);
    return loadAt(operand, b.address(base, place.value, rawElem(spec.operands[operand].dtype)));
  });
}

/// What a store makes of the element that is there, `old`, and of `value`, in the type of computation.
static V written(const KernelStore &store, DType dtype, V old, V value) {
  if (isComplex(dtype)) // of whose functions there is Add
    return complexOf(realPart(old) + realPart(value), imagPart(old) + imagPart(value));
  return roundTo(emitScalarFn(*store.fn, dtype, {old, value}, {dtype, dtype}), dtype);
}

/// Writes one element.
static void writeTo(const KernelStore &store, DType dtype, mlir::Value address, V value) {
  LaneBuilder &b = value.b();
  if (store.fn)
    value = written(store, dtype, fromRaw(b.load(address, rawElem(dtype), false), dtype), value);
  b.store(toRaw(value, dtype), address);
}

/// Elements of other lanes may be the same ones, so each lane is written on its own, the first one first, unless the
/// lanes are neighbours in memory.
void KernelBuilder::writeAt(const KernelStore &store) {
  const KernelOperand &op = spec.operands[store.operand];
  Found place = placeOf(store.indices, store.slot);
  mlir::Value base = pointer(unsigned(store.operand), scopes.size() - 1);
  Elem raw = rawElem(op.dtype);
  const Scope *lanes = laneScope();
  DType from = spec.nodes[store.node].dtype;
  auto converted = [&](V value) { return from == op.dtype ? value : castValue(value, from, op.dtype); };
  if (!lanes)
    return writeTo(store, op.dtype, b.address(base, place.value, raw), converted(node(store.node).value));
  V value = converted(lanesOf(store.node));
  if (!place.value.isVector() && op.inner == InnerClass::Contiguous && !isComplex(op.dtype)) {
    mlir::Value address = b.address(base, place.value, raw);
    if (store.fn)
      value = written(store, op.dtype, fromRaw(loadLanes(address, raw, op.inner, V()), op.dtype), value);
    return storeLanes(toRaw(value, op.dtype), address, op.inner, V());
  }
  V places = b.splat(place.value);
  if (op.inner == InnerClass::Contiguous)
    places = places + b.iota(Elem::I64);
  else if (op.inner == InnerClass::Strided)
    places = places + b.iota(Elem::I64) * b.splat(stride(unsigned(store.operand), lanes->groups.back().group));
  writeLanes(store, base, places, value);
}

void KernelBuilder::writeLanes(const KernelStore &store, mlir::Value base, V places, V value) {
  DType dtype = spec.operands[store.operand].dtype;
  auto write = [&](V place, V element) { writeTo(store, dtype, b.address(base, place, rawElem(dtype)), element); };
  auto writeAll = [&] {
    for (unsigned lane = 0; lane < b.lanes(); ++lane)
      write(b.extract(places, lane), b.extract(value, lane));
    return Values();
  };
  const Scope &scope = *laneScope();
  auto writeSome = [&] {
    b.forLoop(b.index(0), scope.remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
      write(b.extractAt(places, lane), b.extractAt(value, lane));
      return Values();
    });
    return Values();
  };
  if (scope.whole)
    b.ifElse(scope.whole, writeAll, writeSome);
  else
    scope.mask ? writeSome() : writeAll();
}

V KernelBuilder::lookupNumber(unsigned lookup, BoundNumber which) {
  return dim(spec.dims().bound(unsigned(spec.bounds.size()) + lookup, which));
}

/// The index counted from the front; of one that is wrong 0.
V KernelBuilder::checkedPlace(V index, V size, unsigned lookup) {
  V zero = b.index(0), fromFront = index + select(lt(index, zero), size, zero);
  V isRight = b.compare(LaneBuilder::Cmp::ULt, fromFront, size), counts;
  if (index.isVector())
    counts = laneScope()->whole ? tailMask() : laneScope()->mask;
  V isWrong = counts ? bitNot(isRight) & counts : bitNot(isRight);
  b.ifThen(index.isVector() ? b.anyLane(isWrong) : isWrong, {}, [&] {
    report(isWrong, index, lookup);
    return Values();
  });
  return select(isRight, fromFront, index.isVector() ? b.splat(zero) : zero);
}

/// The first report of a call stays.
void KernelBuilder::report(V isWrong, V index, unsigned lookup) {
  mlir::Value place = b.loadPointer(b.addressConst(args.ptrs, int64_t(spec.operands.size()), Elem::I64));
  b.ifThen(eq(b.load(place, Elem::I64, false), b.index(0)), {}, [&] {
    b.store(b.index(int64_t(lookup) + 1), place);
    b.store(index, b.addressConst(place, LookupReport::kIndices, Elem::I64));
    b.store(b.convert(isWrong, Elem::I64), b.addressConst(place, LookupReport::kIsWrong, Elem::I64));
    return Values();
  });
}

/// The elements of the lanes, `places` behind those that the lanes stand for without them. What a tail leaves out reads
/// the first lane's.
V KernelBuilder::loadEach(mlir::Value base, unsigned operand, V places, V step) {
  const KernelOperand &op = spec.operands[operand];
  const Scope &scope = *laneScope();
  if (op.inner == InnerClass::Contiguous)
    places = places + b.iota(Elem::I64);
  else if (step)
    places = places + b.iota(Elem::I64) * b.splat(step);
  if (scope.whole || scope.mask)
    places = select(scope.whole ? tailMask() : scope.mask, places, b.splat(b.index(0)));
  Elem elem = rawElem(op.dtype);
  V result = b.undef(elem, true);
  for (unsigned lane = 0; lane < b.lanes(); ++lane)
    result = b.insert(result, b.load(b.address(base, b.extract(places, lane), elem), elem, false), lane);
  return fromRaw(result, op.dtype);
}

} // namespace tess::compiler
