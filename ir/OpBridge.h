//===- OpBridge.h - OpDefs and operations -----------------------*- C++ -*-===//
//
// make_from_op_node and apply_on_var_node: the way between an OpDef and an
// operation of the dialect, and the verifier's way to the generated inference.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "ops/operator/OpDef.h"

namespace tess::ir {

/// The record behind `op`, or null (constants, fusions, other dialects).
const OpInfo *infoOf(mlir::Operation *op);
/// On an operation with parameters: for each attribute of its record the index of the parameter that it is, or -1.
inline constexpr llvm::StringLiteral kScalarsAttr = "tess.scalars";

/// On an operation with a size that is an expression: its text, for readers and keys of caches. The number in the
/// attribute itself stands for the expression in this process only.
inline constexpr llvm::StringLiteral kSizesAttr = "tess.sizes";

/// On an operation or an argument: the name that its user gave.
inline constexpr llvm::StringLiteral kNameAttr = "tess.name";

/// On a primitive, while passes rewrite what numerics allow: the name of the composite that it is a part of.
inline constexpr llvm::StringLiteral kPartOfAttr = "tess.part_of";

/// On an operation until kernels are made: how many boundaries there are before it, where values are not to be kept;
/// and that it computes from what is kept something which is not.
inline constexpr llvm::StringLiteral kPhaseAttr = "tess.phase", kAgainAttr = "tess.again";

/// On an operation that a kernel computes, for readers: the symbol of its `tess.kernel`.
inline constexpr llvm::StringLiteral kKernelAttr = "kernel";

/// The OpDef that `op` was built from, with numbers that mean nothing for parameters; `infoOf(op)` must not be null.
OpDef opDefOf(mlir::Operation *op);
/// The same with the parameters.
OpDef opDefWithParameters(mlir::Operation *op);
/// The parameter that the attribute number `attr` of its record is; none: a number.
std::optional<uint32_t> parameterOf(mlir::Operation *op, unsigned attr);
/// The number of operands of each ODS group; `infoOf(op)` must not be null.
llvm::SmallVector<unsigned, 4> segmentsOf(mlir::Operation *op);
/// The metas of values whose types are ranked tensors.
llvm::SmallVector<TensorMeta, 4> metasOf(mlir::ValueRange values);

/// Builds the operation with result types `results`, which OpDef::infer gave. Attributes may be parameters.
mlir::Operation *createOp(mlir::OpBuilder &builder, mlir::Location location, const OpDef &op, mlir::ValueRange operands,
                          llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<TensorMeta> results);
/// As above; infers the results. Failure: the inference error, as a diagnostic at `location`.
mlir::FailureOr<mlir::Operation *> createInferred(mlir::OpBuilder &builder, mlir::Location location, const OpDef &op,
                                                  mlir::ValueRange operands, llvm::ArrayRef<unsigned> segments = {});

/// Called by the generated InferTypeOpAdaptor hooks. `attrs` in the record's order; a null one means its default.
llvm::LogicalResult inferVia(mlir::MLIRContext *context, std::optional<mlir::Location> location, const OpInfo &info,
                             llvm::ArrayRef<mlir::ValueRange> groups, llvm::ArrayRef<mlir::Attribute> attrs,
                             llvm::SmallVectorImpl<mlir::Type> &types);
/// Whether inferred and declared types agree; an unknown dimension fits any size.
bool compatible(mlir::TypeRange lhs, mlir::TypeRange rhs);

} // namespace tess::ir
