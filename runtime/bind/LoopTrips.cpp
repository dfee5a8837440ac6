//===- LoopTrips.cpp - how many trips a loop makes ------------------------===//
#include "runtime/bind/LoopTrips.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/Error.h"

namespace tess::runtime {

llvm::Expected<int64_t> tripsOf(int64_t length, bool isGuarded, llvm::ArrayRef<TensorMeta> xs) {
  const bool isEndless = control::hasNoBound(isGuarded, length);
  int64_t trips = isEndless ? 1 : length; // a grown value shows one
  for (const TensorMeta &x : xs) {
    if (x.rank() == 0 || (trips >= 0 && x.shape[0] != trips))
      return invalidArgument("scan: xs must have one size of axis 0, got " + llvm::Twine(trips) + " and " +
                             toString(x));
    trips = x.shape[0];
  }
  return isEndless ? control::kManyTrips : trips;
}

} // namespace tess::runtime
