//===- OutputEntry.h - entries of a graph's list of outputs -----*- C++ -*-===//
#pragma once

#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"

namespace tess::ir {

/// Whether an entry of kOutputsAttr is the next value of a state rather than a result of a call.
inline bool updatesState(mlir::func::FuncOp func, mlir::DictionaryAttr entry) {
  int64_t donates = entry.getAs<mlir::IntegerAttr>("donates").getInt();
  return donates >= 0 && func.getArgAttr(unsigned(donates), kInitialAttr);
}

} // namespace tess::ir
