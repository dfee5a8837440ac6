//===- Apply.h - the entry of eager mode ------------------------*- C++ -*-===//
//
// apply() sends an operator down the stack of transformations. Errors that
// need no data come out of the call; others poison the results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/stack/Call.h"
#include "ops/graphs/Subgraph.h"

namespace tess::eager {

/// The results of `op`, hidden ones too. `segments`: operands per ODS group, needed when more than one group is not
/// single.
llvm::Expected<Tensors> apply(const OpDef &op, llvm::ArrayRef<Operand> operands,
                              llvm::ArrayRef<unsigned> segments = {});
/// The same, appended to `results`, which must be empty; `into` (may be null) offers memory.
llvm::Error apply(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                  Tensors &results, const Destination *into = nullptr);
/// Applies `op` in a recording that holds for other sizes: it writes `recorded` down (OpDefOperator).
llvm::Error applyRecorded(const OpDef &op, const OpDef &recorded, llvm::ArrayRef<Operand> operands,
                          llvm::ArrayRef<unsigned> segments, Tensors &results);
/// The results of any kind of operator.
llvm::Expected<Tensors> apply(const Operator &op, llvm::ArrayRef<Operand> operands);
/// The outputs of `graph`, null where it has -1. An operand may be null where no node reads the input.
llvm::Expected<Tensors> apply(const Subgraph &graph, llvm::ArrayRef<Operand> operands);

/// The one result of an operator that has one.
llvm::Expected<TensorRef> applyOne(const OpDef &op, llvm::ArrayRef<Operand> operands);

/// Bits of the layers from `first` on that `op` needs for these operands.
uint32_t neededLayers(const OpDef &op, llvm::ArrayRef<Operand> operands, Layer first = Layer::Autocast);
/// Applies an operator that the layer `after` puts in the place of its call: only later layers see it.
llvm::Error applyBelow(Layer after, const OpDef &op, llvm::ArrayRef<Operand> operands,
                       llvm::ArrayRef<unsigned> segments, Tensors &results, const Destination *into = nullptr);

/// A tensor with a copy of row-major `bytes`; without a device it lies where what this thread makes of no tensor does.
llvm::Expected<TensorRef> createTensor(const TensorMeta &meta, const void *bytes, runtime::Device *device = nullptr);
/// Whether an integer `dtype` holds `number`, a Float without its fraction; other dtypes round.
bool fits(Number number, DType dtype);
/// A tensor of rank 0 that holds `number` in `dtype`. InvalidArgument: it does not fit.
llvm::Expected<TensorRef> createScalar(Number number, DType dtype, runtime::Device *device = nullptr);
/// Another variable of the same value; `detach` leaves the gradient behind.
llvm::Expected<TensorRef> dupTensor(TensorImpl &tensor, bool detach);
/// Waits for the value and copies it, row-major. The error of the operator that should have made it comes out here.
llvm::Error readValue(TensorImpl &tensor, void *destination);
/// Gives `variable` the value of `value`. Every update goes through here, so that a recording sees it.
void assign(TensorImpl &variable, TensorImpl &value);

} // namespace tess::eager
