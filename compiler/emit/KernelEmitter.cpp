//===- KernelEmitter.cpp - the loops of a kernel -------------------------===//
#include "compiler/emit/KernelEmitter.h"

#include "compiler/emit/KernelContraction.h"
#include "compiler/emit/KernelLoops.h"
#include "compiler/emit/KernelPieces.h"
#include "compiler/emit/KernelScans.h"
#include "compiler/emit/KernelTiles.h"
#include "compiler/emit/KernelWindows.h"
#include "compiler/emit/Reduction.h"
#include "compiler/lanes/LaneConversion.h"
#include "ops/vocabulary/Error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

namespace tess::compiler {

namespace {

using runtime::kReductionChunk;
// A block of columns has at most 8 vectors, and the partial results of its reductions take at most 16 KiB of stack.
constexpr unsigned kBlockVectors = 8, kBlockBytes = 16384;
// Of the vectors of a row that is shorter than kLanes.
constexpr unsigned kLeastLanes = 4;

class KernelEmitter : KernelLoops {
public:
  explicit KernelEmitter(KernelBuilder &k, ThreadTeam *team = nullptr)
      : KernelLoops(k.b, k.scopes), k(k), spec(k.spec), plan(k.plan), args(k.args), team(team),
        pieces(spec, b, scopes, k.sizes), windows(spec, b, scopes, k.sizes) {}

  /// The elements or rows of a thread of a grid.
  void grid(const GridWalk &walk) {
    scopes.loop(walk.first, walk.count, walk.step, {}, [&](V index, llvm::ArrayRef<V>) {
      enterElement(index);
      if (!spec.numReduced)
        k.nodes.storeElements();
      else if (spec.scatters())
        writeInOrder();
      else if (spec.scans())
        KernelScans(k).alone();
      else if (spec.order == ReductionOrder::Sequential)
        reduceColumn();
      else
        reduceAcrossLanes();
      return Values();
    });
  }

  /// Loops over the rows. The index of each outer group is counted up, which saves a division for each row.
  void rows() {
    unsigned outer = spec.numParallel - lanesAreParallel();
    V lo = args.outerLo, hi = args.outerHi;
    if (lanesAreParallel())
      hi = select(lt(args.innerLo, args.innerHi), hi, lo);
    if (!outer) {
      scopes.when(lt(lo, hi), {}, [&] { return row(args.innerLo), Values(); });
      return;
    }
    Values start(outer - 1, V());
    V rest = lo;
    for (unsigned g = outer - 1; g > 0; --g) {
      V size = k.sizes.size(g), divisor = select(gt(size, b.index(0)), size, b.index(1));
      V quotient = b.binary(LaneBuilder::Bin::UDiv, rest, divisor);
      start[g - 1] = rest - quotient * divisor;
      rest = quotient;
    }
    start.insert(start.begin(), rest);
    if (outer == 1)
      start.clear();
    std::optional<KernelTiles> tiles;
    if (KernelTiles::suit(spec)) {
      tiles.emplace(k);
      start.append({tiles->start().next, tiles->start().column});
    }
    scopes.loop(lo, hi, b.index(1), start, [&](V index, llvm::ArrayRef<V> carried) {
      k.indices.enterRow(index);
      llvm::ArrayRef<V> indices = outer == 1 ? llvm::ArrayRef<V>(index) : carried;
      for (unsigned g = 0; g < outer; ++g)
        scopes.enterGroup(g, indices[g]);
      KernelTiles::Progress progress = {V(), args.innerLo};
      if (tiles)
        progress = tiles->compute(index, indices[outer - 1], {carried.end()[-2], carried.back()});
      row(progress.column);
      Values next(carried.take_front(outer == 1 ? 0 : outer));
      for (unsigned g = next.size(); g-- > 0;) {
        next[g] = next[g] + b.index(1);
        if (!g)
          break;
        V wraps = eq(next[g], k.sizes.size(g));
        next[g] = select(wraps, b.index(0), next[g]);
        // The next outer index advances only when this one wraps; undo its advance otherwise.
        next[g - 1] = next[g - 1] - select(wraps, b.index(0), b.index(1));
      }
      if (tiles)
        next.append({progress.next, progress.column});
      return next;
    });
  }

private:
  using Range = IndexRange;
  using Box = KernelPieces::Box;

