//===- Types.h - metas and MLIR types ---------------------------*- C++ -*-===//
//
// The one conversion between ops' vocabulary and MLIR's types, attributes and
// locations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "ops/vocabulary/AttrValue.h"
#include "ops/vocabulary/TensorMeta.h"

namespace tess::ir {

/// The MLIR type of `dtype`; bool is i1, integers are signless unless they are unsigned.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// Asserts that `type` is an element type of the dialect (the verifier has seen to it).
DType dtypeOf(mlir::Type elementType);
/// The tensor type of `meta`; unknown sizes are dynamic.
mlir::RankedTensorType typeOf(mlir::MLIRContext *context, const TensorMeta &meta);
/// Dtype and shape of a ranked tensor type.
TensorMeta metaOf(mlir::Type type);

/// "train.py:12 (net.conv1)" of a location; empty when unknown.
std::string locationText(mlir::Location location);
/// The NameLoc that locationText() gives `text` for; UnknownLoc for an empty text.
mlir::Location locationOf(mlir::MLIRContext *context, llvm::StringRef text);

/// The attribute that holds `value`; null for AttrKind::None.
mlir::Attribute attributeOf(mlir::MLIRContext *context, const AttrValue &value);
/// The value of `attribute`; `kind` decides how a string is read (Str or DType). A null attribute and one of another
/// kind give None.
AttrValue attrValueOf(mlir::Attribute attribute, AttrKind kind);

} // namespace tess::ir
