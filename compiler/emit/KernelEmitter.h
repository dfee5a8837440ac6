//===- KernelEmitter.h - a KernelSpec as one function -----------*- C++ -*-===//
//
// Writes the kernel in the LLVM dialect: an
// unmasked main loop and one masked tail along the vector axis, or one loop for
// a long body, phases over the reduced domain. Private to the compiler: names
// MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/LineProducts.h"
#include "compiler/emit/Reduction.h"
#include "compiler/kernel/KernelAnalysis.h"

#include "runtime/schema/Image.h"

#include "mlir/IR/BuiltinOps.h"

namespace tess::compiler {

/// What the emitted code may use of the machine.
struct KernelEmitOptions {
  /// The machine has masked loads and stores of 8- and 16-bit elements (AVX512BW); otherwise tails of them go by
  /// element.
  bool narrowMasks = false;
  ContractInstructions contraction = {};
};

/// Appends a function `name` that computes `spec` to `module`; returns the plan that it follows. Fails for a spec that
/// verifyKernel() refuses, and for a name that the module has.
llvm::Expected<KernelPlan> emitKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec,
                                      const KernelEmitOptions &options);
/// Checks what emitKernel() fails for.
llvm::Error checkKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec);

/// Threads that reduce a row of the kernel together: kLanes, or 1 where each computes elements alone.
unsigned teamOf(const KernelSpec &spec);

/// What a launch must know of the kernel.
runtime::GridEntry gridEntryOf(const KernelSpec &spec);

/// What a thread, or a team, of a grid computes: elements `first`, `first + step`, ... below `count` of the parallel
/// domain, in row-major order.
struct GridWalk {
  V first, count, step;
};

/// Writes the body of a kernel in the form of a grid before `end`. `team`: of a kernel whose threads work together, how
/// they exchange values; null: the team is one vector.
void emitGridBody(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, const GridWalk &walk,
                  mlir::Operation *end, const KernelEmitOptions &options, ThreadTeam *team);

} // namespace tess::compiler
