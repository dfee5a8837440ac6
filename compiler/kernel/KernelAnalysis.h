//===- KernelAnalysis.h - what a KernelSpec asks for ------------*- C++ -*-===//
//
// Checks a spec and plans its evaluation: which nodes vary over the reduced
// domain, in which pass over it each is computed, and which values wait in
// scratch memory for a later pass. No MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelSpec.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tess::compiler {

/// InvalidArgument for a spec that has no meaning, with the node in the text. Any spec that passes can be emitted.
llvm::Error verifyKernel(const KernelSpec &spec);

/// Parts of a partial result: 1, or 2 for ArgMax and ArgMin, which keep element numbers beside the values.
constexpr unsigned partsOf(ReduceKind kind) { return givesIndex(kind) ? 2 : 1; }

/// Which pass over the reduced domain computes each node, and which values wait in scratch for a later pass.
struct KernelPlan {
  /// Per node: differs between elements of the reduced domain (without reduced groups: always).
  std::vector<bool> full;
  /// Per node: the pass over the reduced domain that first computes it; of a Reduce: the pass after it.
  std::vector<unsigned> phase;
  unsigned numPhases = 0;
  /// Per node: byte offset per element of its scratch slot, or -1.
  std::vector<int> scratchOffset;
  unsigned scratchBytesPerElement = 0;
  /// Of a reduction of everything in one pass, which threads may share: bytes of a chunk's results; else 0.
  unsigned scratchBytesPerChunk = 0;
};

/// What a machine does with a value that a later pass over a row reads: keep it in scratch where that is cheaper, or
/// compute it again, because a grid has no scratch.
enum class LaterPasses : uint8_t { Keep, Recompute };

/// The plan of a spec that verifyKernel() accepts.
KernelPlan planKernel(const KernelSpec &spec, LaterPasses later = LaterPasses::Keep);

/// Operands of a kernel that contracts, and how it reads them.
struct ContractForm {
  /// The elements of each column in a line, and how they are multiplied. Numbers: one, in its own type. Pairs: two of
  /// bfloat16. Quads: four of 8 bits, to int32 sums. Bytes: one of 8 bits, as float32. Nibbles: eight of 4 bits, as
  /// float32. ScaledQuads and ScaledNibbles: four of 8 bits and eight of 4 bits, unsigned, by int8 to int32 sums of
  /// groups, which begin with what lies behind a row's last element of the group.
  enum class Lines : uint8_t { Numbers, Pairs, Quads, Bytes, Nibbles, ScaledQuads, ScaledNibbles };

  int16_t lhs, rhs, out; // operands
  int16_t scale;         // operand of groups' scales; -1: lines come in no groups
  DType left, sum;       // of elements of rows, of results
  Lines lines;
};

/// The form of a spec that verifyKernel() accepts and that contracts.
ContractForm contractForm(const KernelSpec &spec);

/// Whether `store` writes every element of the domain, in the pass of its node's phase; otherwise it writes one element
/// per row, at the row's end. The node of a full store may have one value for a whole row.
bool isFullStore(const KernelSpec &spec, const KernelStore &store);

/// Whether the kernel reduces nothing and computes so much per vector that its body should be emitted only once.
bool hasLongBody(const KernelSpec &spec);

/// Reads or writes by stride and computes little: what whole vectors leave goes element by element, since gathering
/// a part of a vector would cost more than that.
bool hasScalarTail(const KernelSpec &spec);

/// Whether some node is the place of an element in the domain.
bool readsIndex(const KernelSpec &spec);

/// Estimated time of one thread for an element of the domain, in picoseconds.
unsigned picosecondsPerElement(const KernelSpec &spec);

/// Whether output operand `output` may have the memory of input operand `input` (same element for element): no later
/// pass reads the input.
bool mayShareMemory(const KernelSpec &spec, unsigned output, unsigned input, LaterPasses later = LaterPasses::Keep);

} // namespace tess::compiler
