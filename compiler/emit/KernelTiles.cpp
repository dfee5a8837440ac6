//===- KernelTiles.cpp - operands that lie across the lanes ---------------===//
#include "compiler/emit/KernelTiles.h"

#include "compiler/lanes/LaneConversion.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::compiler {

static bool isAcross(const KernelOperand &operand) { return !operand.isOutput && operand.inner == InnerClass::Strided; }

bool KernelTiles::suit(const KernelSpec &spec) {
  auto allows = [](const KernelOperand &operand) {
    return operand.isOutput ? operand.inner == InnerClass::Contiguous
                            : !isAcross(operand) || elemBytes(rawElem(operand.dtype)) <= 8;
  };
  return spec.vectorAxis == VectorAxis::Parallel && !spec.numReduced && spec.numParallel >= 2 && !hasLongBody(spec) &&
         llvm::any_of(spec.operands, isAcross) && llvm::all_of(spec.operands, allows) && !readsIndex(spec) &&
         !spec.numLookups;
}

KernelTiles::KernelTiles(KernelBuilder &k)
    : KernelLoops(k.b, k.scopes), k(k), spec(k.spec), args(k.args), rows(spec.numParallel - 2) {
  columnsEnd = args.innerHi - ((args.innerHi - args.innerLo) & b.index(kLanes - 1));
  V applies = lt(args.innerLo, columnsEnd);
  for (auto [i, operand] : llvm::enumerate(spec.operands))
    if (isAcross(operand)) {
      across.push_back(unsigned(i));
      applies = applies & eq(k.sizes.stride(unsigned(i), rows), b.index(1));
    }
  firstRow = select(applies, args.outerLo, args.outerHi);
}

KernelTiles::Progress KernelTiles::start() const { return {firstRow, args.innerLo}; }

KernelTiles::Progress KernelTiles::compute(V row, V position, Progress before) {
  V tile = b.index(kLanes);
  Values now = scopes.when(eq(row, before.next), {before.next, before.column}, [&] {
    V left = args.outerHi - row, leftInGroup = k.sizes.size(rows) - position;
    V begins = ge(left, tile) & ge(leftInGroup, tile);
    scopes.when(begins, {}, [&] { return computeColumns(), Values(); });
    return Values{row + select(begins, tile, b.index(1)), select(begins, columnsEnd, args.innerLo)};
  });
  return {now[0], now[1]};
}

void KernelTiles::computeColumns() {
  unsigned columns = spec.numParallel - 1;
  V step = b.index(runtime::kTileLanes);
  scopes.loop(args.innerLo, columnsEnd, step, {}, [&](V start, llvm::ArrayRef<V>) {
    k.indices.enterBlock(start);
    V end = start + step;
    end = select(lt(end, columnsEnd), end, columnsEnd);
    lanesLoop(start, end, columns, {}, [&](llvm::ArrayRef<V>) {
      for (unsigned operand : across)
        k.operands.readTile(operand);
      return Values();
    });
    scopes.loop(b.index(0), b.index(kLanes), b.index(1), {}, [&](V row, llvm::ArrayRef<V>) {
      k.operands.enterTileRow(rows, row);
      return lanesLoop(start, end, columns, {}, [&](llvm::ArrayRef<V>) { return k.nodes.storeElements(), Values(); });
    });
    k.operands.leaveTiles();
    return Values();
  });
}

} // namespace tess::compiler
