//===- Apply.h - the entry of eager mode ------------------------*- C++ -*-===//
//
// apply() sends an operator down the stack of transformations. Errors that
// need no data come out of the call; others poison the results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Operator.h"
#include "ops/Subgraph.h"

namespace tess::eager {

/// The results of `op`, hidden ones too. `segments`: operands per ODS group, needed when more than one group is not
/// single.
llvm::Expected<Tensors> apply(const OpDef &op, llvm::ArrayRef<Operand> operands,
                              llvm::ArrayRef<unsigned> segments = {});
/// The same, appended to `results`, which must be empty; `into` (may be null) offers memory.
llvm::Error apply(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                  Tensors &results, const Destination *into = nullptr);
/// As apply(), for a recording of which other sizes hold: it writes `recorded` down (OpDefOperator).
llvm::Error applyRecorded(const OpDef &op, const OpDef &recorded, llvm::ArrayRef<Operand> operands,
                          llvm::ArrayRef<unsigned> segments, Tensors &results);
/// The operand whose memory the only result of `info` may take over, as its record says; -1: none.
int inPlaceOperand(const OpInfo &info);
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
/// As apply(), but writes the result into the memory of the operand of inPlaceOperand(), whose variable becomes the
/// result. Views of the memory see it; copies (a DupTensor, an assign) do not: they have value semantics. It is an
/// error, before anything is written, when the operand is no tensor, is an expanded view, has another shape or dtype
/// than the result, is a leaf of a tape that records, or has memory that views and copies share, and when a trace
/// records.
llvm::Error applyInPlace(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments = {});
/// The results of any kind of operator.
llvm::Expected<Tensors> apply(const Operator &op, llvm::ArrayRef<Operand> operands);
/// The outputs of `graph`, null where it has -1. An operand may be null where no node reads the input.
llvm::Expected<Tensors> apply(const Subgraph &graph, llvm::ArrayRef<Operand> operands);

/// The one result of an operator that has one.
llvm::Expected<TensorRef> applyOne(const OpDef &op, llvm::ArrayRef<Operand> operands);

/// While on, for all threads, every operator waits for its results and fails if it made a NaN or an infinity.
void setCheckFinite(bool on);
bool checksFinite();
/// While on, for all threads, every operator waits for its results and fails if the memory of an operand changed since
/// an operator read it first.
void setCheckOperands(bool on);
bool checksOperands();

/// A tensor with a copy of row-major `bytes`; without a device it lies where what this thread makes of no tensor does.
llvm::Expected<TensorRef> createTensor(const TensorMeta &meta, const void *bytes, runtime::Device *device = nullptr);
/// A tensor of rank 0 that holds `number` in `dtype`.
llvm::Expected<TensorRef> createScalar(Number number, DType dtype, runtime::Device *device = nullptr);
/// The same; of a size, a recording writes the expression down.
llvm::Expected<TensorRef> scalarOf(Number number, DType dtype, runtime::Device *device = nullptr);
/// Another variable of the same value; `detach` leaves the gradient behind.
llvm::Expected<TensorRef> dupTensor(TensorImpl &tensor, bool detach);
/// Waits for the value and copies it, row-major. The error of the operator that should have made it comes out here.
llvm::Error readValue(TensorImpl &tensor, void *destination);
/// The same value on `device`; `tensor` itself when it is there already. A copy in memory that the host cannot read
/// has no value.
llvm::Expected<TensorRef> toDevice(TensorImpl &tensor, runtime::Device &device);
/// Gives `variable` the value of `value`. Every update goes through here, so that a recording sees it.
void assign(TensorImpl &variable, TensorImpl &value);

} // namespace tess::eager
