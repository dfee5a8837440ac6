//===- Types.h - metas and MLIR types ---------------------------*- C++ -*-===//
//
// The one conversion between ops' vocabulary and MLIR's types and attributes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "ops/AttrValue.h"
#include "ops/TensorMeta.h"

namespace tess::ir {

mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// Asserts that `type` is an element type of the dialect (the verifier has seen to it).
DType dtypeOf(mlir::Type elementType);
mlir::RankedTensorType typeOf(mlir::MLIRContext *context, const TensorMeta &meta);
/// Dtype and shape of a ranked tensor type.
TensorMeta metaOf(mlir::Type type);

/// Null for AttrKind::None.
mlir::Attribute attributeOf(mlir::MLIRContext *context, const AttrValue &value);
/// `kind` decides how a string is read (Str or DType). Null attributes and foreign kinds give None.
AttrValue attrValueOf(mlir::Attribute attribute, AttrKind kind);

} // namespace tess::ir
