//===- FusionLowering.h - tess.fusion to a kernel ---------------*- C++ -*-===//
//
// The spec of the kernel, the axis groups that its loops run over, and where
// its runtime attributes come from.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "compiler/lowering/Layouts.h"
#include "ir/Dialect.h"
#include "runtime/schema/Executable.h"

namespace tess::compiler {

struct LoweredFusion {
  KernelSpec spec;
  runtime::AxisGroups parallel, reduced;
  std::vector<runtime::ScalarSource> scalars;
  /// A value of the region with the shape of the whole domain.
  mlir::Value domain;
};

/// Whether the kernel of `fusion` reads an operand of `layout` as it is; else it wants a contiguous copy.
bool readsInPlace(ir::FusionOp fusion, ValueLayout layout);
/// The group starts with a call of the library; no kernel is generated for it.
bool startsWithCall(ir::FusionOp fusion);
/// The order of the kernel's operands is inputs, then outputs.
LoweredFusion lowerFusion(ir::FusionOp fusion, const Layouts &layouts);
/// A kernel that copies, one group an axis (at least one).
KernelSpec copySpec(DType dtype, unsigned rank, InnerClass source, InnerClass destination);
/// A kernel that fills with its one runtime attribute, one group an axis.
KernelSpec fillSpec(DType dtype, unsigned rank, InnerClass destination);

} // namespace tess::compiler