  /// Enters element `linear` of the row-major parallel domain.
  void enterElement(V linear) {
    k.indices.enterRow(linear);
    if (!spec.numParallel)
      return;
    V rest = linear;
    for (unsigned group = spec.numParallel - 1; group > 0; --group) {
      V size = k.sizes.size(group), quotient = b.binary(LaneBuilder::Bin::UDiv, rest, size);
      scopes.enterGroup(group, rest - quotient * size);
      rest = quotient;
    }
    scopes.enterGroup(0, rest);
  }

  bool lanesAreParallel() const { return spec.vectorAxis == VectorAxis::Parallel; }

  llvm::SmallVector<int> reducesOf(unsigned phase) const {
    llvm::SmallVector<int> found;
    for (unsigned i = 0; i < spec.nodes.size(); ++i)
      if (spec.nodes[i].kind == NodeKind::Reduce && plan.phase[spec.nodes[i].args[0]] == phase)
        found.push_back(i);
    return found;
  }

  /// The elements of a thread of a team: each kLanes-th.
  Values threadLoop(Range range, unsigned group, llvm::ArrayRef<V> init, Body body) {
    return scopes.loop(range.lo + team->lane(), range.hi, b.index(kLanes), init,
                       [&](V index, llvm::ArrayRef<V> values) {
                         scopes.enterGroup(group, index);
                         return body(values);
                       });
  }

  /// Loops over the reduced groups in row-major order; the last one goes by vectors when the lanes run along it.
  Values reducedLoops(unsigned first, const Box &box, llvm::ArrayRef<V> init, Body body) {
    unsigned group = spec.numParallel + first;
    bool isLast = first + 1 == spec.numReduced;
    if (isLast && team)
      return threadLoop(box[first], group, init, body);
    if (isLast && !lanesAreParallel())
      return vectorLoop(box[first].lo, box[first].hi, group, init, body);
    Range within = spec.order == ReductionOrder::Lanes ? box[first] : windows.withinReduced(first);
    return indexLoop(within.lo, within.hi, group, init, [&](llvm::ArrayRef<V> values) {
      return isLast ? body(values) : reducedLoops(first + 1, box, values, body);
    });
  }

  Reductions reductionsOf(llvm::ArrayRef<int> nodes) {
    Reductions reductions;
    for (int index : nodes)
      reductions.emplace_back(k, index);
    return reductions;
  }

  void define(llvm::ArrayRef<int> nodes, llvm::MutableArrayRef<Reduction> reductions, llvm::ArrayRef<V> folded) {
    for (auto [reduction, index] : llvm::zip_equal(reductions, nodes)) {
      k.nodes.define(index, reduction.finish(folded.take_front(reduction.numParts())));
      folded = folded.drop_front(reduction.numParts());
    }
  }

  /// Lanes run along the last reduced group: partial results are in registers, and a halving tree folds them.
  Values foldAcrossLanes(const Box &box, Reductions &reductions) {
    Values init = eachOf(reductions, [&](Reduction &r) { return team ? r.startOf(team->lane()) : r.start(); });
    Values parts = reducedLoops(0, box, init, [&](llvm::ArrayRef<V> carried) {
      Values next = eachOf(reductions, [&](Reduction &r, auto own) { return r.step(own, scopes.mask()); }, carried);
      k.nodes.storeElements();
      return next;
    });
    return eachOf(reductions, [&](Reduction &r, auto own) { return team ? r.fold(own, *team) : r.fold(own); }, parts);
  }

  KernelPieces::Folded foldPieces(Reductions &reductions) {
    return pieces.foldAll(reductions, [&](const Box &piece) { return foldAcrossLanes(piece, reductions); });
  }

