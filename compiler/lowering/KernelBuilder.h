//===- KernelBuilder.h - scopes, operands and nodes of a kernel -*- C++ -*-===//
//
// The state behind KernelEmitter: a stack of scopes (entry, row, column, reduced
// loops). Every value is built in the outermost scope that its inputs allow, so
// nothing is computed again in an inner loop, and is found there until the scope
// ends.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelAnalysis.h"
#include "compiler/lowering/LaneBuilder.h"
#include "llvm/ADT/ScopeExit.h"

namespace tess::compiler {

/// Where a scope stands in one group of the domain.
struct GroupIndex {
  unsigned group; // parallel groups first
  V index;        // i64 scalar; of lane 0 on the vector axis
  bool lanes = false;
};

struct Scope {
  mlir::Operation *end;              // of its last block
  mlir::Operation *nested = nullptr; // what branches to the inner scope, while that is open
  llvm::SmallVector<GroupIndex, 4> groups;
  V mask, remaining; // of the tail: which lanes, how many (i64)
  V whole;           // i1 scalar, of a loop that has the tail in it: every lane, or `remaining`
  llvm::DenseMap<int, V> values, splats;
  llvm::DenseMap<unsigned, mlir::Value> pointers;
  V linear; // row-major index over the reduced groups entered so far
};

class KernelBuilder {
public:
  struct Arguments {
    mlir::Value ptrs, dims, scratch;
    V outerLo, outerHi, innerLo, innerHi;
  };

  KernelBuilder(const KernelSpec &spec, const KernelPlan &plan, LaneBuilder &b, Arguments args, bool narrowMasks)
      : spec(spec), plan(plan), b(b), args(args), narrowMasks(narrowMasks) {}

  const KernelSpec &spec;
  const KernelPlan &plan;
  LaneBuilder &b;
  Arguments args;
  bool narrowMasks;
  unsigned phase = 0;
  V row; // row-major index over the outer groups; null: 0
  llvm::SmallVector<Scope, 6> scopes;

  // Scopes.
  void open(mlir::Operation *branch, mlir::Operation *end);
  void close();
  Scope &top() { return scopes.back(); }
  /// Runs `build` with the insertion point in scope `depth`.
  template <typename F> auto at(unsigned depth, F &&build) {
    mlir::Operation *before = &*b.ops.getInsertionPoint(); // an operation, not a block: control flow moves it
    setInsertionPoint(depth);
    llvm::scope_exit restore([&] { b.ops.setInsertionPoint(before); });
    return build();
  }

  // Sizes, strides and attributes: operands of the kernel, loaded once in the entry block.
  V dim(unsigned slot);
  V size(unsigned group) { return dim(spec.dims().size(group)); }
  V stride(unsigned operand, unsigned group) { return dim(spec.dims().stride(operand, group)); }
  unsigned numGroups() const { return spec.numGroups(); }
  /// Product of the sizes of the reduced groups.
  V reducedCount();

  // Values.
  struct Found {
    V value;
    unsigned depth;
  };
  /// The value of a node here, from the scope that has it or built in the outermost one that can.
  Found node(int index);
  /// The same as 16 lanes.
  V lanesOf(int index);
  /// Makes a value known in the current scope.
  void define(int index, V value) { top().values[index] = value; }
  /// Writes a node to an output operand, from the scope that the operand's address needs.
  void store(int index, unsigned operand);
  /// Writes a node to its scratch slot.
  void spill(int index);
  /// Which lanes are left on the vector axis.
  V tailMask();
  /// Scope of the vector axis; null when it is not open.
  const Scope *laneScope() const;
  /// Position in a group that is open.
  V indexOf(unsigned group) const;
  /// Column kernels work on blocks of columns; `blockStart` is the first column of this one (null: no blocks). Values
  /// of a row that later passes read wait in a buffer with a vector for every 16 columns.
  V blockStart;
  V columnInBlock() const { return indexOf(spec.numParallel - 1) - blockStart; }
  /// Writes the node's lanes to `buffer`; hold() makes node() read it from there.
  void keep(int index, mlir::Value buffer);
  void hold(int index, mlir::Value buffer) { held[index] = buffer; }
  /// Row-major numbers, in the reduced domain, of the elements here.
  V reducedElementNumber(Elem elem);

private:
  void setInsertionPoint(unsigned depth);
  mlir::Value pointer(unsigned operand, unsigned depth);
  bool moves(unsigned operand, const GroupIndex &group) const;
  /// The innermost open scope that the operand's address depends on.
  unsigned accessDepth(unsigned operand) const;
  V load(unsigned operand, unsigned depth);
  V loadLanes(mlir::Value base, Elem elem, InnerClass inner, V stride);
  V loadLanes(mlir::Value base, Elem elem, InnerClass inner, V stride, V mask);
  void storeLanes(V value, mlir::Value base, InnerClass inner, V stride);
  void storeLanes(V value, mlir::Value base, InnerClass inner, V stride, V mask);
  V loadByElement(mlir::Value base, Elem elem, V stride);
  void storeByElement(V value, mlir::Value base, V stride);
  V build(int index, unsigned &depth);
  V buildLeaf(const KernelNode &node, unsigned &depth);
  V buildApply(int index, unsigned &depth);
  V buildIndex(unsigned &depth);
  V buildDimIndex(unsigned group, unsigned &depth);
  V attribute(const KernelNode &node);
  V reload(int index);
  mlir::Value scratchAddress(int index, Elem elem);
  mlir::Value safePointer(unsigned operand, mlir::Value pointer);
  V linearReduced(unsigned depth);

  llvm::DenseMap<int, mlir::Value> held;
  llvm::DenseMap<unsigned, V> dimMemo;
  V reducedCountMemo;
};

} // namespace tess::compiler
