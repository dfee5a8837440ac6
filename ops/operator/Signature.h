//===- Signature.h - shape signatures ---------------------------*- C++ -*-===//
//
// A record's `shapes` string, compiled at build time to a constexpr table that
// one interpreter reads for the verifier, eager and Python alike.
//
// Grammar: `(*B, M, K), (*B, K, N) -> (*B, M, N)`; `(..)?` optional operand,
// `(..)*` variadic; a number is a literal dimension; `*X` is any number of
// dimensions that broadcast together; `@n` is the value of an integer attribute,
// `*@shape` those of a list; `*D / axes`, in a result, is D without the axes that an
// attribute names (empty: all), kept with size 1 where an attribute `keepdims` says so; guarded alternatives put the
// name of a boolean attribute first: `transpose_lhs ? (*B, K, M) : (*B, M, K)`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"

namespace tess {

/// One entry of a pattern: the size of a symbol, the axes of a star, a number, the value of an attribute, or a star
/// without its reduced axes.
struct DimPattern {
  enum Kind : uint8_t { Symbol, Star, Literal, Attr, Reduced } kind; // an Attr that is a list gives several sizes
  uint8_t symbol;  // index into Signature::symbols; of the attribute for Attr
  int64_t literal; // for Literal; for Reduced the axes attribute, plus 256 * (keepdims attribute + 1)
};

/// The shape of an operand or result; at most one entry is a star.
struct OperandPattern {
  llvm::ArrayRef<DimPattern> dims;
  /// Used instead of `dims` when boolean attribute `guardAttr` is true.
  llvm::ArrayRef<DimPattern> guardedDims;
  int8_t guardAttr = -1;
};

/// The shape signature of a record, parsed by tess-tblgen.
struct Signature {
  llvm::ArrayRef<OperandPattern> operands;
  llvm::ArrayRef<OperandPattern> results;
  /// Symbol names, without the star.
  llvm::ArrayRef<const char *> symbols;
  /// The string as it stands in the record, for messages and documentation.
  const char *text;
  /// All operands and results are the one symbol `(*D)`: plain broadcasting, the fast path.
  bool elementwise = false;
  /// Of `compute`, whose operands have the same dimensions: stars must be equal, and nothing broadcasts.
  bool isExact = false;
};

/// Symbols a signature may have.
constexpr unsigned kMaxSymbols = 12;

} // namespace tess
