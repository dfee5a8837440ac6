//===- TripValues.h - values of a loop that runs trip by trip ---*- C++ -*-===//
//
// While a gradient is recorded, the values of a loop are its own: what reads
// them later, or beside, adds to their gradients apart, in the order in which
// the gradient of the operator does.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

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

/// Carried values for the first trip.
llvm::Expected<Tensors> enterTrips(llvm::ArrayRef<TensorRef> carried);
/// The results. A carried value without a gradient has one of -0.0, to which adding changes nothing, as soon as another
/// result has one.
llvm::Expected<TripValues> leaveTrips(TripValues values);
/// The values, of one dtype and shape and at least one, along a new axis 0, whose gradient is taken apart.
llvm::Expected<TensorRef> stackTrips(llvm::ArrayRef<TensorRef> values);

} // namespace tess::eager
