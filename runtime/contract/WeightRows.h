//===- WeightRows.h - weights as left operands ------------------*- C++ -*-===//
#pragma once

#include "runtime/contract/Panels.h"
#include "llvm/ADT/SmallVector.h"

namespace tess::runtime::contract {

/// Where the elements of a weight lie; strides in elements. Rows are of one kind of channels; along one, element k is
/// of channel k / placeAt.size() of the other kind, and of that place of its window.
struct WeightForm {
  int64_t rowStride, channelStride;
  llvm::SmallVector<int64_t, 1> placeAt;

  /// Whether the elements of a row lie behind each other.
  bool isInPlace() const;
};

/// Words from row to row of a copy of rows, so many that rows share no set of a cache.
int64_t copiedWeightWords(const LineForm &form, int64_t depth);
/// Copies `rows` rows of `depth` elements, of which the first begins at `from`, in words of LineForm.
void copyWeightRows(const LineForm &form, const WeightForm &weight, const void *from, int64_t rows, int64_t depth,
                    void *to);

} // namespace tess::runtime::contract
