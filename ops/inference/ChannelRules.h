//===- ChannelRules.h - where the axis of channels goes ---------*- C++ -*-===//
//
// Named by a record's `channels`. `axis` is the one along which each index of
// operand 0 has a scale of its own; the rule gives the axis of result number
// `result` that has the same channels, whole and in order, or -1 where none has. Shapes and
// attributes were checked before.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::channels {

#define TESS_CHANNEL_RULE(name)                                                                                        \
  int name(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int axis, unsigned result)

TESS_CHANNEL_RULE(ofNotation); // what follows from `compute`
TESS_CHANNEL_RULE(indexGet);
TESS_CHANNEL_RULE(indexSet);
TESS_CHANNEL_RULE(maskGet);

#undef TESS_CHANNEL_RULE

} // namespace tess::channels
