//===- Contents.h - the bytes of constants ----------------------*- C++ -*-===//
//
// A constant's bytes stand in a resource of its context. Large ones stay where
// they are, in a mapped file or a tensor, and a program that is compiled from
// the graph reads them there, too, so the context keeps who holds them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/HeldBytes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::ir {

/// Whether a content of so many bytes is held rather than copied; a context with such a one is not pooled.
inline bool isLarge(size_t bytes) { return bytes > 4096; }

/// A resource `key` of `type` with these row-major bytes.
mlir::DenseResourceElementsAttr contentOf(mlir::ShapedType type, llvm::StringRef key, const runtime::HeldBytes &bytes);
/// A resource with a copy of `bytes`.
mlir::DenseResourceElementsAttr contentOf(mlir::ShapedType type, llvm::StringRef key, llvm::StringRef bytes);
/// The bytes of a resource.
llvm::StringRef bytesOf(mlir::DenseResourceElementsAttr content);
/// Who holds them; null for those that are not large, and for those of a text.
runtime::HeldBytes holderOf(mlir::DenseResourceElementsAttr content);

/// Who holds the contents of a context. Used, as the context is, by one thread at a time.
class ContentHolders : public mlir::DialectInterface::Base<ContentHolders> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContentHolders)
  explicit ContentHolders(mlir::Dialect *dialect) : Base(dialect) {}

  void add(const runtime::HeldBytes &bytes) { byPlace.try_emplace({bytes->data(), bytes->size()}, bytes); }
  /// Null: nobody.
  runtime::HeldBytes find(llvm::StringRef bytes) const { return byPlace.lookup({bytes.data(), bytes.size()}); }

private:
  llvm::DenseMap<std::pair<const char *, size_t>, runtime::HeldBytes> byPlace;
};

} // namespace tess::ir
