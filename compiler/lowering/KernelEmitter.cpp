//===- KernelEmitter.cpp - the loops of a kernel -------------------------===//
#include "compiler/lowering/KernelEmitter.h"

#include "compiler/lowering/Convert.h"
#include "compiler/lowering/KernelBuilder.h"
#include "compiler/lowering/Reduction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tess::compiler {

namespace {

using Values = LaneBuilder::Values;
using Body = llvm::function_ref<Values(llvm::ArrayRef<V>)>;

class KernelEmitter {
public:
  explicit KernelEmitter(KernelBuilder &k) : k(k), b(k.b), spec(k.spec), plan(k.plan) {}

  void rows();

private:
  bool lanesAreParallel() const { return spec.vectorAxis == VectorAxis::Parallel; }
  void row();
  Values vectorLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body);
  Values indexLoop(unsigned group, llvm::ArrayRef<V> init, Body body);
  Values reducedLoops(unsigned first, llvm::ArrayRef<V> init, Body body);
  void reduceAcrossLanes();
  void reduceInColumns();
  llvm::SmallVector<int> reducesOf(unsigned phase) const;
  void fullStores();
  void rowStores();

  KernelBuilder &k;
  LaneBuilder &b;
  const KernelSpec &spec;
  const KernelPlan &plan;
};

llvm::SmallVector<int> KernelEmitter::reducesOf(unsigned phase) const {
  llvm::SmallVector<int> found;
  for (unsigned i = 0; i < spec.nodes.size(); ++i)
    if (spec.nodes[i].kind == NodeKind::Reduce && plan.phase[spec.nodes[i].args[0]] == phase)
      found.push_back(i);
  return found;
}

// An unmasked main loop and one masked tail.
Values KernelEmitter::vectorLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body) {
  V rest = (hi - lo) & b.index(kLanes - 1), middle = hi - rest;
  auto enter = [&](mlir::Operation *op, mlir::Block *block) { k.open(op, block); };
  Values carried = b.forLoop(
      lo, middle, b.index(kLanes), init,
      [&](V index, llvm::ArrayRef<V> values) {
        k.top().groups.push_back({group, index, true});
        return body(values);
      },
      enter);
  k.close();
  carried = b.ifThen(
      lt(middle, hi), carried,
      [&] {
        k.top().groups.push_back({group, middle, true});
        k.top().remaining = rest;
        k.top().mask = lt(b.iota(Elem::I32), b.splat(b.convert(rest, Elem::I32)));
        return body(carried);
      },
      enter);
  k.close();
  return carried;
}

Values KernelEmitter::indexLoop(unsigned group, llvm::ArrayRef<V> init, Body body) {
  V size = k.size(group);
  Values carried = b.forLoop(
      b.index(0), size, b.index(1), init,
      [&](V index, llvm::ArrayRef<V> values) {
        k.top().groups.push_back({group, index});
        return body(values);
      },
      [&](mlir::Operation *op, mlir::Block *block) { k.open(op, block); });
  k.close();
  return carried;
}

// The reduced groups in row-major order; the last one by vectors when the lanes run along it.
Values KernelEmitter::reducedLoops(unsigned first, llvm::ArrayRef<V> init, Body body) {
  unsigned group = spec.numParallel + first;
  bool last = first + 1 == spec.numReduced;
  if (last && !lanesAreParallel()) {
    V size = k.size(group);
    return vectorLoop(b.index(0), size, group, init, body);
  }
  return indexLoop(group, init, [&](llvm::ArrayRef<V> values) {
    return last ? body(values) : reducedLoops(first + 1, values, body);
  });
}

void KernelEmitter::fullStores() {
  for (const KernelStore &store : spec.stores)
    if (plan.full[store.node] && plan.phase[store.node] == k.phase)
      k.store(store.node, store.operand);
}

void KernelEmitter::rowStores() {
  for (const KernelStore &store : spec.stores)
    if (!plan.full[store.node])
      k.store(store.node, store.operand);
}