  /// The totals of the chunks of `range`, which starts with one; `use` gets each start and the chunk's own.
  Values foldChunks(
      Range range, Reductions &reductions,
      llvm::function_ref<void(V, llvm::ArrayRef<V>)> use = [](V, llvm::ArrayRef<V>) {}) {
    V size = b.index(kReductionChunk);
    Values none = KernelPieces::noTotals(reductions);
    return scopes.loop(range.lo, range.hi, size, none, [&](V start, llvm::ArrayRef<V> before) {
      V end = start + size;
      auto fold = [&](const Box &piece) { return foldAcrossLanes(piece, reductions); };
      Range chunk = {start, select(lt(end, range.hi), end, range.hi)};
      Values totals = pieces.totalsOf(pieces.foldRange(chunk, reductions, fold), reductions);
      use(start, totals);
      return KernelPieces::addTotals(reductions, before, totals);
    });
  }

  void defineTotals(llvm::ArrayRef<int> nodes, Reductions &reductions, llvm::ArrayRef<V> totals) {
    define(nodes, reductions, eachOf(reductions, [](Reduction &r, auto own) { return r.resultOf(own); }, totals));
  }

  void reduceAcrossLanes() {
    for (unsigned phase = 0; phase < plan.numPhases; ++phase) {
      k.phases.enter(phase);
      llvm::SmallVector<int> nodes = reducesOf(phase);
      Reductions reductions = reductionsOf(nodes);
      if (spec.goesInChunks())
        defineTotals(nodes, reductions, foldChunks(pieces.wholeOfLast(), reductions));
      else
        define(nodes, reductions, pieces.resultsOf(foldPieces(reductions), reductions));
    }
    k.nodes.storeRows();
  }

  /// The inner range is one of chunks. Where there is scratch, it has the results of all chunks: a call leaves those of
  /// its range there, and one with an empty range ends the reduction.
  void reduceInParts() {
    constexpr unsigned kShift = llvm::ConstantLog2<kReductionChunk>();
    k.phases.enter(0);
    llvm::SmallVector<int> nodes = reducesOf(0);
    Reductions reductions = reductionsOf(nodes);
    V size = pieces.wholeOfLast().hi, alone = b.isNull(args.scratch), end = shl(args.innerHi, kShift);
    auto placeOf = [&](V chunk, size_t part) {
      mlir::Value start = b.address(args.scratch, chunk * b.index(plan.scratchBytesPerChunk), Elem::I8);
      return b.addressConst(start, int64_t(part * runtime::kChunkPartBytes), Elem::I8);
    };
    Range range{shl(args.innerLo, kShift), select(lt(end, size), end, size)};
    Values first = foldChunks(range, reductions, [&](V start, llvm::ArrayRef<V> folded) {
      scopes.when(bitNot(alone), {}, [&] {
        for (auto [number, part] : llvm::enumerate(folded))
          b.store(part, placeOf(lshr(start, kShift), number));
        return Values();
      });
    });
    scopes.when(alone | eq(args.innerLo, args.innerHi), {}, [&] {
      V count = select(alone, b.index(0), lshr(size + b.index(kReductionChunk - 1), kShift));
      defineTotals(nodes, reductions,
                   scopes.loop(b.index(0), count, b.index(1), first, [&](V chunk, llvm::ArrayRef<V> before) {
                     size_t number = 0;
                     return eachOf(
                         reductions,
                         [&](Reduction &r, auto own) {
                           Values parts;
                           for (unsigned part = 0; part < r.numParts(); ++part)
                             parts.push_back(b.load(placeOf(chunk, number++), r.totalElem(part), false));
                           return r.addTotal(own, parts);
                         },
                         before);
                   }));
      k.nodes.storeRows();
      return Values();
    });
  }

