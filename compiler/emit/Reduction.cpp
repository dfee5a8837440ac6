//===- Reduction.cpp - partial results and their tree --------------------===//
#include "compiler/emit/Reduction.h"

#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

namespace tess::compiler {

using Values = LaneBuilder::Values;

Reduction::Reduction(KernelBuilder &k, int index)
    : k(k), b(k.b), node(k.spec.nodes[index]), from(k.spec.nodes[node.args[0]].dtype),
      hasPlace(givesIndex(node.reduceKind)) {
  valueType = hasPlace ? from : node.dtype;
}

/// The element type of partial results. A bool reduces as a byte, because partial results may be in memory.
static Elem reducedElem(DType dtype) { return isBool(dtype) ? Elem::I8 : computeElem(dtype); }

static bool wantsLargest(ReduceKind kind) { return kind == ReduceKind::Max || kind == ReduceKind::ArgMax; }

/// The sum of bools is "any", their product "all".
static ReduceKind effectiveKind(ReduceKind kind, DType dtype) {
  if (!isBool(dtype))
    return kind;
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return ReduceKind::Max;
  return kind == ReduceKind::Prod ? ReduceKind::Min : kind;
}

V Reduction::argument() {
  V value = k.nodes.current(node.args[0]);
  if (!hasPlace && reducedElem(from) != partElem(0))
    value = castValue(value, from, valueType);
  return value.elem() == Elem::I1 ? b.convert(value, Elem::I8) : value;
}

V Reduction::neutral(bool vector) {
  ReduceKind kind = effectiveKind(node.reduceKind, valueType);
  ScalarFn fn = kind == ReduceKind::Sum || kind == ReduceKind::Mean ? ScalarFn::Add
                : kind == ReduceKind::Prod                          ? ScalarFn::Mul
                : wantsLargest(kind)                                ? ScalarFn::Max
                                                                    : ScalarFn::Min;
  return neutralOf(b, fn, valueType, partElem(0), vector);
}

Values Reduction::start() {
  Values parts = {neutral(true)};
  // The place starts as that of the first element that the lane will see. Ties go to the lower place, so this is never
  // wrong.
  if (hasPlace)
    parts.push_back(b.iota(computeElem(node.dtype)));
  return parts;
}

Values Reduction::nothing(bool vector) {
  Values parts = {neutral(vector)};
  if (hasPlace) // ties go to the lower place, so this is never wrong
    parts.push_back(b.constantBits(partElem(1), vector, 0));
  return parts;
}

/// Whether `a` beats `b`; NaN beats numbers.
V Reduction::better(V a, V b) {
  bool largest = wantsLargest(node.reduceKind);
  if (!isFloat(a.elem())) {
    using Cmp = LaneBuilder::Cmp;
    Cmp op = isUnsigned(valueType) ? (largest ? Cmp::UGt : Cmp::ULt) : (largest ? Cmp::Gt : Cmp::Lt);
    return a.b().compare(op, a, b);
  }
  return (largest ? gt(a, b) : lt(a, b)) | (isNan(a) & bitNot(isNan(b)));
}

Values Reduction::accumulate(llvm::ArrayRef<V> parts, V value, V place) {
  if (!hasPlace)
    return {combine(effectiveKind(node.reduceKind, valueType), parts[0], value, isUnsigned(valueType))};
  V take = better(value, parts[0]);
  return {select(take, value, parts[0]), select(take, place, parts[1])};
}

Values Reduction::merge(llvm::ArrayRef<V> a, llvm::ArrayRef<V> c) {
  if (!hasPlace)
    return accumulate(a, c[0], V());
  V same = bitNot(better(a[0], c[0])) & lt(c[1], a[1]);
  V take = better(c[0], a[0]) | same;
  return {select(take, c[0], a[0]), select(take, c[1], a[1])};
}

bool Reduction::sumsFloats() const {
  return (node.reduceKind == ReduceKind::Sum || node.reduceKind == ReduceKind::Mean) && isFloat(partElem(0));
}

Elem Reduction::totalElem(unsigned part) const { return sumsFloats() ? Elem::F64 : partElem(part); }

Values Reduction::noTotal(bool vector) {
  return sumsFloats() ? Values{b.constant(Elem::F64, vector, -0.0)} : nothing(vector);
}

Values Reduction::addTotal(llvm::ArrayRef<V> a, llvm::ArrayRef<V> c) {
  return sumsFloats() ? Values{a[0] + b.convert(c[0], Elem::F64)} : merge(a, c);
}

Values Reduction::resultOf(llvm::ArrayRef<V> total) {
  return sumsFloats() ? Values{b.convert(total[0], partElem(0))} : Values(total);
}

V Reduction::elementNumber() { return k.indices.reducedNumbers(computeElem(node.dtype)); }

Values Reduction::step(llvm::ArrayRef<V> parts, V mask) {
  V value = argument();
  Values next = accumulate(parts, value, hasPlace ? elementNumber() : V());
  if (mask)
    for (auto [fresh, old] : llvm::zip_equal(next, parts))
      fresh = select(mask, fresh, old);
  return next;
}

/// Lanes [first, first + count) of a vector; a single lane as a scalar.
static V lanesFrom(V vector, unsigned first, unsigned count) {
  if (count == 1)
    return vector.b().extract(vector, first);
  return vector.b().shuffle(vector, llvm::to_vector(llvm::seq<int32_t>(first, first + count)));
}

// Each level works on vectors of its own width: LLVM would need long to find out by itself which lanes are never read.
Values Reduction::fold(llvm::ArrayRef<V> parts) {
  Values result(parts);
  for (unsigned width = kLanes / 2; width >= 1; width /= 2) {
    LaneBuilder::WithLanes narrow(b, width);
    Values lower, upper;
    for (V part : result) {
      lower.push_back(lanesFrom(part, 0, width));
      upper.push_back(lanesFrom(part, width, width));
    }
    result = merge(lower, upper);
  }
  return result;
}

Values Reduction::startOf(V lane) {
  Values parts = {neutral(false)};
  if (hasPlace) // as in start()
    parts.push_back(b.convert(lane, partElem(1)));
  return parts;
}

Values Reduction::fold(llvm::ArrayRef<V> parts, ThreadTeam &team) {
  Values result(parts);
  for (unsigned width = kLanes / 2; width >= 1; width /= 2) {
    Values upper;
    for (V part : result)
      upper.push_back(team.fromBehind(part, width));
    result = merge(result, upper);
  }
  for (V &part : result)
    part = team.fromFirst(part);
  return result;
}

Elem Reduction::partElem(unsigned part) const { return part ? computeElem(node.dtype) : reducedElem(valueType); }

unsigned Reduction::bytesPerVector() const {
  unsigned bytes = 0;
  for (unsigned part = 0; part < numParts(); ++part)
    bytes += elemBytes(partElem(part)) * kLanes * kLanes;
  return bytes;
}

/// Partial result number `slot` of columns before their first element, as in start().
Values Reduction::startOfSlot(V slot) {
  Values parts = {neutral(true)};
  if (hasPlace)
    parts.push_back(b.splat(b.convert(slot, partElem(1))));
  return parts;
}

void Reduction::startColumns(unsigned vectors, bool hasTotals) {
  for (unsigned part = 0; part < numParts(); ++part) {
    memory[part] = b.stackBuffer(partElem(part), kLanes * vectors, true);
    if (hasTotals)
      totals[part] = b.stackBuffer(totalElem(part), vectors, true);
  }
  b.forLoop(b.index(0), b.index(int64_t(vectors) * kLanes * kLanes), b.index(kLanes), {},
            [&](V offset, llvm::ArrayRef<V>) {
              V slot = b.binary(LaneBuilder::Bin::LShr, offset, b.index(llvm::ConstantLog2<kLanes>()));
              for (auto [part, value] : llvm::enumerate(startOfSlot(slot & b.index(kLanes - 1))))
                b.store(value, b.address(memory[part], offset, partElem(part)));
              return Values();
            });
}

void Reduction::stepColumns() {
  V value = argument();
  V slot = k.scopes.indexOf(k.spec.numGroups() - 1) & b.index(kLanes - 1);
  V offset = (k.indices.columnInBlock() + slot) * b.index(kLanes);
  Values parts;
  llvm::SmallVector<mlir::Value, 2> places;
  for (unsigned part = 0; part < numParts(); ++part) {
    places.push_back(b.address(memory[part], offset, partElem(part)));
    parts.push_back(b.load(places[part], partElem(part), true));
  }
  Values next = accumulate(parts, value, hasPlace ? elementNumber() : V());
  for (unsigned part = 0; part < numParts(); ++part)
    b.store(next[part], places[part]);
}

Values Reduction::foldColumns() {
  llvm::SmallVector<Values> slots(kLanes);
  V offset = k.indices.columnInBlock() * b.index(kLanes);
  for (unsigned part = 0; part < numParts(); ++part) {
    mlir::Value base = b.address(memory[part], offset, partElem(part));
    for (unsigned slot = 0; slot < kLanes; ++slot)
      slots[slot].push_back(b.load(b.addressConst(base, int64_t(slot) * kLanes, partElem(part)), partElem(part), true));
  }
  for (unsigned width = kLanes / 2; width >= 1; width /= 2)
    for (unsigned slot = 0; slot < width; ++slot)
      slots[slot] = merge(slots[slot], slots[slot + width]);
  return slots[0];
}

mlir::Value Reduction::placeOfSlot(V column, V slot, unsigned part) {
  return b.address(memory[part], (column + slot) * b.index(kLanes), partElem(part));
}

Values Reduction::loadSlot(V column, V slot) {
  Values parts;
  for (unsigned part = 0; part < numParts(); ++part)
    parts.push_back(b.load(placeOfSlot(column, slot, part), partElem(part), true));
  return parts;
}

void Reduction::storeSlot(llvm::ArrayRef<V> parts, V column, V slot) {
  for (auto [part, value] : llvm::enumerate(parts))
    b.store(value, placeOfSlot(column, slot, part));
}

// A loop, which is little code for what runs once in a piece. Slot 15 - i goes to the one whose number lacks its
// highest bit: the tree of foldColumns().
void Reduction::addColumns(V column, V isFirst, V isLast) {
  b.forLoop(b.index(0), b.index(kLanes - 1), b.index(1), {}, [&](V i, llvm::ArrayRef<V>) {
    V from = b.index(kLanes - 1) - i, zeros = b.unary(LaneBuilder::Un::CountLeadingZeros, from);
    V to = from ^ b.binary(LaneBuilder::Bin::Shl, b.index(1), b.index(63) - zeros);
    storeSlot(merge(loadSlot(column, to), loadSlot(column, from)), column, to);
    storeSlot(startOfSlot(from), column, from);
    return Values();
  });
  Values before;
  for (auto [part, none] : llvm::enumerate(noTotal(true))) {
    V kept = b.load(b.address(totals[part], column, totalElem(part)), totalElem(part), true);
    before.push_back(select(isFirst, none, kept));
  }
  Values all = addTotal(before, loadSlot(column, b.index(0)));
  for (auto [part, total] : llvm::enumerate(all))
    b.store(total, b.address(totals[part], column, totalElem(part)));
  Values next = startOfSlot(b.index(0));
  for (auto [result, start] : llvm::zip_equal(resultOf(all), next))
    start = select(isLast, result, start);
  storeSlot(next, column, b.index(0));
}

V Reduction::finish(llvm::ArrayRef<V> folded) {
  if (hasPlace)
    return folded[1];
  V result = folded[0];
  if (isBool(valueType))
    return b.compare(LaneBuilder::Cmp::Ne, result, result.ci(0));
  ReduceKind kind = node.reduceKind;
  if (isFloat(result.elem()) && kind == ReduceKind::Sum)
    result =
        select(eq(k.sizes.reducedCount(), b.index(0)), 0.0, result); // the sum of no elements is 0, not the neutral -0
  if (kind == ReduceKind::Mean) {
    V count = b.convert(k.sizes.reducedCount(), result.elem());
    result = isFloat(result.elem())
                 ? result / count
                 : emitScalarFn(ScalarFn::FloorDiv, node.dtype, {result, count}, {node.dtype, node.dtype});
  }
  return node.roundsHere ? roundTo(result, node.dtype) : result;
}

} // namespace tess::compiler
