//===- OpClass.h - what a mini-graph is compiled for ------------*- C++ -*-===//
#pragma once

#include "ir/GraphBuilder.h"
#include "ops/operator/OpDef.h"

#include <string>

namespace tess::eager {

/// An operator and its operands, reduced to what compiled code depends on: runtime attributes have a neutral value,
/// quantized dtypes no parameters, sizes are unknown or 1, and strides are unknown.
struct OpClass {
  OpDef op;
  Metas operands;
  llvm::SmallVector<ir::MemoryLayout, 4> layouts; // of the operands and the result; those missing are row-major
  llvm::SmallVector<unsigned, 4> segments;        // operands per ODS group; empty: one each
  int donated = -1;                               // the operand whose memory the result takes over

  /// The class of a call that has these attributes. `sizesLater`: those that bind time reads get a neutral value, too.
  OpClass neutral(bool sizesLater) const;

  /// Of operand `index`, or of the result where that is the number of operands.
  ir::MemoryLayout layoutOf(size_t index) const {
    return index < layouts.size() ? layouts[index] : ir::MemoryLayout::RowMajor;
  }

  /// "add{} (f32[?], f32[1]) 1 1", "add{} (f32[?, ?] strided, f32[?, ?] rows) strided", "add{} (f32[?] donated,
  /// f32[?])": equal classes have equal texts. That of a gradient has its body, which parse() does not read.
  std::string toText() const;
  /// Reads the text of toText(); DataLoss when it is none.
  static llvm::Expected<OpClass> parse(llvm::StringRef text);
};

} // namespace tess::eager
