//===- KernelBuilder.h - scopes, operands and nodes of a kernel -*- C++ -*-===//
//
// The state behind KernelEmitter: a stack of scopes (entry, row, column, reduced
// loops). Every value is built in the outermost scope that its inputs allow, so
// nothing is computed again in an inner loop, and is found there until the scope
// ends.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/lanes/LaneBuilder.h"

namespace tess::compiler {

/// Builds nodes, loads and stores at the place where the code is emitted; one for each kernel function.
class KernelBuilder {
public:
  using Values = LaneBuilder::Values;
  /// The arguments of the kernel function (KernelFn in runtime/schema/KernelAbi.h).
  struct Arguments {
    mlir::Value ptrs, dims, scratch;
    V outerLo, outerHi, innerLo, innerHi;
  };

  /// Builds before `end`, the end of the entry block, and in what loop() and when() open there.
  KernelBuilder(const KernelSpec &spec, const KernelPlan &plan, LaneBuilder &b, const Arguments &args, bool narrowMasks,
                mlir::Operation *end);

  // Scopes: each lives as long as the body that it is of.
  /// LaneBuilder::forLoop, whose body is a scope.
  Values loop(V lo, V hi, V step, llvm::ArrayRef<V> init, LaneBuilder::LoopBody body);
  /// LaneBuilder::loopWhile, whose body is a scope.
  Values loopWhile(llvm::ArrayRef<V> init, llvm::function_ref<Values(llvm::ArrayRef<V>)> body,
                   llvm::function_ref<V(llvm::ArrayRef<V>)> isMore, llvm::function_ref<Values(llvm::ArrayRef<V>)> next);
  /// LaneBuilder::ifThen, whose body is a scope.
  Values when(V condition, llvm::ArrayRef<V> otherwise, llvm::function_ref<Values()> body);

  // Where the innermost scope stands.
  /// One index of a group of the domain; parallel groups come first.
  void enterGroup(unsigned group, V index) { scopes.back().groups.push_back({group, index, false}); }
  /// 16 of them, the first of which is `index`: the vector axis.
  void enterLanes(unsigned group, V index) { scopes.back().groups.push_back({group, index, true}); }
  /// The scope is a tail: `remaining` lanes count.
  void limitLanes(V remaining);
  /// The scope is a loop that has the tail in it: as many lanes count as there are, but at most `remaining`.
  void limitLanesAtEnd(V remaining);
  /// A tile has 16 rows of runtime::kTileLanes. 16 x 16 elements of `operand` wait in the tile, from the open lanes of
  /// a block on; along its rows they lie side by side in memory.
  void readTile(unsigned operand);
  /// Enters a row of the tile, counted from where an outer scope stands in its group; operands that have one are read
  /// there.
  void enterTileRow(unsigned group, V index);
  void leaveTiles() { tiles.clear(); }
  /// Row-major index over the outer groups; before the first call: 0.
  void enterRow(V index) { row = index; }
  void enterPhase(unsigned number) { phase = number; }
  /// The phase that was entered last.
  unsigned phaseNow() const { return phase; }
  /// Column kernels, and tiles, work on blocks of columns, from `firstColumn` on. Values of a row that later passes
  /// read wait in a buffer with a vector for every 16 columns.
  void enterBlock(V firstColumn) { blockStart = firstColumn; }

  // Sizes, strides and attributes: operands of the kernel, loaded once in the entry block.
  V size(unsigned group) { return dim(spec.dims().size(group)); }
  V stride(unsigned operand, unsigned group) { return dim(spec.dims().stride(operand, group)); }
  unsigned numGroups() const { return spec.numGroups(); }
  /// Product of the sizes of the reduced groups.
  V reducedCount();

  // Positions that have an element, by the bounds.
  struct Range {
    V lo, hi;
  };
  /// Those in a reduced group where its parallel group stands now, if that is at one index; else all.
  Range withinReduced(unsigned reduced);
  /// Those in the last parallel group that have one at every position of their reduced group.
  Range wholeColumns();

