//===- FusionLowering.h - tess.fusion to a kernel ---------------*- C++ -*-===//
//
// The spec of the kernel, the axis groups that its loops run over, and where
// its runtime attributes come from.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "ir/Dialect.h"
#include "runtime/schema/Executable.h"

namespace tess::compiler {

/// What is known of how a value lies in memory.
struct ValueLayout {
  bool contiguous = true;
  /// The last axis longer than 1 has stride 1.
  bool innerUnit = true;
};

struct LoweredFusion {
  KernelSpec spec;
  runtime::AxisGroups parallel, reduced;
  std::vector<runtime::ScalarSource> scalars;
  /// A value of the region with the shape of the whole domain.
  mlir::Value domain;
};

/// True when the kernel of `fusion` takes operands of any layout; else they must be contiguous.
bool acceptsStrides(ir::FusionOp fusion);
/// `inputs`: the layout of each input. The order of the kernel's operands is inputs, then outputs.
LoweredFusion lowerFusion(ir::FusionOp fusion, llvm::ArrayRef<ValueLayout> inputs);
/// A kernel that copies, one group an axis (at least one).
KernelSpec copySpec(DType dtype, unsigned rank, InnerClass source, InnerClass destination);
/// A kernel that fills with its one runtime attribute, one group an axis.
KernelSpec fillSpec(DType dtype, unsigned rank, InnerClass destination);

} // namespace tess::compiler
