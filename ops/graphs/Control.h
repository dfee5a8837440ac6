//===- Control.h - operators with bodies ------------------------*- C++ -*-===//
//
// A loop is an operator like any other: an OpDef, of which one attribute is its
// body, a Subgraph that sees nothing but its inputs. So a tape, a recording, the
// gradient and a cache know loops without knowing them. What a frontend's
// function takes from outside is an operand (the model is StableHLO's and JAX's:
// explicit carries, nothing captured). The dialect has a region for the body, a
// file a message, an executable a range of nodes and of steps; no text is read.
//
// Control operators have no records: a record describes one call by samples, and
// what a body may be is described by no list of samples.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/BodySymbols.h"
#include "ops/graphs/Subgraph.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess {

/// The value of an attribute of kind Body.
class Body final : public AttrBody {
public:
  explicit Body(Subgraph graph);
  const Subgraph &graph() const { return operators; }

  bool isSame(const AttrBody &other) const override;
  uint64_t hash() const override { return hashed; }
  /// "{(%0, %1) %2 = add(%0, %1); yield %2}".
  std::string toText() const override;
  bool hasExpressions() const override;
  BodyRef withSymbols(llvm::function_ref<int64_t(uint32_t)> valueOf) const override;
  uint64_t heldBytes() const override;

private:
  Subgraph operators;
  uint64_t hashed; // once: each look-up of an operator in a cache asks for it
};

/// The metas of all values of `graph`, by id, from those of its inputs. Errors carry the location of the operator.
llvm::Expected<std::vector<TensorMeta>> inferValues(const Subgraph &graph, llvm::ArrayRef<TensorMeta> inputs);

/// The operators with bodies, which have no records; their ids follow those of the records.
llvm::ArrayRef<OpInfo> controlOps();

namespace control {

/// Replaces the symbols of the enclosing body in `op`; symbols of nested bodies stay.
OpDef withBodySizes(const OpDef &op, llvm::function_ref<int64_t(int value, unsigned axis)> sizeOf);
/// Whether data decides sizes in the body of `op`, or in bodies within it.
bool decidesSizes(const OpDef &op);

/// Whether the operator has a body; then bodyOf() may be called.
inline bool hasBody(const OpInfo &info) { return info.lowering == Lowering::Control; }
/// The body of an operator that has got one.
const Subgraph &bodyOf(const OpDef &op);
/// The same; null for an operator that has none.
const Subgraph *findBody(const OpDef &op);

/// The operands of `scan`, in the order of the inputs of its body: constants, which each trip reads as they are;
/// carried values, which one trip hands to the next; and xs, of which a trip takes one element along axis 0. The body
/// returns the carried values, then elements of the results that are stacked.
struct ScanGroups {
  unsigned constants, carried;

