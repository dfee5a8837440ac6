//===- OpInfo.h - the static description of an operator ---------*- C++ -*-===//
//
// One constexpr table entry per record, written by tess-tblgen. Everything that
// any layer knows about an operator is here or is reached from here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpOrigin.h"
#include "ops/operator/ScalarProgram.h"
#include "ops/operator/Signature.h"
#include "ops/vocabulary/AttrValue.h"
#include "ops/vocabulary/TensorMeta.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tess {

class OpDef;
class SubgraphBuilder;
struct Notation;
struct OpInfo;

/// How many operands or results a group has: one, at most one, any number.
enum class Arity : uint8_t { One, Optional, Variadic };

/// A group of operands.
struct OperandInfo {
  const char *name;
  Arity arity;
  DTypeMask dtypes;
};

/// A group of results.
struct ResultInfo {
  const char *name;
  DTypeMask dtypes;
  /// Not returned to the user (saved statistics, masks); last ones only.
  bool hidden;
  Arity arity = Arity::One;
};

/// Ways in which a number must fit an integer dtype of the result. Both: it is a number of the dtype, but for its
/// fraction. AtMost, AtLeast: it is not above the largest, or not below the smallest number.
enum class Fit : uint8_t { Free, Both, AtMost, AtLeast };

/// An attribute: its kind, default and range.
struct AttrInfo {
  const char *name;
  AttrKind kind;
  /// An operand of the compiled kernel rather than part of the cache key.
  bool isRuntime;
  bool isOptional;
  bool hasDefault;
  AttrValue (*defaultValue)();
  /// Allowed strings of a Str attribute; empty when free.
  llvm::ArrayRef<const char *> cases;
  /// Inclusive range for I64 / F64; infinite ends when not limited.
  double min, max;
  const char *doc;
  /// ODS operand that this axis (or list of distinct axes) counts in: range [-n, n-1], n = rank + axisExtra; -1: not an
  /// axis.
  int8_t axisOf = -1;
  int8_t axisExtra = 0;
  /// Length an I64List must have; -1 when free.
  int8_t length = -1;
  /// Decides shapes and places only, never code; no part of a cache key.
  bool isBindTime = false;
  /// An I64 or I64List whose numbers may be expressions (SizeExpr.h), which bind computes.
  bool isSize = false;
  /// A list of axes whose order says nothing.
  bool isSet = false;
  /// How the number of an F64 must fit, which whoever applies the operator to tensors checks (eager/stack).
  Fit fit = Fit::Free;
  /// The default of a row that no record made, in the place of `defaultValue`.
  const AttrValue *heldDefault = nullptr;
};
/// The default of an attribute; None where it has none.
AttrValue defaultOf(const AttrInfo &attr);
/// A valid value of a runtime attribute, for code that gets the true one with each run.
AttrValue neutralNumber(const AttrInfo &attr);

/// A condition on shapes or values, with the label its negative test carries.
struct ConstraintInfo {
  const char *label; // "matmul.dimension_K_must_match"
  const char *text;  // "dimension K must match"
};

/// How the result dtypes follow from the operands.
enum class DTypeRuleKind : uint8_t {
  Same,         // dtype of operand `operand`
  Promote,      // of `operandMask` (bit per ODS operand), which must agree by then: eager promotes first (Promotion.h)
  PromoteOr,    // as Promote; float32 of any floats up to it where the DType attribute number `attr` says so
  PromoteFloat, // as Promote, but eager makes integers and bool float32 (true division, exp, mean)
  Fixed,        // `fixed`; the operands of `operandMask`, if any, must agree
  FromAttr,     // the DType attribute number `attr`
  Rule,         // shapeRule returns full metas
  Sum,          // as Same, but a sum of bool is int32
  Part,         // as Same, but of complex numbers the dtype of their parts
  Complex,      // as PromoteFloat, but eager makes narrow floats float32 too; the dtype whose parts these are
};
/// A kind of rule and the fields that this kind reads.
struct DTypeRule {
  DTypeRuleKind kind = DTypeRuleKind::Same;
  uint8_t operand = 0;
  uint32_t operandMask = 0;
  DType fixed = DType::Float32;
  uint8_t attr = 0;
};

/// Which path of the compiler makes the numbers.
enum class Lowering : uint8_t {
  Elementwise, // `scalar`
  Reduction,   // `reduceKind` over attribute `axes`, optional `keepdims`
  Composite,   // `makeForward`: other operators
  View,        // `viewRule`: no kernel
  Movement,    // `regionRule`: copies between regions
  Window,      // `reduceKind` over the windows of `notation`
  Lookup,      // elements of operand 0 at the indices that the others hold, along attribute `axes`
  Scatter,     // operand 0 with the elements of operand 1 written at the indices that the others hold, along `axes`
  Compute,     // `scan`
  Library,     // `kernel` in runtime/KernelTable
  Sequential,  // `kernel` in runtime/KernelTable, on its allow-list
  Control,     // applies its bodies (Control.h), so often as shapes or data say
};

