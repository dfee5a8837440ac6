//===- CustomRow.h - the rows of a library's operator -----------*- C++ -*-===//
#pragma once

namespace tess::custom {

/// Attributes of the backward row: lists of integers (CustomGradient.cpp).
inline constexpr const char *kNeeded = "needed_gradients", *kGiven = "given_metas", *kSizes = "given_sizes";
/// The attribute that TESS_USES_TRAINING adds, and the operands of TESS_USES_RANDOM.
inline constexpr const char *kIsTraining = "is_training", *kSeed = "seed", *kOffset = "offset";

} // namespace tess::custom
