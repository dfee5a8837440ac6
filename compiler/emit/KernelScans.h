//===- KernelScans.h - the loops of a kernel with scans ---------*- C++ -*-===//
//
// Elements are taken one by one, in the order of the kernel. Lanes along the row
// load, store and compute what is beside the scans; of a vector of elements the
// scan takes one lane after the other. Lanes along columns each go their own way.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelBuilder.h"
#include "compiler/emit/KernelLoops.h"

namespace tess::compiler {

/// Emits a kernel with Scan nodes, a row or a block of columns at a time.
class KernelScans : KernelLoops {
public:
  explicit KernelScans(KernelBuilder &k);

  /// A row whose lanes are its elements.
  void row();
  /// The columns [lo, hi) of the last parallel group, one in each lane.
  void columns(V lo, V hi);
  /// A row of a thread that computes one element at a time.
  void alone();

private:
  bool isBackward() const { return spec.order == ReductionOrder::Backward; }
  Values starts(bool vector);
  V isFirst();
  V weight(const KernelNode &node);
  V combine(const KernelNode &node, V carry, V x, V weight);
  void define(int index, V value);
  V step(int index, V carry);
  V stepAlongRow(int index, V carry);
  Values advance(llvm::ArrayRef<V> carried);
  Values takeLanes(const KernelNode &node, V carry, V x, V weight);
  Values takeLanesInLoop(const KernelNode &node, V carry, V x, V weight);
  void block(V start, V end, llvm::ArrayRef<mlir::Value> carries);

  KernelBuilder &k;
  const KernelSpec &spec;
  const unsigned walked; // the group
  llvm::SmallVector<int> scans;
};

} // namespace tess::compiler
