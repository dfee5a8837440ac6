//===- Bodies.h - the blocks of a function's loops --------------*- C++ -*-===//
#pragma once

#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tess::compiler {

/// The block of the function, then those of its loops. Kernels are no loops: their blocks are not among them.
inline llvm::SmallVector<mlir::Block *> bodiesOf(mlir::func::FuncOp func) {
  llvm::SmallVector<mlir::Block *> blocks = {&func.getBody().front()};
  func.walk<mlir::WalkOrder::PreOrder>([&](ir::ScanOp scan) { blocks.push_back(&scan.getBody().front()); });
  return blocks;
}

} // namespace tess::compiler
