//===- KernelAnalysis.h - what a KernelSpec asks for ------------*- C++ -*-===//
//
// Checks a spec and plans its evaluation: which nodes vary over the reduced
// domain, in which pass over it each is computed, and which values wait in
// scratch memory for a later pass. No MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tess::compiler {

/// Everything that makes a spec meaningless, with the node in the text. What passes can be emitted.
llvm::Error verifyKernel(const KernelSpec &spec);

struct KernelPlan {
  /// Per node: differs between elements of the reduced domain (without reduced groups: always).
  std::vector<bool> full;
  /// Per node: the pass over the reduced domain that first computes it; of a Reduce: the pass after it.
  std::vector<unsigned> phase;
  unsigned numPhases = 0;
  /// Per node: byte offset per element of its scratch slot, or -1.
  std::vector<int> scratchOffset;
  unsigned scratchBytesPerElement = 0;
};

/// Plan of a verified spec.
KernelPlan planKernel(const KernelSpec &spec);

/// Writes every element of the domain, in the pass of its node's phase; else one element for each row, at its end. The
/// node of the former may be the same for a whole row.
bool isFullStore(const KernelSpec &spec, const KernelStore &store);

/// Reduces nothing, and computes so much for a vector that the code for it should be there once.
bool hasLongBody(const KernelSpec &spec);

/// Estimated time of one thread for an element of the domain.
unsigned picosecondsPerElement(const KernelSpec &spec);

/// Whether output operand `output` may have the memory of input operand `input` (same element for element): no later
/// pass reads the input.
bool mayShareMemory(const KernelSpec &spec, unsigned output, unsigned input);

} // namespace tess::compiler
