//===- KernelLookups.cpp - elements at indices that others hold -----------===//
#include "compiler/emit/KernelLookups.h"
#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include <algorithm>

namespace tess::compiler {

using runtime::BoundNumber;
using runtime::LookupReport;

ScopedValue KernelLookups::placeOf(ScopedValue index, DType dtype, unsigned lookup) {
  V stride = sizes.lookup(lookup, BoundNumber::Stride), size = sizes.lookup(lookup, BoundNumber::Extent);
  V place = scopes.at(index.depth, [&] {
    return checked(b.convert(index.value, Elem::I64, isUnsigned(dtype)), size, lookup) * stride;
  });
  return {place, index.depth};
}

ScopedValue KernelLookups::sumOf(llvm::ArrayRef<ScopedValue> places) {
  unsigned depth = 0;
  for (const ScopedValue &place : places)
    depth = std::max(depth, place.depth);
  V sum = scopes.at(depth, [&] {
    V all = places[0].value;
    for (const ScopedValue &other : places.drop_front())
      all = all + other.value;
    return all;
  });
  return {sum, depth};
}

/// The index counted from the front; 0 for a wrong one.
V KernelLookups::checked(V index, V size, unsigned lookup) {
  V zero = b.index(0), fromFront = index + select(lt(index, zero), size, zero);
  V isRight = b.compare(LaneBuilder::Cmp::ULt, fromFront, size), counts;
  if (index.isVector())
    counts = scopes.laneLimit().whole ? scopes.tailMask() : scopes.mask();
  V isWrong = counts ? bitNot(isRight) & counts : bitNot(isRight);
  b.ifThen(index.isVector() ? b.anyLane(isWrong) : isWrong, {}, [&] {
    report(isWrong, index, lookup);
    return Values();
  });
  return select(isRight, fromFront, index.isVector() ? b.splat(zero) : zero);
}

/// The first report of a call stays.
void KernelLookups::report(V isWrong, V index, unsigned lookup) {
  mlir::Value place = b.loadPointer(b.addressConst(args.ptrs, int64_t(spec.operands.size()), Elem::I64));
  b.ifThen(eq(b.load(place, Elem::I64, false), b.index(0)), {}, [&] {
    b.store(b.index(int64_t(lookup) + 1), place);
    b.store(index, b.addressConst(place, LookupReport::kIndices, Elem::I64));
    b.store(b.convert(isWrong, Elem::I64), b.addressConst(place, LookupReport::kIsWrong, Elem::I64));
    return Values();
  });
}

ScopedValue KernelLookups::load(unsigned operand, ScopedValue place) {
  unsigned depth = std::max(operands.accessDepth(operand), place.depth);
  mlir::Value base = operands.pointer(operand, depth);
  V step = operands.laneStride(operand);
  V value = scopes.at(depth, [&] {
    if (place.value.isVector())
      return loadEach(base, operand, place.value, step);
    return operands.loadAt(operand, b.address(base, place.value, rawElem(spec.operands[operand].dtype)));
  });
  return {value, depth};
}

/// Places of all lanes, counted from the first lane's element.
V KernelLookups::placesOfLanes(unsigned operand, V place, V step) {
  if (spec.operands[operand].inner == InnerClass::Contiguous)
    return place + b.iota(Elem::I64);
  return step ? place + b.iota(Elem::I64) * b.splat(step) : place;
}

// A lane that the tail leaves out reads the first lane's element.
V KernelLookups::loadEach(mlir::Value base, unsigned operand, V place, V step) {
  const KernelOperand &op = spec.operands[operand];
  V places = placesOfLanes(operand, place, step);
  const LaneLimit &limit = scopes.laneLimit();
  if (limit.whole || limit.mask)
    places = select(limit.whole ? scopes.tailMask() : limit.mask, places, b.splat(b.index(0)));
  Elem elem = rawElem(op.dtype);
  V result = b.undef(elem, true);
  for (unsigned lane = 0; lane < b.lanes(); ++lane)
    result = b.insert(result, b.load(b.address(base, b.extract(places, lane), elem), elem, false), lane);
  return fromRaw(result, op.dtype);
}

/// The element that a store makes of the one that is there, `old`, and of `value`, in the type of computation.
static V combined(const KernelStore &store, DType dtype, V old, V value) {
  if (isComplex(dtype)) // of whose functions there is Add
    return complexOf(realPart(old) + realPart(value), imagPart(old) + imagPart(value));
  return roundTo(emitScalarFn(*store.fn, dtype, {old, value}, {dtype, dtype}), dtype);
}

/// Writes one element.
static void writeTo(const KernelStore &store, DType dtype, mlir::Value address, V value) {
  LaneBuilder &b = value.b();
  if (store.fn)
    value = combined(store, dtype, fromRaw(b.load(address, rawElem(dtype), false), dtype), value);
  b.store(toRaw(value, dtype), address);
}

void KernelLookups::store(const KernelStore &store, mlir::Value base, V place, V value) {
  DType from = spec.nodes[store.node].dtype, dtype = spec.operands[store.operand].dtype;
  auto converted = [&] { return from == dtype ? value : castValue(value, from, dtype); };
  if (scopes.hasLanes())
    return storeLanes(store, base, place, converted());
  mlir::Value address = b.address(base, place, rawElem(dtype));
  writeTo(store, dtype, address, converted());
}

// Elements of other lanes may be the same ones, so each lane is written on its own, the first one first, unless the
// lanes are neighbours in memory.
void KernelLookups::storeLanes(const KernelStore &store, mlir::Value base, V place, V value) {
  const KernelOperand &op = spec.operands[store.operand];
  if (place.isVector() || op.inner != InnerClass::Contiguous || isComplex(op.dtype)) {
    unsigned operand = unsigned(store.operand);
    return storeEach(store, base, placesOfLanes(operand, b.splat(place), operands.laneStride(operand)), value);
  }
  Elem raw = rawElem(op.dtype);
  mlir::Value address = b.address(base, place, raw);
  if (store.fn)
    value = combined(store, op.dtype, fromRaw(access.load(address, raw, op.inner, V()), op.dtype), value);
  access.store(toRaw(value, op.dtype), address, op.inner, V());
}

void KernelLookups::storeEach(const KernelStore &store, mlir::Value base, V places, V value) {
  DType dtype = spec.operands[store.operand].dtype;
  auto write = [&](V place, V element) { writeTo(store, dtype, b.address(base, place, rawElem(dtype)), element); };
  auto writeAll = [&] {
    for (unsigned lane = 0; lane < b.lanes(); ++lane)
      write(b.extract(places, lane), b.extract(value, lane));
    return Values();
  };
  const LaneLimit &limit = scopes.laneLimit();
  auto writeSome = [&] {
    b.forLoop(b.index(0), limit.remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
      write(b.extractAt(places, lane), b.extractAt(value, lane));
      return Values();
    });
    return Values();
  };
  if (limit.whole)
    b.ifElse(limit.whole, writeAll, writeSome);
  else
    limit.mask ? writeSome() : writeAll();
}

} // namespace tess::compiler
