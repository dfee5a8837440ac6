//===- Watcher.cpp - what is told of reads and updates --------------------===//
#include "eager/stack/Watcher.h"

namespace tess::eager {

static constinit thread_local Watcher *current = nullptr;

void Watcher::enter() {
  around = current;
  current = this;
}

void Watcher::leave() { current = around; }

Watcher *activeWatcher() { return current; }

} // namespace tess::eager