// Lanes along the last reduced group: partial results in registers, a halving tree at the end of a row.
void KernelEmitter::reduceAcrossLanes() {
  for (k.phase = 0; k.phase < plan.numPhases; ++k.phase) {
    llvm::SmallVector<int> reduces = reducesOf(k.phase);
    llvm::SmallVector<Reduction> states;
    Values init;
    for (int index : reduces) {
      states.emplace_back(k, index);
      llvm::append_range(init, states.back().start());
    }
    Values last = reducedLoops(0, init, [&](llvm::ArrayRef<V> carried) {
      Values next;
      for (Reduction &state : states) {
        llvm::append_range(next, state.step(carried.take_front(state.numParts()), k.laneScope()->mask));
        carried = carried.drop_front(state.numParts());
      }
      fullStores();
      for (unsigned i = 0; i < spec.nodes.size(); ++i)
        if (plan.scratchOffset[i] >= 0 && plan.phase[i] == k.phase)
          k.spill(i);
      return next;
    });
    llvm::ArrayRef<V> rest = last;
    for (auto [state, index] : llvm::zip_equal(states, reduces)) {
      k.define(index, state.finish(state.fold(rest.take_front(state.numParts()))));
      rest = rest.drop_front(state.numParts());
    }
  }
}

// Lanes along the last parallel group: 16 partial results of every column in memory, the same tree over them.
void KernelEmitter::reduceInColumns() {
  for (k.phase = 0; k.phase < plan.numPhases; ++k.phase) {
    llvm::SmallVector<int> reduces = reducesOf(k.phase);
    llvm::SmallVector<Reduction> states;
    for (int index : reduces) {
      states.emplace_back(k, index);
      states.back().startColumns();
    }
    reducedLoops(0, {}, [&](llvm::ArrayRef<V>) {
      for (Reduction &state : states)
        state.stepColumns();
      fullStores();
      return Values();
    });
    for (auto [state, index] : llvm::zip_equal(states, reduces))
      k.define(index, state.finish(state.foldColumns()));
  }
}

void KernelEmitter::row() {
  if (!lanesAreParallel()) {
    reduceAcrossLanes();
    return rowStores();
  }
  vectorLoop(k.args.innerLo, k.args.innerHi, spec.numParallel - 1, {}, [&](llvm::ArrayRef<V>) {
    if (spec.numReduced) {
      reduceInColumns();
      rowStores();
    } else {
      fullStores();
    }
    return Values();
  });
}

// Rows with their indices per outer group, counted up rather than divided out.
void KernelEmitter::rows() {
  unsigned outer = spec.numParallel - lanesAreParallel();
  V lo = k.args.outerLo, hi = k.args.outerHi;
  if (lanesAreParallel())
    hi = select(lt(k.args.innerLo, k.args.innerHi), hi, lo);
  auto enter = [&](mlir::Operation *op, mlir::Block *block) { k.open(op, block); };
  if (!outer) {
    b.ifThen(lt(lo, hi), {}, [&] { return row(), Values(); }, enter);
    return k.close();
  }
  Values start(outer - 1, V());
  V rest = lo;
  for (unsigned g = outer - 1; g > 0; --g) {
    V size = k.size(g), divisor = select(gt(size, b.index(0)), size, b.index(1));
    V quotient = b.binary(LaneBuilder::Bin::UDiv, rest, divisor);
    start[g - 1] = rest - quotient * divisor;
    rest = quotient;
  }
  start.insert(start.begin(), rest);
  if (outer == 1)
    start.clear();
  b.forLoop(
      lo, hi, b.index(1), start,
      [&](V index, llvm::ArrayRef<V> carried) {
        k.row = index;
        llvm::ArrayRef<V> indices = outer == 1 ? llvm::ArrayRef<V>(index) : carried;
        for (unsigned g = 0; g < outer; ++g)
          k.top().groups.push_back({g, indices[g]});
        row();
        Values next(carried);
        for (unsigned g = next.size(); g-- > 0;) {
          next[g] = next[g] + b.index(1);
          if (!g)
            break;
          V wraps = eq(next[g], k.size(g));
          next[g] = select(wraps, b.index(0), next[g]);
          // The next outer index steps only when this one wraps: undo its step otherwise.
          next[g - 1] = next[g - 1] - select(wraps, b.index(0), b.index(1));
        }
        return next;
      },
      enter);
  k.close();
}

} // namespace

unsigned emitKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec,
                    const KernelEmitOptions &options) {
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
  KernelBuilder::Arguments args{
      entry->getArgument(0), entry->getArgument(1), entry->getArgument(2), bound(3), bound(4), bound(5), bound(6)};
  KernelPlan plan = planKernel(spec);
  KernelBuilder builder(spec, plan, b, args, options.narrowMasks);
  builder.open(nullptr, entry);
  KernelEmitter(builder).rows();
  return plan.scratchBytesPerElement;
}

} // namespace tess::compiler
