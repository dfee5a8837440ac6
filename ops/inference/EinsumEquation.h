//===- EinsumEquation.h - what an equation of einsum says -------*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// The labels of the axes of each operand and of the result: letters, or axes that "..." stands for, which are numbered
/// from the last one.
struct EinsumEquation {
  using Labels = llvm::SmallVector<int, 8>;

  llvm::SmallVector<Labels, 4> operands;
  Labels result;

  /// Of an operator with the attribute `equation`. InvalidArgument where it does not fit the ranks of the operands.
  static llvm::Expected<EinsumEquation> of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands);
  /// Whether axes with the label broadcast, because it is of "...".
  static bool broadcasts(int label) { return label >= kFirstOfDots; }

  /// Above every letter.
  static constexpr int kFirstOfDots = 256;
};

} // namespace tess
