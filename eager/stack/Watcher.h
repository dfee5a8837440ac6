//===- Watcher.h - what is told of reads and updates ------------*- C++ -*-===//
//
// A call that backward runs again (gradients/Recomputation.h) must know what it
// read from outside and which variables it changed, and a loop whose gradient
// its operands have (tracing/TripValues.h) what its trips read. They watch their
// thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Tensor.h"

namespace tess::eager {

/// Sees what the calls of one thread read and change between enter() and leave(). Watchers around it see it, too.
class Watcher {
public:
  /// Called before an operator reads the tensor, and before the variable changes.
  virtual void noteRead(TensorImpl &tensor) = 0;
  virtual void noteUpdate(TensorImpl &variable) = 0;

  Watcher *enclosing() const { return around; }

protected:
  Watcher() = default;
  ~Watcher() = default;
  Watcher(const Watcher &) = delete;

  /// Becomes this thread's innermost watcher; gives that place back. Watchers leave in the reverse order.
  void enter();
  void leave();

private:
  Watcher *around = nullptr;
};

/// This thread's innermost watcher, or null.
Watcher *activeWatcher();

/// Tells this thread's watchers.
inline void noteRead(TensorImpl &tensor) {
  for (Watcher *watcher = activeWatcher(); watcher; watcher = watcher->enclosing())
    watcher->noteRead(tensor);
}
inline void noteUpdate(TensorImpl &variable) {
  for (Watcher *watcher = activeWatcher(); watcher; watcher = watcher->enclosing())
    watcher->noteUpdate(variable);
}

} // namespace tess::eager
