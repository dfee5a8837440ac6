//===- CustomOp.h - operators that no record declares -----------*- C++ -*-===//
//
// An operator of a library (custom_op_abi.h), or of a frontend's functions: a row of
// its own, by which every layer knows it as it knows those of the records, and one
// for its gradient. Rules that data cannot state ask the functions of the library.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/custom/custom_op_abi.h"
#include "ops/operator/OpDef.h"

#include <memory>

namespace tess::custom {

/// The name of the row's kernel.
inline constexpr const char *kKernelName = "custom";

/// An operator with its rows. They live for ever: a library is never closed.
class Operator {
public:
  /// Checks what `op` says. InvalidArgument for what is not allowed, by the name of the operator. `op` lives for ever.
  static llvm::Expected<std::unique_ptr<Operator>> make(const TessOperator &op, const OpOrigin &origin);
  Operator(const Operator &) = delete;

  /// The operator of a row; null for those of records.
  static const Operator *of(const OpInfo &info) { return info.custom; }
  /// The docstring of the operator: what it computes, its operands, parameters and results.
  std::string documentation() const;
  bool isBackward(const OpInfo &info) const { return &info == &backwardRow; }

  /// The members that the library knows; those that it does not are 0.
  const TessOperator &functions() const { return op; }
  const OpOrigin &origin() const { return from; }
  const OpInfo &forward() const { return forwardRow; }
  /// Null where there is no gradient.
  const OpInfo *backward() const { return op.backward ? &backwardRow : nullptr; }
  OpInfo &row(bool isBackward) { return isBackward ? backwardRow : forwardRow; }

  /// Numbers among the results of the row: outputs that are returned, new values of states, hidden outputs.
  unsigned numReturned() const { return numVisible; }
  unsigned resultOf(unsigned output) const { return output < numVisible ? output : output + op.num_states; }
  unsigned stateResult(unsigned state) const { return numVisible + state; }
  bool usesRandom() const { return op.flags & TESS_USES_RANDOM; }
  bool usesTraining() const { return op.flags & TESS_USES_TRAINING; }
  /// The output whose size data decides; -1: none.
  int dataSized() const { return dataSizedOutput; }
  /// The flat operands behind the inputs: states, then seed and offset.
  unsigned numTrailing() const { return op.num_states + (usesRandom() ? 2 : 0); }

  /// Numbers of values that the backward reads.
  struct Reads {
    llvm::SmallVector<unsigned, 4> gradients, inputs, outputs;
  };
  const Reads &reads() const { return backwardReads; }

private:
  friend class RowBuilder;
  Operator(const TessOperator &op, const OpOrigin &origin) : op(op), from(origin) {}

  TessOperator op;
  const OpOrigin from;
  unsigned numVisible = 0;
  int dataSizedOutput = -1;
  Reads backwardReads;
  OpInfo forwardRow = {}, backwardRow = {};
  // Memory that the rows point to.
  std::vector<std::unique_ptr<std::string>> texts;
  std::vector<OperandInfo> operands, backwardOperands;
  std::vector<ResultInfo> results, backwardResults;
  std::vector<AttrInfo> attrs, backwardAttrs;
  std::vector<std::unique_ptr<AttrValue>> defaults;
  std::vector<std::vector<const char *>> cases;
  std::vector<std::pair<uint8_t, uint8_t>> inplace;
};

} // namespace tess::custom
