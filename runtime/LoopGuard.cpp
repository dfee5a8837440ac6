//===- LoopGuard.cpp - whether a loop has another trip --------------------===//
#include "runtime/LoopGuard.h"

namespace tess::runtime {

llvm::Expected<int64_t> LoopGuard::ask() const {
  bool answer = false;
  int64_t count = 0;
  if (llvm::Error error = guard == control::Guard::Bool ? stream.copyOut(&answer, place, sizeof(answer))
                                                        : stream.copyOut(&count, place, sizeof(count)))
    return std::move(error);
  if (llvm::Error error = stream.synchronize())
    return std::move(error);
  return guard == control::Guard::Bool ? answer : count;
}

llvm::Expected<int64_t> LoopGuard::tripsOf(int64_t most) const {
  if (!isAskedOnce(guard, reverse))
    return most;
  llvm::Expected<int64_t> count = ask();
  return count ? std::clamp<int64_t>(*count, 0, most) : std::move(count);
}

/// Asks whether there is another trip.
llvm::Expected<bool> LoopGuard::letsFollow(int64_t made) const {
  constexpr int64_t kPolled = control::kTripsBetweenPolls;
  if (poll && made % kPolled == kPolled - 1)
    if (llvm::Error error = poll())
      return std::move(error);
  llvm::Expected<int64_t> value = ask();
  if (!value)
    return value.takeError();
  return control::goesOn(guard, *value, made);
}

} // namespace tess::runtime
