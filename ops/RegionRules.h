//===- RegionRules.h - what movements copy, and where to --------*- C++ -*-===//
//
// Named by a record's Movement<...>, or generated from its copies. A movement
// copies regions of its operands into the result, in the order given; its one
// runtime attribute, if it has any, fills the result first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

namespace tess::regions {

/// The copies of one movement, in the order in which they are made.
using Regions = llvm::SmallVector<CopyRegion, 4>;

#define TESS_REGION_RULE(name)                                                                                         \
  llvm::Expected<Regions> name(const OpDef &op, llvm::ArrayRef<Layout> operands, const Layout &result)

TESS_REGION_RULE(concat);
TESS_REGION_RULE(sliceSet);

#undef TESS_REGION_RULE

/// Adds the copy of `size` elements of operand number `operand` from `from` on to `to` on, unless there are none.
void add(Regions &all, unsigned operand, const Layout &source, const Layout &result, llvm::ArrayRef<int64_t> from,
         llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> size);
/// The attribute whose value fills the result of a movement before anything is copied; null: the regions cover it.
const AttrInfo *fillOf(const OpInfo &info);
/// Whether neighbours in a region may lie apart in the result.
bool writesStrided(const OpDef &op);

} // namespace tess::regions