  explicit ScanGroups(const OpDef &scan)
      : constants(unsigned(scan.i64("constants"))), carried(unsigned(scan.i64("carried"))) {}
  unsigned firstX() const { return constants + carried; }
};

/// The length of a scan that ends when its guard says so.
constexpr int64_t kManyTrips = int64_t(1) << 62;

/// How a scan goes through its trips.
struct ScanOrder {
  std::optional<int64_t> length; // the number of trips where there are no xs
  bool reverse = false;          // the last element comes first
  /// The first carried value is its guard. A bool: it ends before a trip that finds it false. An int64: the number of
  /// trips that it makes, as far as is known before each; in reverse it is known before the first.
  bool isGuarded = false;
};
/// How `scan` does it.
ScanOrder orderOf(const OpDef &scan);
/// Whether the first carried value may be a guard.
constexpr bool isGuard(DType dtype) { return dtype == DType::Bool || dtype == DType::Int64; }
inline bool isGuard(const TensorMeta &meta) { return meta.rank() == 0 && isGuard(meta.dtype); }

/// How a loop's guard is asked: a value of 0 or more, of which a bool has 0 and 1.
enum class Guard : uint8_t { None, Bool, Count };
constexpr Guard guardOf(bool isGuarded, DType first) {
  return !isGuarded ? Guard::None : first == DType::Bool ? Guard::Bool : Guard::Count;
}
/// Whether it is asked once, for the number of trips; else, where there is one, before each trip.
constexpr bool isAskedOnce(Guard guard, bool reverse) { return guard == Guard::Count && reverse; }
/// Whether a guard that is asked before each trip lets one follow on `made` trips.
constexpr bool goesOn(Guard guard, int64_t value, int64_t made) {
  return guard == Guard::Bool ? value != 0 : made < value;
}
/// Whether nothing but its guard ends a loop. Its xs and its stacked results are grown values: memory for as many trips
/// as there were, which no shape tells. Their metas have size 1 for the trips, and only loops without a bound read
/// them.
constexpr bool hasNoBound(bool isGuarded, int64_t length) { return isGuarded && length == kManyTrips; }
bool hasNoBound(const OpDef &scan);
/// For how many trips a grown value that has memory for `capacity` of them gets memory, where it needs `trips`.
constexpr int64_t grownTo(int64_t capacity, int64_t trips) {
  constexpr int64_t kFewest = 8;
  return std::max({trips, capacity < kManyTrips ? 2 * capacity : capacity, kFewest});
}
/// Bytes of a grown value for so many trips of `bytes`; the error when a device cannot have as many.
llvm::Expected<int64_t> grownBytes(int64_t trips, int64_t bytes);
/// `cause`, which a device gave for memory of grown values, as an error of the loop.
llvm::Error noMemory(llvm::Error cause, int64_t trips, int64_t bytes);
/// The error for a trip, counted from 0, of which a grown value does not have the element.
llvm::Error notSaved(int64_t trip, int64_t saved);
/// Trips that a guarded loop makes between two questions whether the user wants to go on.
constexpr int64_t kTripsBetweenPolls = 256;

/// `scan` with this body.
OpDef scan(Subgraph step, unsigned constants, unsigned carried, const ScanOrder &order);
/// How many trips it makes for `operands`, kManyTrips without a bound; the error when they do not agree. May be
/// unknown, or an expression.
llvm::Expected<int64_t> numTrips(const OpDef &scan, llvm::ArrayRef<TensorMeta> operands);
/// The metas of the inputs of the body; xs have axes for the trips.
Metas bodyInputs(const OpDef &scan, llvm::ArrayRef<TensorMeta> operands);
/// The error unless each carried value comes out of the body as it went in. `outputs` of the body may be more; `name`
/// and `body`: what a user calls the loop and its body.
llvm::Error checkCarried(llvm::ArrayRef<TensorMeta> carried, llvm::ArrayRef<TensorMeta> outputs,
                         llvm::StringRef name = "scan", llvm::StringRef body = "step");
/// What the body sees of `x`, which has an axis for the trips before those of the element.
TensorMeta elementOf(const TensorMeta &x);
/// `element` with an axis for the trips before its own.
TensorMeta stacked(const TensorMeta &element, int64_t trips);

/// Values of the body that the gradient of `scan` reads, and that are no operands or results: with them as further
/// results it computes nothing again. `needed`: operands whose gradient is wanted.
llvm::Expected<llvm::SmallVector<int, 8>> valuesOfGradient(const OpDef &scan, llvm::ArrayRef<TensorMeta> operands,
                                                           llvm::ArrayRef<bool> needed);
/// The same scan with these values of its body as further stacked results.
OpDef withResults(const OpDef &scan, llvm::ArrayRef<int> values);

/// Of which operands the gradient of `op` adds to the sum so far: the constants of a scan, each value once, so that the
/// order of a sum is that of the trips' own operators. `ids`: which operands are one value; `hasSum`: whether one has a
/// sum. Empty for operators without a body.
template <typename Ids, typename HasSum>
llvm::SmallVector<bool, 4> sumsTaken(const OpDef &op, const Ids &ids, HasSum hasSum) {
  llvm::SmallVector<bool, 4> taken;
  if (!hasBody(op.info()))
    return taken;
  for (size_t i = 0; i < ids.size(); ++i)
    taken.push_back(i < ScanGroups(op).constants && hasSum(ids[i]) && llvm::find(ids, ids[i]) == ids.begin() + i);
  return taken;
}

} // namespace control

} // namespace tess
