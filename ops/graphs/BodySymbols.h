//===- BodySymbols.h - sizes that data decides within a body ----*- C++ -*-===//
#pragma once

#include "ops/vocabulary/SizeExpr.h"
#include "ops/vocabulary/TensorMeta.h"

namespace tess::control {

/// Symbols of sizes that data decides within a body, which are bound in it: the size of an axis of one of its values.
constexpr uint32_t kBodySymbols = sizes::kDataSymbols + (uint32_t(1) << 29),
                   kBodySymbolsEnd = kBodySymbols + (uint32_t(1) << 29);
constexpr uint32_t bodySymbol(int value, unsigned axis) { return kBodySymbols + uint32_t(value) * kMaxRank + axis; }
constexpr bool isBodySymbol(uint32_t symbol) { return symbol >= kBodySymbols && symbol < kBodySymbolsEnd; }
/// The value and the axis that bodySymbol() was given.
constexpr int valueOf(uint32_t symbol) { return int((symbol - kBodySymbols) / kMaxRank); }
constexpr unsigned axisOf(uint32_t symbol) { return symbol % kMaxRank; }

} // namespace tess::control
