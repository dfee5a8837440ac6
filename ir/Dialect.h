//===- Dialect.h - the `tess` dialect ---------------------------*- C++ -*-===//
//
// Dialect class and the operators that only programs have. The operators of the
// records are used by name (OpBridge.h); their classes stay in Ops.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ops/DType.h"

#include "ir/Dialect.h.inc"

namespace tess::ir {

namespace detail {
struct DTypeStorage;
}

/// A quantized dtype as the type of a tensor's elements: `!tess.quantized<"qint8<0.1>">`. Without parameters, as in
/// `!tess.quantized<"qint8">`, it stands for all of its kind.
class QuantizedType : public mlir::Type::TypeBase<QuantizedType, mlir::Type, detail::DTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "tess.quantized";
  static QuantizedType get(mlir::MLIRContext *context, DType dtype);
  DType getDType() const;
};

/// A low-bit dtype as the type of a tensor's elements: `!tess.intb4`.
class LowBitType : public mlir::Type::TypeBase<LowBitType, mlir::Type, detail::DTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "tess.intb";
  static LowBitType get(mlir::MLIRContext *context, DType dtype);
  DType getDType() const;
};

} // namespace tess::ir

#define GET_OP_CLASSES
#include "ir/Structure.h.inc"
