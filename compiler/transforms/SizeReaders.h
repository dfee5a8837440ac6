//===- SizeReaders.h - operators that read sizes of data --------*- C++ -*-===//
//
// A size that data decides stands in attributes of later operators, where the
// uses of values do not show that they read it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::compiler {

/// By `tess.named_size`: the operators of its block whose sizes use the name, or whose regions have such.
using SizeReaders = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>>;
/// Those of `block`.
SizeReaders sizeReadersOf(mlir::Block &block);
/// Puts each operator of `block` behind what it reads, sizes too; what may stay where it is does.
void sortByReads(mlir::Block &block);

} // namespace tess::compiler
