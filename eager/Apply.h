//===- Apply.h - the entry of eager mode ------------------------*- C++ -*-===//
//
// apply() sends an operator down the stack of transformations. Errors that
// need no data come out of the call; others poison the results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Operator.h"

namespace tess::eager {

/// Results of `op`, hidden ones too. `segments`: operands per ODS group, needed when more than one is not single.
llvm::Expected<Tensors> apply(const OpDef &op, llvm::ArrayRef<Operand> operands,
                              llvm::ArrayRef<unsigned> segments = {});
/// The same, appended to `results`, which must be empty.
llvm::Error apply(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                  Tensors &results);
/// The same; `into` (may be null) offers memory.
llvm::Error applyInto(const Destination *into, const OpDef &op, llvm::ArrayRef<Operand> operands,
                      llvm::ArrayRef<unsigned> segments, Tensors &results);
/// The operand whose memory the only result of `info` may take, by its record; -1: none.
int inPlaceOperand(const OpInfo &info);
/// Only this variable looks at the memory of `tensor`, each element has a place of its own, and no recording keeps the
/// value: an update may write it.
bool ownsMemory(const TensorImpl &tensor);
/// The variable of operand 0 takes over the result, in its memory when that changes nothing else: copy on write.
llvm::Error update(const OpDef &op, llvm::ArrayRef<Operand> operands);
/// The elements of `variable` that the view operator `region` takes become those of `value`, in their memory. False:
/// that would change something else, and nothing was done. `by` is the operator that makes a new value of it.
llvm::Expected<bool> updateRegion(TensorImpl &variable, const OpDef &region, TensorImpl &value, const OpDef &by);
/// As apply, but the result is written into the memory of that operand, and the operand's variable becomes the result.
/// Views of the memory see it; copies (a DupTensor, an assign) do not: they have value semantics. An error, before
/// anything is written: the operand is no tensor, is an expanded view, has not the result's shape and dtype, is a leaf
/// of a tape that records, has memory that both views and copies share; a trace records.
llvm::Error applyInPlace(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments = {});
/// Any operator.
llvm::Expected<Tensors> apply(const Operator &op, llvm::ArrayRef<Operand> operands);
/// The outputs of `graph`; null where it has none. A null operand stands for an input that no node reads.
llvm::Expected<Tensors> apply(const Subgraph &graph, llvm::ArrayRef<Operand> operands);

/// The one result of an operator that has one.
llvm::Expected<TensorRef> applyOne(const OpDef &op, llvm::ArrayRef<Operand> operands);

/// Every operator then waits for its results, and is an error if it made a NaN or an infinity. Of all threads.
void setCheckFinite(bool on);
bool checksFinite();

/// A tensor from row-major bytes.
llvm::Expected<TensorRef> createTensor(const TensorMeta &meta, const void *bytes);
/// The number in the given dtype, rank 0.
llvm::Expected<TensorRef> createScalar(Number number, DType dtype);
/// Waits for the value and copies it, row-major. The error of a failed operator comes out here.
llvm::Error readValue(TensorImpl &tensor, void *destination);
/// The same value on `device`; the tensor itself where it is there. Where the host cannot read, the copy has no value.
llvm::Expected<TensorRef> toDevice(TensorImpl &tensor, runtime::Device &device);
/// Rebinds `handle` to the value of `value`: how every update happens, seen by a recording.
llvm::Error assign(TensorImpl &handle, const TensorImpl &value);

} // namespace tess::eager
