//===- KernelPieces.cpp - the pieces of float sums -----------------------===//
#include "compiler/emit/KernelPieces.h"

#include "llvm/Support/MathExtras.h"

namespace tess::compiler {

using runtime::kSumPiece;
using Values = KernelPieces::Values;

KernelPieces::KernelPieces(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, KernelSizes &sizes)
    : spec(spec), b(b), scopes(scopes), sizes(sizes) {
  if (spec.numReduced == 1 && spec.order == ReductionOrder::Lanes)
    firstEnd = endOf(b.index(0), b.index(kSumPiece), wholeOfLast().hi);
}

bool KernelPieces::suit(llvm::ArrayRef<Reduction> reductions) {
  return llvm::any_of(reductions, [](const Reduction &r) { return r.sumsFloats(); });
}

KernelPieces::Range KernelPieces::wholeOfLast() { return {b.index(0), sizes.size(spec.numGroups() - 1)}; }

KernelPieces::Box KernelPieces::whole() {
  Box box;
  for (unsigned reduced = 0; reduced < spec.numReduced; ++reduced)
    box.push_back({b.index(0), sizes.size(spec.numParallel + reduced)});
  return box;
}

V KernelPieces::endOf(V start, V step, V end) {
  V next = start + step;
  return select(lt(next, end), next, end);
}

/// Positions of a reduced group that a piece has: as many as take 64 steps of each lane, but one at least.
V KernelPieces::positionsOfPiece(unsigned reduced) {
  if (reduced + 1 == spec.numReduced)
    return b.index(kSumPiece);
  auto notZero = [&](V count) { return select(lt(count, b.index(1)), b.index(1), count); };
  V steps = lshr(wholeOfLast().hi + b.index(kLanes - 1), llvm::ConstantLog2<kLanes>());
  for (unsigned inner = reduced + 1; inner + 1 < spec.numReduced; ++inner)
    steps = steps * sizes.size(spec.numParallel + inner);
  return notZero(b.binary(LaneBuilder::Bin::UDiv, b.index(kSumPiece / kLanes), notZero(steps)));
}

Values KernelPieces::cut(unsigned first, Box box, llvm::ArrayRef<V> init, Body body) {
  if (first == spec.numReduced)
    return body(box, init);
  Range all = box[first];
  V step = positionsOfPiece(first);
  return scopes.loop(all.lo, all.hi, step, init, [&](V start, llvm::ArrayRef<V> carried) {
    box[first] = {start, endOf(start, step, all.hi)};
    return cut(first + 1, box, carried, body);
  });
}

Values KernelPieces::each(llvm::ArrayRef<Reduction> reductions, llvm::ArrayRef<V> init, Body body) {
  return suit(reductions) ? cut(0, whole(), init, body) : body(whole(), init);
}

V KernelPieces::isLast(const Box &piece) {
  V all = b.constantBits(Elem::I1, false, 1);
  for (auto [range, of] : llvm::zip_equal(piece, whole()))
    all = all & eq(range.hi, of.hi);
  return all;
}

Values KernelPieces::noTotals(Reductions &reductions) {
  return eachOf(reductions, [](Reduction &r) { return r.noTotal(); });
}

Values KernelPieces::addTotals(Reductions &reductions, llvm::ArrayRef<V> before, llvm::ArrayRef<V> next) {
  return eachOf(reductions, [](Reduction &r, auto a, auto c) { return r.addTotal(a, c); }, before, next);
}

KernelPieces::Folded KernelPieces::foldAll(Reductions &reductions, Fold fold) {
  if (!suit(reductions))
    return {V(), {}, fold(whole())};
  if (spec.numReduced == 1)
    return foldAlongOne(wholeOfLast(), firstEnd, reductions, fold);
  Values init = {b.index(0)};
  init.append(noTotals(reductions));
  size_t count = init.size();
  init.append(eachOf(reductions, [](Reduction &r) { return r.none(); }));
  Values found = cut(0, whole(), init, [&](const Box &piece, llvm::ArrayRef<V> carried) {
    llvm::ArrayRef<V> before = carried.slice(1, count - 1), last = carried.drop_front(count);
    Values next = {carried[0] + b.index(1)};
    next.append(scopes.when(lt(b.index(0), carried[0]), before, [&] { return addTotals(reductions, before, last); }));
    next.append(fold(piece));
    return next;
  });
  llvm::ArrayRef<V> all = found;
  return {lt(b.index(1), all[0]), Values(all.slice(1, count - 1)), Values(all.drop_front(count))};
}

KernelPieces::Folded KernelPieces::foldRange(Range range, Reductions &reductions, Fold fold) {
  if (!suit(reductions))
    return {V(), {}, fold({range})};
  return foldAlongOne(range, endOf(range.lo, b.index(kSumPiece), range.hi), reductions, fold);
}

// Short rows are one piece, which takes a comparison: this is no loop that tests before its body, and nothing is
// converted.
KernelPieces::Folded KernelPieces::foldAlongOne(Range range, V firstEnd, Reductions &reductions, Fold fold) {
  Values init = {range.lo, firstEnd};
  init.append(noTotals(reductions));
  size_t count = init.size();
  auto body = [&](llvm::ArrayRef<V> carried) {
    Values all(carried);
    all.append(fold({{carried[0], carried[1]}}));
    return all;
  };
  auto isMore = [&](llvm::ArrayRef<V> all) { return lt(all[1], range.hi); };
  auto next = [&](llvm::ArrayRef<V> all) {
    Values carried = {all[1], endOf(all[1], b.index(kSumPiece), range.hi)};
    carried.append(addTotals(reductions, all.slice(2, count - 2), all.drop_front(count)));
    return carried;
  };
  Values found = scopes.loopWhile(init, body, isMore, next);
  llvm::ArrayRef<V> all = found;
  return {lt(range.lo, all[0]), Values(all.slice(2, count - 2)), Values(all.drop_front(count))};
}

Values KernelPieces::resultsOf(const Folded &folded, Reductions &reductions) {
  if (!folded.isSeveral)
    return folded.last;
  return scopes.when(folded.isSeveral, folded.last, [&] {
    Values totals = addTotals(reductions, folded.before, folded.last);
    return eachOf(reductions, [](Reduction &r, auto own) { return r.resultOf(own); }, totals);
  });
}

Values KernelPieces::totalsOf(const Folded &folded, Reductions &reductions) {
  return folded.isSeveral ? addTotals(reductions, folded.before, folded.last) : folded.last;
}

} // namespace tess::compiler
