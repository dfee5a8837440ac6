//===- LoopGuard.h - whether a loop has another trip ------------*- C++ -*-===//
//
// Here as a whole, because a trip of a small body takes some tens of nanoseconds.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Control.h"
#include "runtime/device/Device.h"
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
  llvm::Expected<int64_t> tripsOf(int64_t most) const {
    if (!isAskedOnce(guard, reverse))
      return most;
    llvm::Expected<int64_t> count = ask();
    return count ? std::clamp<int64_t>(*count, 0, most) : std::move(count);
  }

  /// Whether there is another trip behind the first `made` of at most `trips`.
  llvm::Expected<bool> goesOn(int64_t made, int64_t trips) const {
    constexpr int64_t kPolled = control::kTripsBetweenPolls;
    if (made >= trips || guard == control::Guard::None || isAskedOnce(guard, reverse))
      return made < trips;
    if (poll && made % kPolled == kPolled - 1)
      if (llvm::Error error = poll())
        return std::move(error);
    llvm::Expected<int64_t> value = ask();
    if (!value)
      return value.takeError();
    return control::goesOn(guard, *value, made);
  }

private:
  llvm::Expected<int64_t> ask() const {
    bool answer = false;
    int64_t count = 0;
    if (llvm::Error error = guard == control::Guard::Bool ? stream.copyOut(&answer, place, sizeof(answer))
                                                          : stream.copyOut(&count, place, sizeof(count)))
      return std::move(error);
    if (llvm::Error error = stream.synchronize())
      return std::move(error);
    return guard == control::Guard::Bool ? answer : count;
  }

  control::Guard guard;
  bool reverse;
  const void *place;
  Stream &stream;
  llvm::function_ref<llvm::Error()> poll;
};

} // namespace tess::runtime
