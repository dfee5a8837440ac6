//===- Watcher.h - what is told of reads and updates ------------*- C++ -*-===//
//
// A call that backward runs again (gradients/Recomputation.h) must know what it
// read from outside and which variables it changed. It watches its thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Tensor.h"

namespace tess::eager {

/// Sees what the calls of one thread read and change.
class Watcher {
public:
  /// Called before an operator reads the tensor, and before the variable changes.
  virtual void noteRead(TensorImpl &tensor) = 0;
  virtual void noteUpdate(TensorImpl &variable) = 0;

protected:
  ~Watcher() = default;
};

/// Sets this thread's watcher, which is not owned; null: none.
void setWatcher(Watcher *watcher);
/// This thread's watcher, or null.
Watcher *activeWatcher();

/// Tells this thread's watcher, if there is one.
inline void noteUpdate(TensorImpl &variable) {
  if (Watcher *watcher = activeWatcher())
    watcher->noteUpdate(variable);
}

} // namespace tess::eager
