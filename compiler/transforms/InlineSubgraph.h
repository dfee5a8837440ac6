//===- InlineSubgraph.h - operators of a Subgraph as IR ---------*- C++ -*-===//
#pragma once

#include "ops/graphs/Subgraph.h"

#include "mlir/IR/Builders.h"

namespace tess::compiler {

/// Builds the nodes of `graph` at the builder's place; `inputs` stand for graph.inputs (null ones must not be used). A
/// result is null where graph.outputs has -1. Failure: an inference error, as a diagnostic at `location`.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> inlineSubgraph(mlir::OpBuilder &builder, mlir::Location location,
                                                               const Subgraph &graph,
                                                               llvm::ArrayRef<mlir::Value> inputs);

} // namespace tess::compiler
