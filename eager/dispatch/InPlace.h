//===- InPlace.h - results in the memory of an operand ----------*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// Whether an update may write the memory of `tensor`: no other variable uses it, each element has a place of its own,
/// and no recording keeps the value.
bool ownsMemory(const TensorImpl &tensor);
/// The result, for a variable that takes it over: in its memory where nothing else would change (copy on write).
llvm::Expected<TensorRef> updated(TensorImpl &variable, const OpDef &op, llvm::ArrayRef<Operand> operands,
                                  llvm::ArrayRef<unsigned> segments = {});
/// Gives the variable of operand 0 the result, in its own memory where nothing else would change (copy on write).
llvm::Error update(const OpDef &op, llvm::ArrayRef<Operand> operands);
/// Overwrites the elements of `variable` that the view operator `region` takes with those of `value`, in place. False:
/// nothing was done, because something else would change too. `by`: the operator that makes a new value of `variable`.
llvm::Expected<bool> updateRegion(TensorImpl &variable, const OpDef &region, TensorImpl &value, const OpInfo &by);
/// Applies `op` and writes the result into the memory of the operand of OpInfo::inPlaceOperand(), whose variable
/// becomes the result. Views of the memory see it; copies (a DupTensor, an assign) do not: they have value semantics.
/// It is an error, before anything is written, when the operand is no tensor, is an expanded view, has another shape or
/// dtype than the result, is a leaf of a tape that records, or has memory that views and copies share, and when a trace
/// records.
llvm::Error applyInPlace(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments = {});

} // namespace tess::eager
