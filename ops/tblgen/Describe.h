//===- Describe.h - an operator in words -------------------------*- C++ -*-===//
//
// Shared by the docstrings, the reference page and the stub.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/tblgen/Model.h"

namespace tess::tblgen {

/// "float[*B, M, K]"; the shape only where a signature gives it.
std::string shapedType(const OpModel &op, const ValueModel &value, const PatternModel *pattern);
/// One line for each operand or result: "x: float[*B, M, K]".
std::vector<std::string> operandLines(const OpModel &op);
std::vector<std::string> resultLines(const OpModel &op);
/// "axis: int = -1, axis to normalise over".
std::vector<std::string> attrLines(const OpModel &op);
/// Name of the operand whose memory the only result may take for `inplace=True`; empty when there is none.
std::string inPlaceOperand(const OpModel &op);
/// How the result dtype follows from the operands, in words.
std::string dtypeLine(const OpModel &op);
/// "ValueError: dimension K must match", "TypeError: ...".
std::vector<std::string> raisesLines(const OpModel &op);
/// A docstring without text of the dialect and example.
std::string documentation(const OpModel &op);
/// An operand of the call that documentation shows; `dtype` is a short name.
struct ExampleOperand {
  const ValueModel *value;
  std::string dtype;
  std::vector<int64_t> shape;
};
/// The operands of the first sample, one for each of its shapes: f32 where the operand may be.
std::vector<ExampleOperand> exampleOperands(const OpModel &op);
/// Lines of a doctest.
std::vector<std::string> exampleLines(const OpModel &op);
/// Parameters as in a Python stub: "x: Tensor, axis: int = -1".
std::string pySignature(const OpModel &op);

} // namespace tess::tblgen
