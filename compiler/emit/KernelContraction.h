//===- KernelContraction.h - a tile of a product, in registers --*- C++ -*-===//
//
// The inner loop takes a line of every panel and an element of every row, which
// it repeats in all lanes: each result is one chain of multiply-adds. Neither
// the loop nor what surrounds it is unrolled, and sizes and strides are operands:
// both were measured to bring nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/LineProducts.h"

namespace tess::compiler {

/// Writes the body of a kernel that contracts (KernelFn in runtime/schema/KernelAbi.h). `chunk`: its first range. There
/// is a line at least, in every group.
void emitContraction(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, V chunk,
                     const ContractInstructions &instructions);

} // namespace tess::compiler
