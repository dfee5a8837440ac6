//===- Promotion.h - the one promotion table ---------------------*- C++ -*-===//
//
// The dtype that operands are brought to before an operator is inferred. Eager
// applies it; inference only demands that it was applied.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpInfo.h"

#include <optional>

namespace tess {

/// The common dtype; nullopt when there is no operand, or none that all can take. `isWeak[i]` marks a Python number,
/// whose dtype says its kind only: any float dtype for a float, any integer for an int, Bool for a bool. An empty
/// `isWeak` means none is.
std::optional<DType> promote(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak = {});

/// As promote; integers and bool become float32.
std::optional<DType> promoteFloat(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> isWeak = {});

/// What each operand must be cast to; nullopt where it stays as it is.
using OperandDTypes = llvm::SmallVector<std::optional<DType>, 4>;
/// What the operands of `info` must be cast to: by its rule (Promote, PromoteFloat, or the operands that must agree),
/// over flat operands. TypeMismatch when they have no common dtype.
llvm::Expected<OperandDTypes> operandDTypes(const OpInfo &info, llvm::ArrayRef<DType> dtypes,
                                            llvm::ArrayRef<bool> isWeak, llvm::ArrayRef<unsigned> segments = {});

} // namespace tess
