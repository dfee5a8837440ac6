//===- NotationWords.h - what every `compute` demands -----------*- C++ -*-===//
//
// Constraints that do not follow from names of a record: the generator writes
// them into the table, and inference refuses with them.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tess::notation {

constexpr const char *kPaddingBelowWindow = "padding must be below the window's size";
constexpr const char *kWindowFits = "window must fit into the padded input";
constexpr const char *kFewDimensions = "indices must have at most 8 dimensions";

} // namespace tess::notation
