//===- OpClass.h - what a mini-graph is compiled for ------------*- C++ -*-===//
#pragma once

#include "ops/OpDef.h"

#include <string>

namespace tess::eager {

/// An operator on operands of which only what code depends on is known: runtime attributes and sizes that it does not
/// see have no value of their own, other sizes are unknown or 1.
struct OpClass {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 4> segments; // operands per ODS group; empty: one each

  /// The class of a call. `direct`: sizes among the attributes are not seen either.
  static OpClass of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments,
                    bool direct);

  /// "add{} (f32[?], f32[1]) 1 1": equal classes have equal texts.
  std::string toText() const;
  /// DataLoss when `text` is none of toText().
  static llvm::Expected<OpClass> parse(llvm::StringRef text);
};

} // namespace tess::eager
