//===- Effects.h - state beside tensors that a trace depends on -*- C++ -*-===//
//
// A recording sees tensors and their gradients. That a module was in training mode
// is decided in C++: code that reads such state tells the trace that is being
// recorded, which then runs the compiled program only where the state is as it was.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace tessera::detail {

/// A mode shared by its owner and the traces that saw it; outlives the owner.
using ModeRef = std::shared_ptr<bool>;

/// Modes with what they were.
class Modes {
public:
  /// Whether they still are.
  bool hold() const;
  bool operator==(const Modes &) const = default;
  void add(const ModeRef &mode);

private:
  std::vector<std::pair<ModeRef, bool>> seen;
};

/// Collects the modes that a call on this thread reads while it lives.
class Effects {
public:
  Effects();
  ~Effects();
  Effects(const Effects &) = delete;

  /// The effects of the call that this thread records, or null.
  static Effects *current();
  /// Notes that `mode` decides what is recorded.
  void seeMode(const ModeRef &mode) { seen.add(mode); }
  const Modes &modes() const { return seen; }

private:
  Modes seen;
};

} // namespace tessera::detail
