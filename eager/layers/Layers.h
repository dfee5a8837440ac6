//===- Layers.h - the layers of the stack -----------------------*- C++ -*-===//
#pragma once

#include "eager/stack/Call.h"

namespace tess::eager {

/// One Transformation for a Layer each, in a file of its name; those of Autocast and Grad are in stack/ and gradients/.
llvm::Error applyScalar(Call &call, Tensors &results);
llvm::Error applyDimExpansion(Call &call, Tensors &results);
llvm::Error applyDTypePromotion(Call &call, Tensors &results);
llvm::Error applyQuantize(Call &call, Tensors &results);
llvm::Error applyGrid(Call &call, Tensors &results);
llvm::Error applyFormat(Call &call, Tensors &results);
llvm::Error applyTracing(Call &call, Tensors &results);
llvm::Error applyCheckFinite(Call &call, Tensors &results);
llvm::Error applyCheckOperands(Call &call, Tensors &results);
llvm::Error interpret(Call &call, Tensors &results);

} // namespace tess::eager
