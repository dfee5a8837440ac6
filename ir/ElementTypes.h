//===- ElementTypes.h - the dialect's own element types ---------*- C++ -*-===//
#pragma once

#include "mlir/IR/TypeSupport.h"
#include "mlir/IR/Types.h"
#include "ops/vocabulary/DType.h"

namespace tess::ir {

namespace detail {
/// A type that is a dtype.
struct DTypeStorage : mlir::TypeStorage {
  using KeyTy = uint32_t;
  explicit DTypeStorage(KeyTy key) : dtype(DType(key)) {}
  bool operator==(KeyTy key) const { return KeyTy(dtype) == key; }
  static DTypeStorage *construct(mlir::TypeStorageAllocator &allocator, KeyTy key) {
    return new (allocator.allocate<DTypeStorage>()) DTypeStorage(key);
  }
  DType dtype;
};
} // namespace detail

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