  /// The values of a row that a later phase reads: reductions, and values computed from them that the whole domain
  /// uses.
  llvm::SmallVector<int> keptAfter(unsigned phase) const {
    std::vector<bool> wanted(spec.nodes.size());
    for (unsigned i = 0; i < spec.nodes.size(); ++i)
      for (int arg : spec.nodes[i].args)
        wanted[arg] = wanted[arg] || (spec.nodes[i].kind == NodeKind::Apply && plan.full[i]);
    for (const KernelStore &store : spec.stores)
      wanted[store.node] = wanted[store.node] || isFullStore(spec, store);
    llvm::SmallVector<int> kept;
    for (unsigned i = 0; i < spec.nodes.size(); ++i)
      if (!plan.full[i] && plan.phase[i] == phase + 1 && (spec.nodes[i].kind == NodeKind::Reduce || wanted[i]))
        kept.push_back(i);
    return kept;
  }

  /// Lanes run along the last parallel group: every column has 16 partial results in memory, folded by the same tree. A
  /// block of columns goes through the reduced domain together, so that several cache lines of each row are read at a
  /// time.
  void columnPiece(V start, V end, const Box &piece, llvm::MutableArrayRef<Reduction> states) {
    reducedLoops(0, piece, {}, [&](llvm::ArrayRef<V>) {
      return vectorLoop(start, end, spec.numParallel - 1, {}, [&](llvm::ArrayRef<V>) {
        for (Reduction &state : states)
          state.stepColumns();
        k.nodes.storeElements();
        return Values();
      });
    });
  }

  /// Leaves the results in the partial results: those of the only piece, or what all pieces come to.
  void columnPhase(V start, V end, unsigned vectors, llvm::MutableArrayRef<Reduction> states) {
    bool inPieces = KernelPieces::suit(states);
    for (Reduction &state : states)
      state.startColumns(vectors, inPieces);
    pieces.each(states, b.constantBits(Elem::I1, false, 1), [&](const Box &piece, llvm::ArrayRef<V> isFirst) {
      columnPiece(start, end, piece, states);
      if (inPieces) {
        V isLast = pieces.isLast(piece);
        scopes.when(bitNot(isFirst[0] & isLast), {},
                    [&] { return addColumns(end - start, isFirst[0], isLast, states); });
      }
      return Values{b.constantBits(Elem::I1, false, 0)};
    });
  }

  /// Adds a piece of several to the totals of a block's columns.
  Values addColumns(V count, V isFirst, V isLast, llvm::MutableArrayRef<Reduction> states) {
    return b.forLoop(b.index(0), count, b.index(kLanes), {}, [&](V column, llvm::ArrayRef<V>) {
      for (Reduction &state : states)
        state.addColumns(column, isFirst, isLast);
      return Values();
    });
  }

  void columnRow(V start, V end, llvm::ArrayRef<int> reduces, llvm::MutableArrayRef<Reduction> states, bool last) {
    llvm::SmallVector<std::pair<int, mlir::Value>> buffers;
    for (int index : last ? llvm::SmallVector<int>() : keptAfter(k.phases.now()))
      buffers.push_back({index, b.stackBuffer(computeElem(spec.nodes[index].dtype), kBlockVectors, true)});
    vectorLoop(start, end, spec.numParallel - 1, {}, [&](llvm::ArrayRef<V>) {
      define(reduces, states, eachOf(states, [](Reduction &r) { return r.foldColumns(); }));
      for (auto [index, buffer] : buffers)
        k.phases.keep(k.nodes.lanesOf(index), buffer);
      if (last)
        k.nodes.storeRows();
      return Values();
    });
    for (auto [index, buffer] : buffers)
      k.phases.hold(index, buffer);
  }

