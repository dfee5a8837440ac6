//===- KernelSpec.h - what one generated kernel computes --------*- C++ -*-===//
//
// A fused group, stripped of shapes: an expression graph over one iteration
// domain. Sizes, strides and runtime attributes are operands of the compiled
// kernel, so one spec serves every shape of its class. No MLIR in this header.
//
// The domain is a list of parallel groups P0..Pp-1 followed by reduced groups
// R0..Rr-1 (a group is a run of axes that collapses into one size). The order
// of evaluation that promise "one result" fixes: a reduction keeps 16 partial
// results; element e of the last reduced group goes to lane e mod 16, earlier
// reduced groups are walked outside in row-major order; a halving tree
// (8, 4, 2, 1) ends it. A float sum goes in pieces, each summed so, whose
// results are added in float64: kSumPiece elements of the last group; of an
// earlier group as many positions as take 64 steps of a lane, one at least, the
// groups behind it then being whole. A reduction of everything goes in chunks of
// kReductionChunk elements, each reduced so and combined with the chunks before
// it. A reduction over windows is sequential: one result, to which the elements
// are added one by one in row-major order; so is a scan, which keeps the result
// after each. A contraction is chunked: each call sums the products of a chunk of
// kContractLines lines one by one, from zero, and adds the sum to those of the
// chunks before it; a chunk whose lines come in groups sums each so, and adds
// sum * scale to the chunk's by one multiply-add; exact sums of int8 by unsigned
// bytes become float32 before. Sums of integers wrap. All are independent of
// layout, ISA, threads and fusion.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpInfo.h"
#include "runtime/schema/KernelAbi.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tess::compiler {

using runtime::InnerClass;

/// Which group the lanes run along.
enum class VectorAxis : uint8_t {
  Parallel, // the last parallel group; reductions (if any) keep 16 lanes in memory per column
  Reduced,  // the last reduced group
};

/// The order in which reductions and scans combine elements (above). Backward: sequential, from the last element to the
/// first; of scans. Chunked: of contractions.
enum class ReductionOrder : uint8_t { Lanes, Sequential, Backward, Chunked };

/// The rows, and panels of kLanes columns, of a product that a kernel keeps in registers.
struct ContractTile {
  uint8_t rows = 0, panels = 0;
};

/// A parallel and a reduced group that walk an axis of the operands together: a position that has no element there
/// (BoundNumber) is no part of the reduction.
struct AxisBound {
  uint8_t parallel, reduced; // numbers among the groups of their kind
};

/// An input or output of a kernel.
struct KernelOperand {
  DType dtype;
  bool isOutput = false;
  InnerClass inner = InnerClass::Contiguous;
  /// False: the same element for the whole reduced domain (strides 0 there); always false when there is no reduced
  /// group.
  bool variesOnReduced = false;
};

/// What gives a node its value.
enum class NodeKind : uint8_t {
  Load,     // operand
  Attr,     // runtime attribute slot `slot`: 8 bytes, f64 for float kinds, i64 for int kinds (`attrIsInt`)
  Const,    // constant
  Lookup,   // element of `operand` at the indices `args`, along an axis for each: lookups `slot`, `slot` + 1, ...
  Apply,    // fn over args; Index, DimIndex and the Philox functions too
  Reduce,   // reduceKind over the reduced groups; result is row-level
  Contract, // of a chunk of the reduced group: the sum of products of `args`, a row's element by a line of the panels;
            // with a third argument lines come in groups, whose sums are multiplied by it and added in their order
  Unpack, // the eight numbers of 4 bits in each 32-bit word of a line, the lowest first, as eight lines: signed ones as
          // floats, unsigned ones as u8
  Scan,   // along the one reduced group: fn (Add, Mul, Max, Min, LogAddExp) of the value before, multiplied by the
          // second argument where there is one, and the first argument; the first value is that argument
};

/// Whether `fn` has a form that takes less time, is less near to the exact result, and gives other bits; of floats that
/// are computed in float32.
constexpr bool hasShorterForm(ScalarFn fn, DType dtype) {
  return (fn == ScalarFn::Sigmoid || fn == ScalarFn::Tanh) && isFloat(dtype) && dtype != DType::Float64;
}

