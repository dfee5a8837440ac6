//===- Grad.h - the layer of gradients --------------------------*- C++ -*-===//
#pragma once

#include "eager/stack/Call.h"

namespace tess::eager {

/// Has every tape of this thread that tracks an operand write the call down.
llvm::Error applyGrad(Call &call, Tensors &results);

} // namespace tess::eager
