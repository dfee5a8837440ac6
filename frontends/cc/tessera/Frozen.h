//===- Frozen.h - parameters that are left as they are ----------*- C++ -*-===//
#pragma once

#include "tessera/Tensor.h"

namespace tessera::detail {

/// Whether Module::freeze() holds for the variable: it gets no gradient, and optimizers pass it by.
bool isFrozen(const Tensor &variable);
/// Freezes variables, whose gradients go, or ends that. InvalidArgument within a traced function, whose program would
/// not do it again.
void setFrozen(const std::vector<Tensor> &variables, bool frozen);
/// Tells the call that this thread records, if there is one, that it depends on what is frozen.
void noteFrozen();

} // namespace tessera::detail