  void reduceInColumns() {
    unsigned bytes = 1;
    for (unsigned i = 0; i < spec.nodes.size(); ++i)
      if (spec.nodes[i].kind == NodeKind::Reduce)
        bytes = std::max(bytes, Reduction(k, int(i)).bytesPerVector());
    unsigned vectors = std::clamp(kBlockBytes / bytes, 1u, kBlockVectors);
    V step = b.index(int64_t(vectors) * kLanes), hi = args.innerHi;
    scopes.loop(args.innerLo, hi, step, {}, [&](V start, llvm::ArrayRef<V>) {
      k.indices.enterBlock(start);
      V end = start + step;
      end = select(lt(end, hi), end, hi);
      for (unsigned phase = 0; phase < std::max(plan.numPhases, 1u); ++phase) {
        k.phases.enter(phase);
        llvm::SmallVector<int> reduces = reducesOf(phase);
        Reductions states = reductionsOf(reduces);
        if (plan.numPhases)
          columnPhase(start, end, vectors, states);
        bool last = phase + 1 >= plan.numPhases;
        if (!last || llvm::any_of(spec.stores, [&](const KernelStore &s) { return !isFullStore(spec, s); }))
          columnRow(start, end, reduces, states, last);
      }
      return Values();
    });
  }

  /// Every column has its one result in a register. Vectors have only columns whose windows are whole, so that lanes go
  /// through the same positions. They are the widest of which one fits into the row, and the last overlaps the one
  /// before.
  void reduceInSequence() {
    k.phases.enter(0);
    unsigned columns = spec.numParallel - 1;
    auto clamp = [](V x, V lo, V hi) { return select(lt(x, lo), lo, select(lt(hi, x), hi, x)); };
    Range whole = windows.wholeColumns();
    V start = clamp(whole.lo, args.innerLo, args.innerHi), end = clamp(whole.hi, start, args.innerHi), done = start;
    auto reduce = [&](llvm::ArrayRef<V>) { return reduceColumn(), Values(); };
    indexLoop(args.innerLo, start, columns, {}, reduce);
    for (unsigned width = kLanes; width >= kLeastLanes; width /= 2) {
      LaneBuilder::WithLanes narrow(b, width);
      V last = end - b.index(width), stop = select(lt(last, start), done, end);
      scopes.loop(done, stop, b.index(width), {}, [&](V index, llvm::ArrayRef<V> none) {
        scopes.enterLanes(columns, select(lt(last, index), last, index));
        return reduce(none);
      });
      done = stop;
    }
    indexLoop(done, args.innerHi, columns, {}, reduce);
  }

  void reduceColumn() {
    llvm::SmallVector<int> nodes = reducesOf(0);
    Reductions reductions = reductionsOf(nodes);
    Values none = eachOf(reductions, [&](Reduction &r) { return scopes.hasLanes() ? r.start() : r.none(); });
    define(nodes, reductions, reducedLoops(0, pieces.whole(), none, [&](llvm::ArrayRef<V> carried) {
             return eachOf(reductions, [](Reduction &r, auto own) { return r.step(own, V()); }, carried);
           }));
    k.nodes.storeRows();
  }

  /// What a thread writes at indices, element by element.
  void writeInOrder() {
    reducedLoops(0, pieces.whole(), {}, [&](llvm::ArrayRef<V>) { return k.nodes.storeElements(), Values(); });
  }

  /// Each position of what is walked in order goes through all columns, so that it finds its place once, and what is
  /// written there lies side by side.
  void writeInColumns() {
    k.phases.enter(0);
    columnPiece(args.innerLo, args.innerHi, pieces.whole(), {});
  }

  /// The columns of the open row from `first` on.
  void row(V first) {
    if (spec.scans())
      return lanesAreParallel() ? KernelScans(k).columns(args.innerLo, args.innerHi) : KernelScans(k).row();
    if (spec.order == ReductionOrder::Sequential && !spec.scatters())
      return reduceInSequence();
    if (plan.scratchBytesPerChunk)
      return reduceInParts();
    if (!lanesAreParallel())
      return reduceAcrossLanes();
    if (spec.numReduced)
      return spec.scatters() ? writeInColumns() : reduceInColumns();
    unsigned group = spec.numParallel - 1;
    if (hasLongBody(spec))
      return wholeLoop(first, args.innerHi, group, [&] { k.nodes.storeElements(); });
    if (hasScalarTail(spec))
      return scalarTailLoop(first, args.innerHi, group, [&] { k.nodes.storeElements(); });
    vectorLoop(first, args.innerHi, group, {}, [&](llvm::ArrayRef<V>) { return k.nodes.storeElements(), Values(); });
  }

