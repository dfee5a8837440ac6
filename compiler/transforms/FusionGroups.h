//===- FusionGroups.h - which operators share a kernel ----------*- C++ -*-===//
//
// Greedy grouping in program order: an operator joins the groups of its
// producers when domain, reduced axes and order allow. No IR is changed here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/transforms/SizeClasses.h"
#include "compiler/transforms/SizeReaders.h"
#include "ops/operator/OpInfo.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <memory>
#include <vector>

namespace tess::compiler {

/// What a kernel does along its reduced axes: it combines elements in any order, or takes them one by one.
enum class Walk : uint8_t { Free, Forward, Backward };

/// Operators that become one kernel.
struct FusionGroup {
  llvm::SmallVector<mlir::Operation *, 4> ops; // in program order
  /// Sizes of the whole domain, as SizeClasses gives them, and its reduced axes, sorted, or the one of its scans; no
  /// axes: there are neither.
  llvm::SmallVector<int64_t, 6> domain;
  llvm::SmallVector<int64_t, 4> axes;
  Walk walk = Walk::Free;
  /// The first phase of its operators, and the last of those that compute something again; 0: there are none.
  int64_t firstPhase = 0, againPhase = 0;
  /// Some operator reads its element's index: axes must stay apart, and no reduction may join.
  bool usesIndex = false;
  /// What has the elements at indices: it must be in memory before the kernel begins.
  llvm::SmallVector<mlir::Value, 2> inMemory;
  /// The last operator adds at indices, so that its result has another shape.
  bool scatters = false;
};

/// The partition of a block's fusible operators into kernels.
class FusionGroups {
public:
  /// Called for an operator that reads another's result but does not share its kernel, with the reason.
  using Apart = std::function<void(mlir::Operation *reader, mlir::Operation *producer, llvm::StringRef why)>;

  /// Groups the fusible operators of `block`; with `fuse` off each is alone.
  FusionGroups(mlir::Block &block, bool fuse, Apart apart = nullptr);
  /// All groups. Each fusible operator is in one of them, except, when fusing, a scalar source that only kernels read.
  llvm::ArrayRef<std::unique_ptr<FusionGroup>> groups() const { return all; }

private:
  void place(mlir::Operation *op);
  std::unique_ptr<FusionGroup> alone(mlir::Operation *op) const;
  FusionGroup *groupOf(mlir::Operation *op) const;
  /// Null when they are one group now, else why not.
  const char *merge(FusionGroup &into, FusionGroup &other);
  /// Fills in `group`, of both; null when it can be one kernel, else why not.
  const char *combine(const FusionGroup &a, const FusionGroup &b, FusionGroup &group) const;
  bool fitsDomain(const FusionGroup &group, llvm::ArrayRef<int64_t> row) const;
  bool collapsesRuns(const FusionGroup &group, const llvm::DenseSet<mlir::Operation *> &members) const;
  bool expandsAfterReduction(const FusionGroup &group, llvm::ArrayRef<int64_t> row) const;
  /// Whether something outside would have to run between the two; true where that takes long to tell.
  bool closesLoop(const FusionGroup &a, const FusionGroup &b) const;

  SizeClasses sizes;
  SizeReaders sizeReaders;
  llvm::DenseMap<mlir::Operation *, FusionGroup *> owner;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  std::vector<std::unique_ptr<FusionGroup>> all;
  bool fuse;
  Apart apart;
};

/// Whether a generated kernel can compute `op`: elementwise operators, reductions, scans, and what counts by indices.
bool isFusible(mlir::Operation *op);
/// Whether `op` shows memory of operand 0 and has no kernel.
bool isView(mlir::Operation *op);
/// Whether `op` takes elements of operand 0 at the indices that the others hold; adds to them; one of both.
bool isLookup(mlir::Operation *op);
bool isScatter(mlir::Operation *op);
bool countsByIndices(mlir::Operation *op);
/// The operand or result of a fusible operator that has an element for each step of its loops.
mlir::Value domainOf(mlir::Operation *op);
/// The boundaries before an operator, where memory is short (Rematerialise.cpp).
int64_t phaseOf(mlir::Operation *op);
void setPhase(mlir::Operation *op, int64_t phase);
/// Marks an operator that computes in its phase what is not kept until then: it shares no kernel with those of earlier
/// phases, which would keep its result.
void setComputedAgain(mlir::Operation *op);
/// Called when kernels are made.
void forgetPhase(mlir::Operation *op);
/// Whether `op` gives a number that needs no memory (`full` of rank 0): every kernel that reads it makes it again.
bool isScalarSource(mlir::Operation *op);
/// Reduced axes of a canonical reduction, the axis of a scan; empty for others.
llvm::SmallVector<int64_t, 4> reducedAxesOf(mlir::Operation *op);
/// `axes` as runs of adjacent ones, [first, last).
llvm::SmallVector<std::pair<unsigned, unsigned>, 4> runsOf(llvm::ArrayRef<int64_t> axes);

} // namespace tess::compiler
