//===- SymbolicShapes.h - sizes by those of the arguments -------*- C++ -*-===//
//
// What the sizes of a recording's values are as expressions of its arguments'
// sizes. A size that inference cannot express is the number that it was in the
// recorded call: a recording at other sizes then says another number, so that no
// program serves both.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recording.h"
#include "ops/SizeExpr.h"

namespace tess::eager {

/// The symbol that stands for the size of an axis of the argument with this value number.
inline uint32_t symbolOf(uint32_t argument, unsigned axis) { return argument * kMaxRank + axis; }
/// The symbol that stands for the size of an axis of the value with this number, which data decides.
inline uint32_t dataSymbolOf(uint32_t value, unsigned axis) { return sizes::kDataSymbols + symbolOf(value, axis); }
/// The value number and the axis that symbolOf() or dataSymbolOf() was given.
inline uint32_t ownerOf(uint32_t symbol) { return symbol % sizes::kDataSymbols / kMaxRank; }
inline unsigned axisOf(uint32_t symbol) { return symbol % kMaxRank; }

/// The shapes of one recording, inferred as far as they were asked for.
class SymbolicShapes {
public:
  /// The shape of a value of `recording`, which is the same one in all calls and may have grown.
  llvm::ArrayRef<int64_t> of(const Recording &recording, uint32_t number);

private:
  void infer(const Recording &recording, const Recording::Op &op);

  std::vector<Shape> shapes; // by value number
  size_t numOps = 0;         // of which the results have been inferred
};

} // namespace tess::eager