  KernelBuilder &k;
  const KernelSpec &spec;
  const KernelPlan &plan;
  const KernelArguments &args;
  ThreadTeam *team; // of a grid whose threads are no lanes
  KernelPieces pieces;
  KernelWindows windows;
};

/// The spec of a grid: lanes go along the rows, where operands have the classes that the strides there allow. A thread
/// alone has no lanes.
KernelSpec gridSpec(KernelSpec spec) {
  if (spec.scatters())
    spec.vectorAxis = VectorAxis::Parallel;
  if (spec.order != ReductionOrder::Lanes)
    return spec;
  if (spec.vectorAxis == VectorAxis::Parallel && spec.numReduced)
    for (KernelOperand &operand : spec.operands)
      operand.inner = operand.variesOnReduced ? InnerClass::Strided : InnerClass::Broadcast;
  spec.vectorAxis = VectorAxis::Reduced;
  return spec;
}

} // namespace

unsigned teamOf(const KernelSpec &spec) { return spec.numReduced && spec.order == ReductionOrder::Lanes ? kLanes : 1; }

runtime::GridEntry gridEntryOf(const KernelSpec &spec) {
  return {spec.numPointers(), spec.dims().count(spec.numAttrs), teamOf(spec)};
}

void emitGridBody(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, const GridWalk &walk,
                  mlir::Operation *end, const KernelEmitOptions &options, ThreadTeam *team) {
  KernelSpec grid = gridSpec(spec);
  KernelPlan plan = planKernel(grid, LaterPasses::Recompute);
  KernelArguments args;
  args.ptrs = pointers;
  args.dims = dims;
  KernelBuilder k(grid, plan, b, args, options.narrowMasks, end);
  KernelEmitter(k, teamOf(spec) > 1 ? team : nullptr).grid(walk);
}

llvm::Error checkKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec) {
  if (llvm::Error error = verifyKernel(spec))
    return error;
  if (module.lookupSymbol(name))
    return invalidArgument("codegen: kernels of an image must have distinct names, got " + name + " twice");
  return llvm::Error::success();
}

llvm::Expected<KernelPlan> emitKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec,
                                      const KernelEmitOptions &options) {
  if (llvm::Error error = checkKernel(module, name, spec))
    return std::move(error);
  mlir::OpBuilder ops(module.getBodyRegion());
  ops.setInsertionPointToEnd(module.getBody());
  mlir::Location loc = ops.getUnknownLoc();
  mlir::Type ptr = mlir::LLVM::LLVMPointerType::get(ops.getContext()), i64 = ops.getI64Type();
  auto type = mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(ops.getContext()),
                                                {ptr, ptr, ptr, i64, i64, i64, i64});
  auto function = mlir::LLVM::LLVMFuncOp::create(ops, loc, name, type);
  mlir::Block *entry = function.addEntryBlock(ops);
  ops.setInsertionPointToStart(entry);
  mlir::LLVM::ReturnOp::create(ops, loc, mlir::ValueRange());
  ops.setInsertionPoint(entry->getTerminator());

  LaneBuilder b(ops, loc, entry);
  auto bound = [&](unsigned i) { return b.wrap(entry->getArgument(i), Elem::I64, false); };
  KernelArguments args{
      entry->getArgument(0), entry->getArgument(1), entry->getArgument(2), bound(3), bound(4), bound(5), bound(6)};
  KernelPlan plan = planKernel(spec);
  if (spec.contracts()) {
    emitContraction(spec, b, args.ptrs, args.dims, args.outerLo, options.contraction);
    return plan;
  }
  KernelBuilder k(spec, plan, b, args, options.narrowMasks, entry->getTerminator());
  KernelEmitter(k).rows();
  return plan;
}

} // namespace tess::compiler
