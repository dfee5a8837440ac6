//===- CustomRow.h - the rows of a library's operator -----------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

namespace tess::custom {

/// The end of a range without one.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline bool isIdentifier(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}
/// Whether an operand, result, state or attribute may have a name: texts of operators, the dialect and Python's
/// functions have some of their own. kNameRule says so in errors.
inline bool mayBeName(llvm::StringRef text) {
  constexpr llvm::StringLiteral reserved[] = {"library", "record", "inplace"};
  return isIdentifier(text) && !llvm::is_contained(reserved, text);
}
inline constexpr const char *kNameRule = "names must be identifiers other than library, record and inplace";

/// Attributes of the backward row: lists of integers (CustomGradient.cpp).
inline constexpr const char *kNeeded = "needed_gradients", *kGiven = "given_metas", *kSizes = "given_sizes";
/// The attribute that TESS_USES_TRAINING adds, and the operands of TESS_USES_RANDOM.
inline constexpr const char *kIsTraining = "is_training", *kSeed = "seed", *kOffset = "offset";

} // namespace tess::custom
