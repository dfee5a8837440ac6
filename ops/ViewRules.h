//===- ViewRules.h - where the elements of a view lie ------------*- C++ -*-===//
//
// Named by a record's View<...>. The shapes were checked by inference. A layout
// that cannot be viewed so is an Unimplemented error: make a contiguous copy.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

namespace tess::views {

llvm::Expected<Layout> reshape(const OpDef &op, const Layout &x);
llvm::Expected<Layout> transpose(const OpDef &op, const Layout &x);
llvm::Expected<Layout> expandDims(const OpDef &op, const Layout &x);
llvm::Expected<Layout> squeeze(const OpDef &op, const Layout &x);
llvm::Expected<Layout> broadcastTo(const OpDef &op, const Layout &x);
llvm::Expected<Layout> slice(const OpDef &op, const Layout &x);
llvm::Expected<Layout> flatten(const OpDef &op, const Layout &x);
llvm::Expected<Layout> swapaxes(const OpDef &op, const Layout &x);

/// The indices a Python slice takes of an axis of size `size`: start, start + step, ... (`count` of them).
struct SliceRange {
  int64_t start, count;
};
SliceRange sliceRange(int64_t start, int64_t stop, int64_t step, int64_t size);
/// The length of a slice of an axis of unknown size, where it does not depend on the size; else kUnknown.
int64_t unknownSliceLength(int64_t start, int64_t stop, int64_t step);

} // namespace tess::views
