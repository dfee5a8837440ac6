//===- RegionRules.h - what movements copy, and where to --------*- C++ -*-===//
//
// Generated from a record's copies. A movement copies regions of its operands
// into the result, in the order given; its one runtime attribute, if it has any,
// fills the result first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::regions {

/// The copies of one movement, in the order in which they are made.
using Regions = llvm::SmallVector<CopyRegion, 4>;

/// Adds the copy of `size` elements of operand number `operand` from `from` on (empty: it is broadcast) to `to` on,
/// which lie `steps` (empty: 1) apart there, unless there are none.
void add(Regions &all, unsigned operand, const Layout &source, const Layout &result, llvm::ArrayRef<int64_t> from,
         llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> steps);
/// The attribute whose value fills the result of a movement before anything is copied; null: the regions cover it.
const AttrInfo *fillOf(const OpInfo &info);
/// Whether neighbours in a region may lie apart in the result.
bool writesStrided(const OpDef &op);

} // namespace tess::regions
