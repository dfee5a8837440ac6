//===- StepKernels.h - the kernels of a program's steps ---------*- C++ -*-===//
//
// Fused groups, movements, windows and copies become kernels. Kernels with the
// same text are one, whatever steps launch them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/FusionLowering.h"

#include "llvm/ADT/StringMap.h"

namespace tess::compiler {

/// A kernel that a step launches, and how.
struct StepKernel {
  unsigned unit; // of the program; the step launches its first kernel
  KernelLaunch launch;
};

/// The kernels of a function that has been through the pipeline, in the order of its operators.
class StepKernels {
public:
  explicit StepKernels(mlir::func::FuncOp func);

  /// The kernel of an operator; null for one that has none.
  const StepKernel *find(mlir::Operation *op) const;
  /// A kernel, and behind that of a movement another one that fills.
  llvm::ArrayRef<KernelUnit> units() const { return all; }
  std::vector<KernelUnit> takeUnits() { return std::move(all); }
  /// How the values of the function lie.
  const Layouts &layouts() const { return known; }

private:
  void addBlock(mlir::Block &block);
  void addOp(mlir::Operation *op);
  void addFusion(ir::FusionOp fusion);
  void addCopy(mlir::Operation *copy);
  void addMovement(mlir::Operation *movement);
  void addWindow(mlir::Operation *window);
  void add(mlir::Operation *op, KernelUnit unit, KernelLaunch launch);

  Layouts known;
  std::vector<KernelUnit> all;
  llvm::StringMap<unsigned> numberOf; // by text of all kernels of a unit
  llvm::DenseMap<mlir::Operation *, StepKernel> kernels;
};

/// Whether `op` is a copy that the program makes, outside of kernels.
bool isCopy(mlir::Operation *op);

} // namespace tess::compiler
