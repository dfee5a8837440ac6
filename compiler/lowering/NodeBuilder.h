//===- NodeBuilder.h - appends nodes to a kernel ----------------*- C++ -*-===//
#pragma once

#include "compiler/kernel/KernelSpec.h"

namespace tess::compiler {

/// Appends nodes to `spec`; each function gives the number of the node that holds its value.
class NodeBuilder {
public:
  explicit NodeBuilder(KernelSpec &spec) : spec(spec) {}

  /// Any node, as it is.
  int16_t add(KernelNode node);
  /// The elements of a kernel operand, which spec.operands must have.
  int16_t load(int16_t operand);
  /// The elements of a kernel operand at indices, one for each axis that they count along.
  int16_t lookup(int16_t operand, llvm::ArrayRef<int16_t> indices, DType dtype);
  /// A number in every element.
  int16_t constant(double value, DType dtype);
  /// The runtime attribute in `slot`, which is an integer or a float.
  int16_t attribute(bool isInt, int16_t slot, DType dtype);
  /// `fn` of earlier nodes.
  int16_t apply(ScalarFn fn, DType dtype, llvm::ArrayRef<int16_t> args);
  /// `node` converted to `dtype`; `node` itself when it has that dtype.
  int16_t cast(int16_t node, DType dtype);
  /// The parts of a complex number, floats; a real number is its own real part, and has the imaginary part 0. What
  /// join() made is taken apart without an instruction.
  int16_t real(int16_t node);
  int16_t imag(int16_t node);
  /// The complex number of two parts, floats of one dtype.
  int16_t join(int16_t real, int16_t imag);
  /// The conjugate; of a real number itself.
  int16_t conj(int16_t node);
  /// The dtype of a node.
  DType dtypeOf(int16_t node) const { return spec.nodes[node].dtype; }
  /// `arg` reduced over all reduced groups, with a result of `dtype`.
  int16_t reduce(ReduceKind kind, int16_t arg, DType dtype);
  /// The scan of `args`, an operand and perhaps a weight, along the reduced group, with a result of `dtype`.
  int16_t scan(ScalarFn fn, bool exclusive, llvm::ArrayRef<int16_t> args, DType dtype);
  /// Ends an operator at `node`: converts it to `dtype` and marks it, so that a narrow float is rounded there (a bare
  /// operand needs no rounding).
  int16_t finish(int16_t node, DType dtype);

  /// The kernel that it builds.
  KernelSpec &kernel() { return spec; }

private:
  KernelSpec &spec;
};

} // namespace tess::compiler
