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
#include "ops/vocabulary/SizeExpr.h"

namespace tess::eager {

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
