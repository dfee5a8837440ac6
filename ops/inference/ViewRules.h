//===- ViewRules.h - where the elements of a view lie ------------*- C++ -*-===//
//
// Layouts of the views that reshape and broadcast, as their ViewKind says, and what
// terms of records ask of slices. `shape`, of the result, is what inference gave. A
// layout that cannot be viewed so is an Unimplemented error: make a contiguous copy.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::views {

llvm::Expected<Layout> reshape(const OpDef &op, const Layout &x, llvm::ArrayRef<int64_t> shape);
llvm::Expected<Layout> broadcastTo(const OpDef &op, const Layout &x, llvm::ArrayRef<int64_t> shape);

/// Indices along an axis: start, start + step, ... (`count` of them).
struct SliceRange {
  int64_t start, count;
};
/// What the Python slice start:stop:step takes of an axis of `size`; `step` must not be 0. The functions below, too.
SliceRange sliceRange(int64_t start, int64_t stop, int64_t step, int64_t size);
/// How many indices it takes; kUnknown where that depends on a size that is no number.
int64_t sliceLength(int64_t start, int64_t stop, int64_t step, int64_t size);
/// Its ends in one form, in numbers: those of what it takes, 0 and 0 of nothing.
int64_t sliceStart(int64_t start, int64_t stop, int64_t step, int64_t size);
int64_t sliceStop(int64_t start, int64_t stop, int64_t step, int64_t size);
/// Whether `start`, which may count from the end, is an index of an axis of `size`; true where one of them is no
/// number.
bool startsInBounds(int64_t start, int64_t size);
/// Whether a slice takes just its start, wherever that is an index.
bool isOneIndex(int64_t start, int64_t stop, int64_t step);

} // namespace tess::views