/// One value of the expression graph.
struct KernelNode {
  NodeKind kind;
  /// Element type of the value. float16 and bfloat16 compute in float32 and round after an operator's last function
  /// (`roundsHere`); comparison results are Bool (i1).
  DType dtype;
  /// Set on nodes that end an operator: a narrow float is rounded here.
  bool roundsHere = false;
  /// Apply: the shorter form of `fn`, which rounds otherwise.
  bool isShort = false;
  ScalarFn fn = ScalarFn::Add;
  ReduceKind reduceKind = ReduceKind::Sum;
  bool exclusive = false;                  // Scan: the value before; the first is what fn makes of no element
  llvm::SmallVector<int16_t, 3> args = {}; // earlier nodes
  int16_t operand = -1;                    // Load, Lookup
  int16_t slot = -1;                       // Attr; axis from the last for DimIndex; Lookup
  bool attrIsInt = false;
  double constant = 0;
};

/// A node that is written to memory, with indices to elements there: lookups `slot`, `slot` + 1, ... are of their axes,
/// as those of a Lookup.
struct KernelStore {
  int16_t node;
  int16_t operand; // an output operand
  llvm::SmallVector<int16_t, 2> indices = {};
  int16_t slot = -1;
  std::optional<ScalarFn> fn = {}; // with indices: Add, Max or Min of the element there and the node; none: the node
};

/// What a generated kernel computes, without sizes: an expression graph over one domain of parallel groups, then
/// reduced groups.
struct KernelSpec {
  unsigned numParallel = 1;
  unsigned numReduced = 0;
  VectorAxis vectorAxis = VectorAxis::Parallel;
  ReductionOrder order = ReductionOrder::Lanes;
  ContractTile tile; // of a kernel that contracts; its parallel groups are rows and columns, its last reduced one are
                     // lines, which an earlier one may divide into groups
  llvm::SmallVector<AxisBound, 2> bounds; // of a sequential kernel
  llvm::SmallVector<KernelOperand, 6> operands;
  llvm::SmallVector<KernelNode, 16> nodes;
  llvm::SmallVector<KernelStore, 2> stores;
  unsigned numAttrs = 0;
  unsigned numLookups = 0; // of nodes and stores, an axis each; their strides and sizes are bounds behind `bounds`

  /// Groups of the domain, and where the kernel finds their sizes, strides and its attributes.
  unsigned numGroups() const { return numParallel + numReduced; }
  /// The kernel reduces everything to one row, in chunks.
  bool goesInChunks() const { return numParallel == 0 && numReduced == 1 && order == ReductionOrder::Lanes; }
  /// Its one reduction is a contraction.
  bool contracts() const { return order == ReductionOrder::Chunked; }
  /// Some node is a scan.
  bool scans() const {
    return llvm::any_of(nodes, [](const KernelNode &node) { return node.kind == NodeKind::Scan; });
  }
  /// Some store writes at indices: elements go in order, those of one position in the parallel groups one after the
  /// other.
  bool scatters() const {
    return llvm::any_of(stores, [](const KernelStore &store) { return !store.indices.empty(); });
  }
  runtime::KernelDims dims() const {
    return {numGroups(), unsigned(operands.size()), unsigned(bounds.size()) + numLookups};
  }
  /// Pointers that it is called with: of the operands, then of the report of a kernel that looks elements up.
  unsigned numPointers() const { return unsigned(operands.size()) + (numLookups != 0); }

  /// Canonical text, a line for each bound, operand, node and store: equal text means equal code. The cache key of a
  /// kernel (with the target).
  std::string toText() const;
  /// The spec that has this text; spaces and empty lines aside. Errors name the line. The result is not verified.
  static llvm::Expected<KernelSpec> parse(llvm::StringRef text);
};

/// Kernels that share an image: entry i is kernel i.
using KernelUnit = llvm::SmallVector<KernelSpec, 1>;

} // namespace tess::compiler
