//===- OpClass.h - what a mini-graph is compiled for ------------*- C++ -*-===//
#pragma once

#include "ops/OpDef.h"

#include <string>

namespace tess::eager {

/// An operator and its operands, reduced to what compiled code depends on: runtime attributes have a neutral value, and
/// sizes are unknown or 1, unless the rules of the record look at sizes (OpInfo::needsSizes).
struct OpClass {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 4> segments; // operands per ODS group; empty: one each

  /// The class of a call. `direct`: attributes that only decide shapes have a neutral value too.
  static OpClass of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments,
                    bool direct);

  /// "add{} (f32[?], f32[1]) 1 1": equal classes have equal texts.
  std::string toText() const;
  /// Reads the text of toText(); DataLoss when it is none.
  static llvm::Expected<OpClass> parse(llvm::StringRef text);
};

} // namespace tess::eager
