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

/// One open block of the kernel: the function's body, or the body of a loop or branch.
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

/// Builds nodes, loads and stores at the place where the code is emitted; one for each kernel function.
class KernelBuilder {
public:
  /// The arguments of the kernel function (KernelFn in runtime/schema/KernelAbi.h).
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
  /// Opens a scope inside the innermost one. `branch`: the operation of the enclosing scope that branches to it; `end`:
  /// the last operation of the new one.
  void open(mlir::Operation *branch, mlir::Operation *end);
  /// Ends the innermost scope: its values are not found any more.
  void close();
  /// The innermost scope; valid until the next open() or close().
  Scope &top() { return scopes.back(); }
  /// Runs `build` with the insertion point in scope `depth`.
  template <typename F> auto at(unsigned depth, F &&build) {
    mlir::Operation *before = &*b.ops.getInsertionPoint(); // an operation, not a block: control flow moves it
    setInsertionPoint(depth);
    llvm::scope_exit restore([&] { b.ops.setInsertionPoint(before); });
    return build();
  }

  // Sizes, strides and attributes: operands of the kernel, loaded once in the entry block.
  /// The number in a slot of `dims`, an i64 scalar; size() and stride() name its slots.
  V dim(unsigned slot);
  V size(unsigned group) { return dim(spec.dims().size(group)); }
  V stride(unsigned operand, unsigned group) { return dim(spec.dims().stride(operand, group)); }
  unsigned numGroups() const { return spec.numGroups(); }
  /// Product of the sizes of the reduced groups.
  V reducedCount();

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
  void define(int index, V value) { top().values[index] = value; }
  /// Writes a node to an output operand, from the scope that the operand's address needs.
  void store(int index, unsigned operand);
  /// Writes a node to its scratch slot.
  void spill(int index);
  /// The lanes that are left on the vector axis, as a mask made from Scope::remaining; for the tail only.
  V tailMask();
  /// Scope of the vector axis; null when it is not open.
  const Scope *laneScope() const;
  /// The position in a group that is open, an i64 scalar.
  V indexOf(unsigned group) const;
  /// Column kernels work on blocks of columns; `blockStart` is the first column of this one (null: no blocks). Values
  /// of a row that later passes read wait in a buffer with a vector for every 16 columns.
  V blockStart;
  /// The column as a place in such a buffer, in elements.
  V columnInBlock() const { return indexOf(spec.numParallel - 1) - blockStart; }
  /// Writes the node's lanes to `buffer`; after hold(), node() reads them from there.
  void keep(int index, mlir::Value buffer);
  void hold(int index, mlir::Value buffer) { held[index] = buffer; }
  /// The row-major numbers of the current elements in the reduced domain.
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
