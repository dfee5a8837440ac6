//===- LoopGuard.h - whether a loop has another trip ------------*- C++ -*-===//
#pragma once

#include "ops/Control.h"
#include "runtime/Device.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::runtime {

/// The guard of a loop in one run, and how it is asked.
class LoopGuard {
public:
  /// `place`: of its value, unless there is none. `poll` is called now and then while data decides how long the loop
  /// goes on; may be null.
  LoopGuard(control::Guard guard, bool reverse, const void *place, Stream &stream,
            llvm::function_ref<llvm::Error()> poll)
      : guard(guard), reverse(reverse), place(place), stream(stream), poll(poll) {}
  /// How many trips of at most `most` a loop makes, as far as its guard says before the first.
  llvm::Expected<int64_t> tripsOf(int64_t most) const;
  /// Whether there is another trip behind the first `made` of at most `trips`.
  llvm::Expected<bool> goesOn(int64_t made, int64_t trips) const {
    if (made >= trips || guard == control::Guard::None || isAskedOnce(guard, reverse))
      return made < trips;
    return letsFollow(made);
  }

private:
  llvm::Expected<int64_t> ask() const;
  llvm::Expected<bool> letsFollow(int64_t made) const;

  control::Guard guard;
  bool reverse;
  const void *place;
  Stream &stream;
  llvm::function_ref<llvm::Error()> poll;
};

} // namespace tess::runtime
