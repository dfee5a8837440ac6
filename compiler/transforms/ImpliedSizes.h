//===- ImpliedSizes.h - repetition that an operator implies -----*- C++ -*-===//
#pragma once

#include "mlir/IR/Operation.h"

namespace tess::compiler {

/// Whether the elementwise `op` has the same results when its operand number `index`, a broadcast, is what that
/// repeats: each size comes from other operands, too. Unknown sizes are the same where the program gives them one name,
/// or takes both of one value.
bool impliesBroadcast(mlir::Operation *op, unsigned index);

/// Whether `broadcast` gives its operand as it is: an argument of a program that has as many axes, none of size 1.
bool repeatsNothing(mlir::Operation *broadcast);

} // namespace tess::compiler
