//===- GraphFeatures.h - what a reader of a graph must know -----*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schema/Features.h"

namespace tess::ir {

/// What the graph section of `func` needs its reader to know.
runtime::Features featuresOf(mlir::func::FuncOp func);

} // namespace tess::ir
