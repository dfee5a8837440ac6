//===- TripValues.h - values of a loop that runs trip by trip ---*- C++ -*-===//
//
// While a gradient is recorded, the values of a loop are its own: what reads
// them later, or beside, adds to their gradients apart, in the order in which
// the gradient of the operator does. Gradients of what a loop reads begin with
// zeros, as those of an operator's operands do, whatever its trips depend on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/gradients/Tape.h"
#include "eager/stack/Watcher.h"
#include "eager/tensor/Operator.h"
#include "llvm/ADT/DenseSet.h"

namespace tess::eager {

/// Carried values and elements, or the carried values of the last trip and what the trips stacked.
struct TripValues {
  Tensors carried, stacked;
};

/// The values as variables of their own, each with a gradient of its own where a tape tracks it.
llvm::Expected<Tensors> apart(llvm::ArrayRef<TensorRef> values);

/// One of the xs of a loop: its elements along axis 0, whose gradients are put side by side.
class TripElements {
public:
  /// `x` must have rank 1 or more.
  static llvm::Expected<TripElements> of(const TensorRef &x);
  llvm::Expected<TensorRef> operator[](int64_t index) const;

private:
  explicit TripElements(const TensorRef &x) : whole(x) {}

  TensorRef whole;
  Tensors elements; // where a tape tracks it
};

/// The trips of one loop, from before the first until their results are known.
class Trips final : public Watcher {
public:
  Trips();
  ~Trips();

  /// Carried values for the first trip.
  llvm::Expected<Tensors> begin(llvm::ArrayRef<TensorRef> carried) const;
  /// The results. A carried value without a gradient has one of -0.0, to which adding changes nothing, as soon as
  /// another result has one, and what the trips read has one of zeros.
  llvm::Expected<TripValues> end(TripValues values);

  void noteRead(TensorImpl &tensor) override;
  void noteUpdate(TensorImpl &) override {}

private:
  struct Known {
    TapeRef tape;
    uint32_t last; // value before the loop
  };
  std::vector<Known> known;                              // tapes that record the loop
  llvm::DenseSet<std::pair<unsigned, uint32_t>> numbers; // of what was read, by tape
  Tensors reads;                                         // values that a tape had before the loop
};
/// The values, of one dtype and shape and at least one, along a new axis 0, whose gradient is taken apart.
llvm::Expected<TensorRef> stackTrips(llvm::ArrayRef<TensorRef> values);

} // namespace tess::eager
