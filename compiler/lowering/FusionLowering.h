//===- FusionLowering.h - tess.fusion to a kernel ---------------*- C++ -*-===//
//
// The spec of the kernel, the axis groups that its loops run over, and where
// its runtime attributes come from.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelSpec.h"
#include "compiler/transforms/Layouts.h"
#include "ir/Dialect.h"
#include "runtime/schema/Executable.h"

#include <optional>

namespace tess::compiler {

/// How a step launches a kernel: its domain as groups of axes, and where its runtime attributes come from.
struct KernelLaunch {
  runtime::AxisGroups parallel, reduced = {};
  std::vector<runtime::ScalarSource> scalars = {}; // a Size counts from the first operator of the group
  std::vector<runtime::LookupDecl> lookups = {};   // their nodes count so, too
  /// The operand and the result of what writes at indices, which may share memory.
  std::optional<std::pair<uint16_t, uint16_t>> updated = {};
  /// The indices at which it writes are all inputs.
  bool indicesAreInputs = false;
  /// A value of the region with the shape of the whole domain; null for what is no fused group.
  mlir::Value domain = {};
};

/// A kernel, and how it is launched.
struct LoweredFusion {
  KernelSpec spec;
  KernelLaunch launch;
};

/// The kernel of `fusion`, which can read its operands where they lie. Its operands are the inputs, then the outputs.
LoweredFusion lowerFusion(ir::FusionOp fusion, const Layouts &layouts);
/// How the kernel of a movement walks what it copies: a value that is written into a slice may repeat one element along
/// the last axis.
InnerClass movedClass(mlir::Operation *op, const OpInfo &info);
/// A kernel that copies its operand 0 to its operand 1; one parallel group per axis, one for rank 0.
KernelSpec copySpec(DType dtype, unsigned rank, InnerClass source, InnerClass destination);
/// The groups of such a kernel.
runtime::AxisGroups perAxis(unsigned rank);
/// A kernel that reduces the windows along the last `numWindows` axes of its operand 0 to its operand 1. Groups: all
/// axes before those, each of them, and each window.
KernelSpec windowSpec(DType dtype, ReduceKind kind, unsigned numWindows);
/// Where a step gets the runtime attribute number `attr` of `op` from; `def` is its OpDef. Nodes count from the first
/// operator of the block of `op`.
runtime::ScalarSource scalarOf(mlir::Operation *op, const OpDef &def, unsigned attr);
/// A kernel that stores its one runtime attribute, a float, everywhere in its operand; groups as in copySpec().
KernelSpec fillSpec(DType dtype, unsigned rank, InnerClass destination);

} // namespace tess::compiler