/// How a view shows the elements of operand 0.
enum class ViewKind : uint8_t {
  None,
  Reshape,   // all in their order, in another shape
  UnitAxes,  // the same, but for axes of size 1: any layout has this view
  Broadcast, // axes of size 1 repeated
  Permute,   // axes in another order
  Slice,     // some along each axis: attributes starts, stops, steps
};

/// How a reduction combines elements; ArgMax and ArgMin give the position of the first extreme element.
enum class ReduceKind : uint8_t { Sum, Mean, Prod, Max, Min, ArgMax, ArgMin };
/// Whether a reduction gives an index; such a one has a single `axis`, not a list of `axes`.
constexpr bool givesIndex(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

/// A record's `compute`, which tess-tblgen has parsed and checked. A scan: along an axis, result t is `fn` of result
/// t - 1 and of element t of operand 0, the first one that element; with an operand 1, the weight, result t - 1 is
/// multiplied by its element t first.
struct ScanInfo {
  ScalarFn fn; // Add, Mul, Max, Min or LogAddExp
  /// Numbers of attributes.
  uint8_t axis, exclusive, reverse;

  /// The axis of `op` along which it goes, counted from the front.
  int64_t axisOf(const OpDef &op, int64_t rank) const;
  /// Whether result t leaves element t out; the first one is then what `fn` makes of no element.
  bool isExclusive(const OpDef &op) const;
  /// Whether it goes from the last element to the first.
  bool isReverse(const OpDef &op) const;
};

/// What an operator computes in where autocast is on: as its operands are, in the narrow float, in the wide one, or on
/// operand 0 in the narrow one and its parameters in the wide one. Those of MegEngine's amp and, for operators that it
/// has not, of PyTorch's autocast.
enum class Precision : uint8_t { Given, Low, High, LowData };

/// Metas of all results from metas of all operands (flat) and the operands per group.
using ShapeRuleFn = llvm::Expected<Metas> (*)(const OpDef &, llvm::ArrayRef<TensorMeta>, llvm::ArrayRef<unsigned>);
/// Conditions beyond a signature; labels in OpInfo::constraints.
using CheckFn = llvm::Error (*)(const OpDef &, llvm::ArrayRef<TensorMeta>, llvm::ArrayRef<unsigned>);
/// A region of operand number `operand`, read by `source`, and its place in the result, written by `destination`. The
/// shapes are equal; the layouts' offsets count.
struct CopyRegion {
  unsigned operand;
  Layout source, destination;
};

/// The windows along one axis: that of result position p has the elements p * stride + k * dilation - padding for k in
/// [0, size); what lies outside of the operand does not count.
struct WindowAxis {
  int64_t size, stride, padding, dilation;
};

/// Where the elements of the view lie, from the layout of operand 0 and the shape that inference gave the result.
/// Failure: this layout cannot be viewed so (a copy is needed).
using ViewRuleFn = llvm::Expected<Layout> (*)(const OpDef &, const Layout &, llvm::ArrayRef<int64_t> shape);
/// Which regions of the operands go where, from the layouts of the operands and of the result.
using RegionRuleFn = llvm::Expected<llvm::SmallVector<CopyRegion, 4>> (*)(const OpDef &, llvm::ArrayRef<Layout>,
                                                                          const Layout &result);
/// The axis of a result that has the channels which operand 0 has along `axis`, whole and in order; -1: none.
using ChannelRuleFn = int (*)(const OpDef &, llvm::ArrayRef<TensorMeta> operands, int axis, unsigned result);
/// How many multiplications, each with an addition, the definition of the results has; 0 where data decides a size.
using CountFn = double (*)(const OpDef &, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<TensorMeta> results);
/// Appends the operators that compute the results from the operands; returns result values.
using ForwardFn = llvm::SmallVector<int, 4> (*)(SubgraphBuilder &, const OpDef &, llvm::ArrayRef<int> operands);
/// Appends the operators of the gradient. `values`: operands, then results, then result gradients (-1 where none
/// arrives). Returns one value per operand, -1 where there is no gradient. Shapes already fit (broadcast axes are
/// summed by the caller).
using GradientFn = llvm::SmallVector<int, 4> (*)(SubgraphBuilder &, const OpDef &, llvm::ArrayRef<int> values,
                                                 llvm::ArrayRef<bool> needed);
/// Completes attributes from operands (negative axes, tensor-valued shapes): shared by binding and C++ API.
using NormaliseFn = llvm::Error (*)(OpDef &, llvm::ArrayRef<TensorMeta>);

/// The sharding rule, from the signature: symbols that may be split, symbols that give partial sums.
struct ShardingInfo {
  llvm::ArrayRef<uint8_t> splittable;
  llvm::ArrayRef<uint8_t> partial;
  /// The attribute that names an axis which is not split, whatever symbol it is of; -1: there is none.
  int8_t whole = -1;
};

/// One row of the generated table: all that a record says. Rows live for ever; an operator has one, so that pointers
/// tell operators apart.
struct OpInfo {
  const char *name;      // "softmax", as in tess.softmax
  const char *opdefName; // "Softmax"
  const char *summary;
  uint16_t id; // dense, in table order
  uint16_t version;
  llvm::ArrayRef<OperandInfo> operands;
  llvm::ArrayRef<ResultInfo> results;
  llvm::ArrayRef<AttrInfo> attrs;
  const Signature *signature; // null when shapeRule decides
  ShapeRuleFn shapeRule;
  DTypeRule dtypes;
  NormaliseFn normalise; // may be null
  Lowering lowering;
  const ScalarProgram *scalar;     // Elementwise
  ReduceKind reduceKind;           // Reduction, Window
  ForwardFn makeForward;           // Composite
  ViewRuleFn viewRule;             // View
  ViewKind viewKind;               // View
  RegionRuleFn regionRule;         // Movement
  int8_t regionSteps;              // Movement: the attribute with the steps of a region in the result; -1: they are 1
  const ScanInfo *scan;            // Compute
  const Notation *notation;        // of `compute` that is no scan; else null
  std::optional<ScalarFn> writeFn; // Scatter: of the element there and the written one; none: the written one
  const char *kernel;              // Library, Sequential; of others what files call that are older than the lowering
  GradientFn gradient;             // null: no gradient
  ShardingInfo sharding;
  /// (operand, result) pairs that may share memory.
  llvm::ArrayRef<std::pair<uint8_t, uint8_t>> inplace;
  /// Reads random state; two calls with equal operands may differ, so it is never merged or folded.
  bool stochastic;
  /// Keeps scope for the python side: "functional.nn.softmax".
  const char *pythonModule;
  const char *pythonName;
  const char *onnx; // as in ops/records/Base.td; may be null
  /// Largest metas of the results when a size depends on data; null when none does.
  ShapeRuleFn boundRule;
  /// How older versions are read: "1: rename axis dim"; see Codec.cpp.
  llvm::ArrayRef<const char *> upgrades;
  /// What must hold, by label; the signature's first, then the record's own.
  llvm::ArrayRef<ConstraintInfo> constraints;
  /// Called when the signature has matched; null when that says all.
  CheckFn check;
  /// Every operand group has exactly one operand, and every result too.
  bool simple;
  /// Attributes that are read at bind time decide its graph: eager applies the operators of the graph.
  bool isExpandedFirst;
  /// Axes of a result mean what those of operand 0 do.
  bool keepsAxes;
  /// Where channels go that have scales of their own; null where they stay as axes do, follow a view, or may mix.
  ChannelRuleFn channelRule;
  Precision autocast;
  /// The operands may be vectors, as those of NumPy's matmul.
  bool takesVectors;
  /// Rank of operand 0 for one sample, which gets a batch of 1; 0: it must have the batch.
  uint8_t sampleRank;
  /// A quantized operand 0, or one on a grid, has a result on its grid.
  bool roundsToGrid;
  /// Whether a number of an attribute must fit the dtype of the result.
  bool fitsNumbers;
  /// Null for what is no contraction.
  CountFn multiplyAdds = nullptr;
  /// Null for rows of records.
  const OpOrigin *origin = nullptr;
  /// The functions of a library that compute it (ops/custom); null: there are none.
  const custom::Operator *custom = nullptr;

  /// A view of all elements in their order.
  bool keepsOrder() const { return viewKind == ViewKind::Reshape || viewKind == ViewKind::UnitAxes; }
  /// The operand whose memory the only result may take over, as the record says; -1: none.
  int inPlaceOperand() const;
  /// Whether numbers of an attribute may be expressions.
  bool hasSizes() const {
    return llvm::any_of(attrs, [](const AttrInfo &attr) { return attr.isSize; });
  }
};

// The table of records names their rules, and rules name operators. The linker closes the circle: these are weak here
// and defined in ops/table, which //ops always links, so that each library below it links by itself.

/// The operators of all records, in the order of their ids.
[[gnu::weak]] llvm::ArrayRef<OpInfo> allOps();
/// By IR name ("softmax"); null when there is none.
[[gnu::weak]] const OpInfo *findOp(llvm::StringRef name);
/// By OpDef name ("Softmax"); null when there is none.
const OpInfo *findOpDef(llvm::StringRef opdefName);
/// Adds rows beside those of the records, with their ids, so that findOp() finds them; they live for ever and their
/// names have a dot. InvalidArgument where a name is taken: then none is added. Thread-safe.
[[gnu::weak]] llvm::Error addOps(llvm::ArrayRef<OpInfo *> rows);

} // namespace tess
