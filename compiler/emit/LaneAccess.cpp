//===- LaneAccess.cpp - loads and stores of lanes at an address -----------===//
#include "compiler/emit/LaneAccess.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess::compiler {

// One element in every lane is what row-major values repeat, and must not cost more than a broadcast operand.
V LaneAccess::loadRepeated(mlir::Value base, Elem elem, V mask) {
  auto one = [&] { return Values{b.splat(b.load(base, elem, false))}; };
  return b.ifElse(eq(mask, b.index(0)), one, [&] {
    V result = b.undef(elem, true);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result = b.insert(result, b.load(b.address(base, b.index(lane) & mask, elem), elem, false), lane);
    return Values{result};
  })[0];
}

V LaneAccess::loadByElement(mlir::Value base, Elem elem, V step) {
  mlir::Value buffer = b.stackBuffer(elem, 1, true);
  b.store(b.constantBits(elem == Elem::F16 ? Elem::I16 : elem, true, 0), buffer);
  b.forLoop(b.index(0), scopes.laneLimit().remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
    V element = b.load(b.address(base, step ? lane * step : lane, elem), elem, false);
    b.store(element, b.address(buffer, lane, elem));
    return Values();
  });
  return b.load(buffer, elem, true);
}

void LaneAccess::storeByElement(V value, mlir::Value base, V step) {
  Elem elem = value.elem();
  mlir::Value buffer = b.stackBuffer(elem, 1, true);
  b.store(value, buffer);
  b.forLoop(b.index(0), scopes.laneLimit().remaining, b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
    V element = b.load(b.address(buffer, lane, elem), elem, false);
    b.store(element, b.address(base, step ? lane * step : lane, elem));
    return Values();
  });
}

V LaneAccess::load(mlir::Value base, Elem elem, InnerClass inner, V step) {
  const LaneLimit &limit = scopes.laneLimit();
  if (!limit.whole)
    return load(base, elem, inner, step, limit.mask);
  return b.ifElse(
      limit.whole, [&] { return Values{load(base, elem, inner, step, V())}; },
      [&] { return Values{load(base, elem, inner, step, scopes.tailMask())}; })[0];
}

V LaneAccess::load(mlir::Value base, Elem elem, InnerClass inner, V step, V mask) {
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

// Elements of windows mostly lie one place apart, or two; those of other operands two, as parts of numbers, or
// backward.
V LaneAccess::loadApart(mlir::Value base, Elem elem, V step) {
  auto isStep = [&](int64_t value) { return eq(step, b.index(value)); };
  auto others = [&] { return Values{load(base, elem, InnerClass::Strided, step)}; };
  auto pairs = [&] { return Values{loadPairs(base, elem)}; };
  auto apart = [&] { return b.ifElse(isStep(2), pairs, others); };
  if (!hasWindows)
    return b.ifElse(isStep(-1), [&] { return Values{loadBackward(base, elem)}; }, apart)[0];
  return b.ifElse(isStep(1), [&] { return Values{b.load(base, elem, true)}; }, apart)[0];
}

V LaneAccess::loadBackward(mlir::Value base, Elem elem) {
  int32_t last = int32_t(b.lanes()) - 1;
  V lanes = b.load(b.addressConst(base, -last, elem), elem, true);
  return b.shuffle(lanes, llvm::to_vector(llvm::reverse(llvm::seq_inclusive<int32_t>(0, last))));
}

// The second vector begins one element early, because there may be nothing behind the last lane's.
V LaneAccess::loadPairs(mlir::Value base, Elem elem) {
  int32_t count = int32_t(b.lanes());
  V first = b.load(base, elem, true), second = b.load(b.addressConst(base, count - 1, elem), elem, true);
  llvm::SmallVector<int32_t, kLanes> lanes;
  for (int32_t lane : llvm::seq<int32_t>(0, count))
    lanes.push_back(lane < count / 2 ? 2 * lane : 2 * lane + 1);
  return b.shuffle(first, second, lanes);
}

void LaneAccess::store(V value, mlir::Value base, InnerClass inner, V step) {
  const LaneLimit &limit = scopes.laneLimit();
  if (!limit.whole)
    return store(value, base, inner, step, limit.mask);
  b.ifElse(
      limit.whole, [&] { return store(value, base, inner, step, V()), Values(); },
      [&] { return store(value, base, inner, step, scopes.tailMask()), Values(); });
}

void LaneAccess::store(V value, mlir::Value base, InnerClass inner, V step, V mask) {
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

} // namespace tess::compiler