  // Values.
  /// A value, and the scope that holds it by its place in `scopes`.
  struct Found {
    V value;
    unsigned depth;
  };
  /// The value of a node: from the scope that has it, else built in the outermost scope that has its inputs.
  Found node(int index);
  /// The value of a node as 16 lanes; a scalar is repeated.
  V lanesOf(int index);
  /// Makes `value` the value of a node until the innermost scope ends.
  void define(int index, V value) { scopes.back().values[index] = value; }
  /// Writes a node to an output operand, from the scope that the operand's address needs.
  void store(const KernelStore &store);
  /// Writes a node to its scratch slot.
  void spill(int index);
  /// Writes what the current phase has for each element of the domain, to operands and to scratch.
  void storeElements();
  /// Writes what the row has one of.
  void storeRows();
  /// Whether the vector axis is open, rather than one index along it.
  bool hasLanes() const { return laneScope() != nullptr; }
  /// Which lanes count, where the vector axis is open: null for all.
  V mask() const { return hasLanes() ? laneScope()->mask : V(); }
  /// The position in a group that is open, an i64 scalar.
  V indexOf(unsigned group) const;
  /// The scope in which it is open, by its place in `scopes`.
  unsigned depthOf(unsigned group) const;
  /// The column as a place in a buffer of the block, in elements.
  V columnInBlock() const { return indexOf(spec.numParallel - 1) - blockStart; }
  /// Writes the node's lanes to `buffer`; after hold(), node() reads them from there.
  void keep(int index, mlir::Value buffer);
  void hold(int index, mlir::Value buffer) { held[index] = buffer; }
  /// The row-major numbers of the current elements in the reduced domain.
  V reducedElementNumber(Elem elem);

private:
  /// Where a scope stands in one group of the domain.
  struct GroupIndex {
    unsigned group; // parallel groups first
    V index;        // i64 scalar; of lane 0 on the vector axis
    bool lanes;
  };
  struct Scope {
    explicit Scope(mlir::Operation *end) : end(end) {}
    mlir::Operation *end;              // of its last block
    mlir::Operation *nested = nullptr; // what branches to the inner scope, while that is open
    llvm::SmallVector<GroupIndex, 4> groups;
    V mask, remaining; // of the tail: which lanes, how many (i64)
    V whole;           // i1 scalar, of a loop that has the tail in it: every lane, or `remaining`
    llvm::DenseMap<int, V> values;
    llvm::DenseMap<std::pair<int, unsigned>, V> splats; // by node, lanes
    llvm::DenseMap<unsigned, mlir::Value> pointers;
    V linear; // row-major index over the reduced groups entered so far
  };
  class OpenScope;

  /// Runs `build` with the insertion point in scope `depth`.
  template <typename F> auto at(unsigned depth, F &&build) {
    const Scope &scope = scopes[depth];
    LaneBuilder::InsertBefore here(b, scope.nested ? scope.nested : scope.end);
    return build();
  }
  const GroupIndex &openIndex(unsigned group) const;
  V dim(unsigned slot);
  /// Scope of the vector axis; null when it is not open.
  const Scope *laneScope() const;
  V tailMask();
  mlir::Value pointer(unsigned operand, unsigned depth);
  bool moves(unsigned operand, const GroupIndex &group) const;
  /// The innermost open scope that the operand's address depends on.
  unsigned accessDepth(unsigned operand) const;
  V load(unsigned operand, unsigned depth);
  V loadAt(unsigned operand, mlir::Value address);
  /// Those of runtime::BoundNumber.
  struct BoundNumbers {
    V stride, dilation, padding, extent;
  };
  BoundNumbers numbersOf(const AxisBound &bound);
  V loadApart(mlir::Value base, Elem elem, V stride);
  V loadBackward(mlir::Value base, Elem elem);
  V loadPairs(mlir::Value base, Elem elem);
  V loadLanes(mlir::Value base, Elem elem, InnerClass inner, V stride);
  V loadLanes(mlir::Value base, Elem elem, InnerClass inner, V stride, V mask);
  void storeLanes(V value, mlir::Value base, InnerClass inner, V stride);
  void storeLanes(V value, mlir::Value base, InnerClass inner, V stride, V mask);
  V loadRepeated(mlir::Value base, Elem elem, V mask);
  V loadByElement(mlir::Value base, Elem elem, V stride);
  void storeByElement(V value, mlir::Value base, V stride);
  V build(int index, unsigned &depth);
  V buildLeaf(const KernelNode &node, unsigned &depth);
  V buildApply(int index, unsigned &depth);
  V buildLookup(const KernelNode &node, unsigned &depth);
  V lookupNumber(unsigned lookup, runtime::BoundNumber which);
  /// How far elements lie behind those that the position in the domain stands for, and the scope that knows it.
  Found placeOf(llvm::ArrayRef<int16_t> indices, int slot);
  void writeAt(const KernelStore &store);
  void writeLanes(const KernelStore &store, mlir::Value base, V places, V value);
  V checkedPlace(V index, V size, unsigned lookup);
  void report(V isWrong, V index, unsigned lookup);
  V loadEach(mlir::Value base, unsigned operand, V places, V step);
  V buildIndex(unsigned &depth);
  V buildIndexAlone(unsigned depth);
  V buildDimIndex(unsigned group, unsigned &depth);
  V attribute(const KernelNode &node);
  V reload(int index);
  mlir::Value scratchAddress(int index, Elem elem);
  mlir::Value safePointer(unsigned operand, mlir::Value pointer);
  V linearReduced(unsigned depth);

  const KernelSpec &spec;
  const KernelPlan &plan;
  LaneBuilder &b;
  const Arguments args;
  const bool narrowMasks;
  llvm::SmallVector<Scope, 6> scopes;
  unsigned phase = 0;
  V row, blockStart, tileRow;
  llvm::DenseMap<int, mlir::Value> held;
  llvm::DenseMap<unsigned, mlir::Value> tiles; // by operand
  llvm::DenseMap<unsigned, V> dimMemo;
  V reducedCountMemo;
};

} // namespace tess::compiler
